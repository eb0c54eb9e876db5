"""Compares a run with its baseline to find whether the judge or the assistant changed."""

from __future__ import annotations

import random
from collections import defaultdict
from math import comb
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.results.values.figures import Drift, DriftOutcome, Shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.judge_quality.drift.anchors import AdoptedJudge

    Pairs = Sequence[tuple[int, int]]


_ROUNDS: Final = 1999


def sign_test(up: int, down: int) -> float:
    """Return the two-sided p of the exact sign test, without ties."""
    n = up + down
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(up, down) + 1)) / (1 << n))


def permutation_test(reference: Sequence[tuple[int, int]], seen: Sequence[tuple[int, int]]) -> float:
    """Return the p of a test whether `seen` moved otherwise than `reference`.

    Both are pairs (before, after). The test compares the changes only among pairs with the same score before,
    because a score at the end of its scale can move only one way. The p is 1.0 if the two sets have no score
    before in common. The test draws permutations with a fixed seed: equal input gives an equal p.
    """
    strata: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, pairs in enumerate((reference, seen)):
        for before, after in pairs:
            strata[before][side].append(after - before)
    both = [(a, b) for a, b in strata.values() if a and b]
    observed = abs(_distance(both)) - 1e-9
    chance = random.Random(0)
    hits = 0
    for _ in range(_ROUNDS if both else 0):
        drawn = []
        for a, b in both:
            pool = a + b
            chance.shuffle(pool)
            drawn.append((pool[: len(a)], pool[len(a) :]))
        hits += abs(_distance(drawn)) >= observed
    return (1 + hits) / (1 + _ROUNDS) if both else 1.0


def _distance(strata: Sequence[tuple[list[int], list[int]]]) -> float:
    return sum(len(b) * (sum(b) / len(b) - sum(a) / len(a)) for a, b in strata)


#: The share of far changes that chance explains. A judge played by a model does not always repeat its
#: verdict. The judge counts as changed if more than one reading in eight has a far change; a single one never
#: counts. On 24 anchors this means four far changes: a judge that changes 3 of 100 verdicts by chance has
#: four in 5 of 1,000 checks (a limit of three would make it 34). Scores have the same tolerance, because
#: assistants vary as well.
TOLERANCE: Final = 1 / 8
_FEWEST: Final = 2
#: A judge or an assistant also counts as changed if its changes, however small, all lean one way. ALPHA is
#: the p of all dimensions together.
ALPHA: Final = 0.05


def detect_drift(then: AdoptedJudge, now: AdoptedJudge) -> Drift:
    """Return the changes from `then` to `now`, which have the same anchors and dimensions."""
    exact, alpha = then.exact and now.exact, ALPHA / max(1, len(then.verdicts))
    common, why = _comparable(then, now)
    anchors, scores, notes = [], [], _identities(then, now)
    judge, assistant = [], []
    for dimension in (d for d in Dimension if d in then.verdicts):
        readings = _common(then.verdicts[dimension], now.verdicts.get(dimension, {}))
        reading = _shift(dimension, readings)
        anchors.append(reading)
        changed = reading.changed > 0 if exact else _differs(reading, alpha)
        pairs = [
            (pair, then.scores[key].dialogue == now.scores[key].dialogue)
            for key in common
            if (pair := _pair(then, now, key, dimension))
        ]
        score = _shift(dimension, [pair for pair, _ in pairs])
        # On equal transcripts the assistant cannot be the cause of a different score.
        differing = [pair for pair, same in pairs if not same]
        if changed:
            judge.append(reading)
            score = score.model_copy(update={"beyond_judge": round(permutation_test(readings, differing), 6)})
        scores.append(score)
        # If the judge changed, its change must not already explain the change of the scores.
        if _differs(_shift(dimension, differing), alpha, of=score.compared) and (
            score.beyond_judge is None or score.beyond_judge < alpha
        ):
            assistant.append(score)
        if words := sum(same and before != after for (before, after), same in pairs):
            notes.append(
                f"{dimension.short}: {words} scores differ on the same words: not the assistant's doing"
            )
    compared = sum(s.compared for s in anchors)
    outcome, sentence = _say(then, now, judge, assistant, scores, why)
    return Drift(
        outcome=outcome,
        sentence=f"{outcome}: {sentence}",
        judge=now.judge,
        anchors=tuple(anchors),
        scores=tuple(scores) if common else (),
        kept=round(1 - sum(s.changed for s in anchors) / compared, 6) if compared else None,
        notes=tuple(notes),
    )


