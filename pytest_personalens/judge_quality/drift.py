"""The judge over time: its readings of the anchors when it was adopted and now, and who changed since."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from math import comb
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pydantic import ConfigDict, Field, model_validator

from pytest_personalens.core.errors import BudgetSpent, NotJudged, PersonalensError
from pytest_personalens.core.files.jsonfile import read_versioned, to_json
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.evaluation import read_dialogue
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.runtime import Threads
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.judge_quality.labels import read_labels
from pytest_personalens.results.values.figures import Drift, DriftOutcome, Shift

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.judge_quality.labels import Labelled

    Pairs = Sequence[tuple[int, int]]


SCHEMA: Final = "personalens-judge/1"


class Scored(Frozen):
    """The scores of one item; `dialogue` is a digest of its transcript."""

    dialogue: str
    scores: dict[Dimension, int]


class AdoptedJudge(Frozen):
    """The verdicts of a judge on the anchors, and the scores of its run.

    The run is the one in which the judge was adopted. `exact` is true for a judge that gives equal verdicts
    on equal dialogues. `setup` holds the settings, other than judge and assistant, that shape scores.
    `scores` has a key ``DATASET VERSION/SCENARIO`` for each item that could be scored.
    """

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-judge/1"] = Field(default=SCHEMA, alias="schema")
    judge: str
    exact: bool
    anchors: str
    verdicts: dict[Dimension, dict[str, int]]
    assistant: str
    setup: dict[str, str]
    scores: dict[str, Scored] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _on_scale(self) -> AdoptedJudge:
        readings = [(d, s) for d, scores in self.verdicts.items() for s in scores.values()]
        readings += [(d, s) for item in self.scores.values() for d, s in item.scores.items()]
        for dimension, score in readings:
            dimension.check(score)
        return self

    def text(self) -> str:
        return to_json(self)


def read_adopted(path: Path) -> AdoptedJudge:
    return read_versioned(
        path,
        AdoptedJudge,
        SCHEMA,
        what="a baseline of --personalens-adopt-judge",
        advice="restore it, or write it with --personalens-adopt-judge",
    )


#: The readings stop after this many failures in a row: the judge is down, and each further reading would only
#: wait for it.
_GIVE_UP: Final = 3


class Anchors(NamedTuple):
    """The anchor dialogues, and a digest of what a judge may see of them, which are not the labels."""

    dialogues: tuple[Labelled, ...]
    digest: str


class Readings(NamedTuple):
    """The scores by dimension and anchor, the failed readings, and why they `stopped` early, if so.

    `not_judged` is the number of readings that the judge does not give by its own rules.
    """

    verdicts: dict[Dimension, dict[str, int]]
    faults: tuple[str, ...]
    stopped: str
    not_judged: int = 0


def open_anchors(path: Path | None = None) -> Anchors:
    """Return the anchors of a file, or those of the package; raise `DataError` for a bad file."""
    labelled = sorted(read_labels(path or packaged_file("anchors.jsonl")), key=lambda a: a.id)
    # The parts of a goal belong to the embedded agents. A judge sees only the goal.
    hidden = {"task": {"parts"}}
    seen = [
        [a.id, a.scenario.model_dump(mode="json", exclude=hidden), a.dialogue.model_dump(mode="json")]
        for a in labelled
    ]
    digest = hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
    return Anchors(tuple(labelled), digest[:32])


def read_anchors(
    anchors: Anchors, judge: Judge, dimensions: Sequence[Dimension], *, at_once: int = 1
) -> Readings:
    """Return the readings of every anchor, `at_once` at a time; faults and a spent budget are part of it."""
    verdicts: dict[Dimension, dict[str, int]] = {d: {} for d in dimensions}
    faults: list[str] = []
    in_a_row = not_judged = 0
    wanted = [(anchor, dimension) for anchor in anchors.dialogues for dimension in dimensions]
    pool = Threads(at_once)
    try:
        for start in range(0, len(wanted), at_once):
            part = wanted[start : start + at_once]
            under_way = [
                pool.submit(read_dialogue, judge, anchor.scenario, anchor.dialogue, dimension)
                for anchor, dimension in part
            ]
            for (anchor, dimension), reading in zip(part, under_way, strict=True):
                try:
                    verdicts[dimension][anchor.id] = reading.result().score
                    in_a_row = 0
                except NotJudged:
                    not_judged += 1
                except BudgetSpent as spent:
                    return Readings(verdicts, tuple(faults), str(spent))
                except PersonalensError as fault:
                    faults.append(f"{anchor.id} {dimension.short}: {fault}")
                    in_a_row += 1
                if in_a_row == _GIVE_UP:
                    return Readings(verdicts, tuple(faults), faults[-1])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return Readings(verdicts, tuple(faults), "", not_judged)


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
    anchors: list[Shift] = []
    scores: list[Shift] = []
    judge: list[Shift] = []
    assistant: list[Shift] = []
    notes = [
        f"the {who} was {before}, it is {after}"
        for who, before, after in (
            ("judge", then.judge, now.judge),
            ("assistant", then.assistant, now.assistant),
        )
        if before and after and before != after
    ]
    for dimension in (d for d in Dimension if d in then.verdicts):
        before, after = then.verdicts[dimension], now.verdicts.get(dimension, {})
        readings = [(before[key], after[key]) for key in sorted(before.keys() & after.keys())]
        reading = _shift(dimension, readings)
        anchors.append(reading)
        both = [
            (a, b)
            for a, b in ((then.scores[key], now.scores[key]) for key in common)
            if dimension in a.scores and dimension in b.scores
        ]
        pairs = [(a.scores[dimension], b.scores[dimension], a.dialogue == b.dialogue) for a, b in both]
        # On equal transcripts the assistant cannot be the cause of a different score.
        differing = [(a, b) for a, b, same in pairs if not same]
        score = _shift(dimension, [(a, b) for a, b, _ in pairs])
        if reading.changed > 0 if exact else _differs(reading, alpha):
            judge.append(reading)
            score = score.model_copy(update={"beyond_judge": round(permutation_test(readings, differing), 6)})
        scores.append(score)
        # If the judge changed, its change must not already explain the change of the scores.
        if _differs(_shift(dimension, differing), alpha, of=score.compared) and (
            score.beyond_judge is None or score.beyond_judge < alpha
        ):
            assistant.append(score)
        if words := sum(same and a != b for a, b, same in pairs):
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
    as_before = "the judge reads the anchors as it did"
    other, shifts = (
        "; ".join(f"{s.dimension.short}: {s.changed} of {s.compared}, mean {s.mean:+.2f}" for s in found)
        for found in (judge, assistant)
    )
    if judge:
        # The endpoint may change the model and keep its name.
        who = f"under {'another' if then.judge != now.judge else 'the same'} identity"
        sentence = f"{who} it reads the anchors otherwise ({other})"
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
