"""Why dialogues lost points: the judge's reasons added up, with their change since before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.results.reasons.earlier import earlier_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.core.judging.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.values.item import Item

#: What is counted: the judge's reasons, and "whole" where each part of a failed task is done.
CountedCode: TypeAlias = "ReasonCode | Literal['whole']"
#: What speaks against a reading, the gravest first.
COSTS: Final[Mapping[str, tuple[CountedCode, ...]]] = {
    Dimension.TASK_COMPLETION: (
        "refused", "wrong", "claimed", "handed-back", "promised", "proposed", "missing", "whole",
    ),
    Dimension.PERSONALIZATION: (
        "limit-broken", "contradicts", "asks-known", "recites", "ignores", "uses-stated",
    ),
    # The suite memory has this measure.
    "memory": ("must-not-say", "told-again", "made-up", "not-said", "not-admitted", "no-reply"),
}  # fmt: skip


def tell_owner(evaluation: Evaluation, other: BaseScenario) -> Evaluation:
    """Return the evaluation, whose reasons tell of a value against what is known that it is the other user's.

    The assistant was given the context of `other` in place of the user's own.
    """
    types = (other.preferences if isinstance(other, Scenario) else {}).values()
    theirs = {(name, value) for of_domain in types for name, values in of_domain.items() for value in values}

    def told(reason: Reason) -> Reason:
        is_theirs = reason.code == "contradicts" and (reason.type, reason.value) in theirs
        return reason.model_copy(update={"detail": f"{other.user}'s"}) if is_theirs else reason

    verdicts = (v.model_copy(update={"reasons": tuple(map(told, v.reasons))}) for v in evaluation.verdicts)
    return evaluation.model_copy(update={"verdicts": tuple(verdicts)})


class ReasonCount(NamedTuple):
    """In how many dialogues a reason was given.

    `change` is that over the `known` ones of the `scored` dialogues; None where nothing is known of before.
    """

    code: CountedCode
    dialogues: int
    change: int | None
    known: int
    scored: int


def reason_counts(items: Sequence[Item], measure: Measure) -> tuple[ReasonCount, ...]:
    """Return what speaks against a reading in scored items, if any dialogue has it, what grew most first."""
    read = [(item, verdict) for item in items if (verdict := verdict_on(item, measure)) is not None]
    scored, now = [item for item, _ in read], [counted_codes(verdict) for _, verdict in read]
    then = [
        None
        if (earlier := earlier_of(item)) is None or not earlier.scores
        else _counted(earlier.reasons.get(measure, ()), measure, earlier.scores.get(measure))
        for item in scored
    ]
    known = sum(codes is not None for codes in then)
    dialogues = Counter(code for codes in now for code in codes)
    changes = Counter[str]()
    for codes, before in zip(now, then, strict=True):
        if before is not None:
            changes.update(codes)
            changes.subtract(before)
    costs = COSTS.get(measure, ())
    counts = [
        ReasonCount(code, dialogues[code], changes[code] if known else None, known, len(scored))
        for code in costs
        if dialogues[code]
    ]
    return tuple(sorted(counts, key=lambda r: (-(r.change or 0), -r.dialogues, costs.index(r.code))))


def commonest_sentences(items: Sequence[Item], measure: Measure) -> list[tuple[str, int]]:
    """Return what the judge says of dialogues in the worse half of a scale, with how often, by frequency."""
    verdicts = [verdict for item in items if (verdict := verdict_on(item, measure)) is not None]
    said = Counter(verdict.justification for verdict in verdicts if _in_lower_half(verdict.score, measure))
    return sorted(said.items(), key=lambda pair: (-pair[1], pair[0]))


def _in_lower_half(score: Score, measure: Measure) -> bool:
    if measure.low is None or measure.high is None:
        return True
    middle = (measure.low + measure.high) / 2
    return not measure.is_worse(middle, score)


def counted_codes(verdict: Verdict) -> set[CountedCode]:
    """Return the codes of a reading's reasons, each once."""
    return _counted((reason.code for reason in verdict.reasons), verdict.dimension, verdict.score)


def _counted(codes: Iterable[ReasonCode], measure: Measure, score: Score | None) -> set[CountedCode]:
    counted: set[CountedCode] = set(codes)
    failed = measure == Dimension.TASK_COMPLETION and score == 0
    return {"whole"} if failed and counted == {"done"} else counted


def costs_of(verdict: Verdict) -> list[Reason]:
    """Return the reasons that speak against the reading, in the judge's order."""
    costs = COSTS.get(verdict.dimension, ())
    return [reason for reason in verdict.reasons if reason.code in costs]


def verdict_on(item: Item, measure: Measure) -> Verdict | None:
    """Return the item's reading on a dimension; None where it is not scored."""
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    return next((verdict for verdict in verdicts if verdict.dimension == measure), None)