def _identities(then: AdoptedJudge, now: AdoptedJudge) -> list[str]:
    pairs = (("judge", then.judge, now.judge), ("assistant", then.assistant, now.assistant))
    return [
        f"the {who} was {before}, it is {after}"
        for who, before, after in pairs
        if before and after and before != after
    ]


def _comparable(then: AdoptedJudge, now: AdoptedJudge) -> tuple[Sequence[str], str]:
    """Return the keys of the scores that both have, or why there are none."""
    for part in sorted(then.setup.keys() | now.setup.keys()):
        before, after = then.setup.get(part, "unknown"), now.setup.get(part, "unknown")
        if now.scores and then.scores and before != after:
            return (), f"the scores cannot be compared, because {part} was {before} and is {after}"
    common = sorted(then.scores.keys() & now.scores.keys())
    why = "the scores cannot be compared, because no scenario was scored in both runs"
    return common, "" if common else why


def _say(
    then: AdoptedJudge,
    now: AdoptedJudge,
    judge: Sequence[Shift],
    assistant: Sequence[Shift],
    scores: Sequence[Shift],
    why: str,
) -> tuple[DriftOutcome, str]:
    shifts, as_before = "; ".join(map(_shift_text, assistant)), "the judge reads the anchors as it did"
    if judge:
        # The endpoint may change the model and keep its name.
        who = f"under {'another' if then.judge != now.judge else 'the same'} identity"
        sentence = f"{who} it reads the anchors otherwise ({'; '.join(map(_shift_text, judge))})"
        caution = "do not compare scores with the baseline until the judge is adopted again"
        if not assistant:
            return "the judge changed", f"{sentence}; {caution}"
        own_way = f"and your assistant's scores moved in a way of their own ({shifts})"
        return "both changed", f"the judge, {sentence}, {own_way}; {caution}"
    if why:
        return "the judge did not change", why
    if assistant:
        return "your assistant changed", f"its scores differ ({shifts}), and {as_before}"
    small, compared = sum(s.changed for s in scores), sum(s.compared for s in scores)
    chance = f"the scores differ by no more than chance ({small} of {compared})"
    return "neither changed", f"{as_before}, and {chance if small else 'the scores are the same'}"


def _shift_text(s: Shift) -> str:
    return f"{s.dimension.short}: {s.changed} of {s.compared}, mean {s.mean:+.2f}"


def _pair(then: AdoptedJudge, now: AdoptedJudge, key: str, dimension: Dimension) -> tuple[int, int] | None:
    before, after = then.scores[key].scores, now.scores[key].scores
    return (before[dimension], after[dimension]) if dimension in before and dimension in after else None


def _common(then: dict[str, int], now: dict[str, int]) -> Pairs:
    return [(then[key], now[key]) for key in sorted(then.keys() & now.keys())]


def _shift(dimension: Dimension, pairs: Pairs) -> Shift:
    diffs = [after - before for before, after in pairs]
    up, down = sum(d > 0 for d in diffs), sum(d < 0 for d in diffs)
    step = 0 if dimension.scale.high == 1 else 1
    return Shift(
        dimension=dimension,
        compared=len(diffs),
        changed=up + down,
        far=sum(abs(d) > step for d in diffs),
        mean=round(sum(diffs) / len(diffs), 6) if diffs else 0.0,
        p=round(sign_test(up, down), 6),
    )


def _differs(shift: Shift, alpha: float, of: int = 0) -> bool:
    return (shift.far >= _FEWEST and shift.far > (of or shift.compared) * TOLERANCE) or shift.p < alpha
