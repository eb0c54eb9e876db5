"""Why points were lost: reasons of readings, now and in an earlier run, and limits that replies broke."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, get_args

from pytest_personalens.core.judging.measure import Dimension, get_measure, text_of
from pytest_personalens.core.judging.verdict import IntrusionCode
from pytest_personalens.core.safe_text import count
from pytest_personalens.core.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.core.judging.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


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
    Dimension.FACTS: ("wrong", "not-said"),
    Dimension.INTRUSIONS: get_args(IntrusionCode),
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


def score_before(item: Item, measure: Measure) -> Score | None:
    return None if item.earlier is None else item.earlier.scores.get(measure)


def verdict_on(item: Item, measure: Measure) -> Verdict | None:
    """Return the item's reading on a dimension; None where it is not scored."""
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    return next((verdict for verdict in verdicts if verdict.dimension == measure), None)


def _readings(items: Iterable[Item], measure: Measure) -> list[tuple[Item, Verdict]]:
    """Return the items that are scored on a dimension, each with its reading."""
    return [(item, verdict) for item in items if (verdict := verdict_on(item, measure)) is not None]


class ReasonCount(NamedTuple):
    """In how many dialogues a reason was given.

    `change` is that over the `known` ones of the `scored` dialogues; None where nothing is known of before.
    """

    code: CountedCode
    dialogues: int
    change: int | None
    known: int
    scored: int


def reason_counts(items: Iterable[Item], measure: Measure) -> tuple[ReasonCount, ...]:
    """Return what speaks against a reading in scored items, if any dialogue has it, what grew most first."""
    read, costs, known = _readings(items, measure), COSTS.get(measure, ()), 0
    dialogues, changes = Counter[str](), Counter[str]()
    for item, verdict in read:
        dialogues.update(codes := counted_codes(verdict))
        if (earlier := item.earlier) is not None and earlier.scores:
            known += 1
            changes.update(codes)
            changes.subtract(_counted(earlier.reasons.get(measure, ()), measure, earlier.scores.get(measure)))
    counts = [
        ReasonCount(code, dialogues[code], changes[code] if known else None, known, len(read))
        for code in costs
        if dialogues[code]
    ]
    return tuple(sorted(counts, key=lambda r: (-(r.change or 0), -r.dialogues, costs.index(r.code))))


def commonest_sentences(items: Iterable[Item], measure: Measure) -> tuple[tuple[str, int], ...]:
    """Return what the judge says of dialogues in the worse half of a scale, with how often, by frequency."""
    low, high = measure.low, measure.high
    middle = None if low is None or high is None else (low + high) / 2
    said = Counter(
        verdict.justification
        for _, verdict in _readings(items, measure)
        if middle is None or not measure.is_worse(middle, verdict.score)
    )
    return tuple(sorted(said.items(), key=lambda pair: (-pair[1], pair[0])))


def counted_codes(verdict: Verdict) -> set[CountedCode]:
    return _counted((reason.code for reason in verdict.reasons), verdict.dimension, verdict.score)


def _counted(codes: Iterable[ReasonCode], measure: Measure, score: Score | None) -> set[CountedCode]:
    counted: set[CountedCode] = set(codes)
    failed = measure == Dimension.TASK_COMPLETION and score == 0
    return {"whole"} if failed and counted == {"done"} else counted


def costs_of(verdict: Verdict) -> list[Reason]:
    """Return the reasons that speak against the reading, in the judge's order."""
    costs = COSTS.get(verdict.dimension, ())
    return [reason for reason in verdict.reasons if reason.code in costs]


#: What an intrusion is of, in a list with numbers.
KINDS_OF_INTRUSION: Final[Mapping[IntrusionCode, str]] = {
    code: code.replace("other-", "another ") for code in get_args(IntrusionCode)
} | {"ethnicity": "ethnicity or origin", "work": "work or education"}


def intrusion_kinds(items: Iterable[Item]) -> str:
    """Return ``religion 18, health 9``: in how many dialogues what is said, the commonest first."""
    counts = sorted(reason_counts(items, Dimension.INTRUSIONS), key=lambda reason: -reason.dialogues)
    return ", ".join(f"{KINDS_OF_INTRUSION[r.code]} {r.dialogues}" for r in counts)  # type: ignore[index]


def intrusions_note(results: Results) -> str:
    """Return in how many dialogues the assistant says what the task does not need, by kind, or ""."""
    read = [verdict.score for _, verdict in _readings(results.own, Dimension.INTRUSIONS)]
    if not any(read):
        return ""
    some, kinds = sum(map(bool, read)), intrusion_kinds(results.own)
    of = f"{some:,} of {count(len(read), results.of_suite.dialogue)}"
    return f"intrusions: {of} say of the user what the task does not need" + (f": {kinds}" if kinds else "")


def criteria_note(results: Results) -> str:
    """Return each criterion of the team's own with its text, and in how many dialogues it is met, or ""."""
    parts = []
    for measure in map(get_measure, results.criteria):
        read = [verdict for _, verdict in _readings(results.own, measure)]
        open_ = sum(any(reason.code == "cannot-tell" for reason in v.reasons) for v in read)
        met = f"met in {sum(v.score == 1 for v in read):,} of {count(len(read), results.of_suite.dialogue)}"
        if read:
            parts.append(
                f"{measure.short} ({text_of(measure)}) {met}" + f", cannot tell in {open_:,}" * bool(open_)
            )
    return f"criteria: {'; '.join(parts)}" if parts else ""


_BROKEN: Final[ReasonCode] = "limit-broken"
_SINCE: Final = {"baseline": "since the baseline", "record": "since the records were written"}


def breaks_a_limit(item: Item) -> bool | None:
    """True if the judge saw a broken limit in the dialogue; None where it did not read personalization."""
    verdict = verdict_on(item, Dimension.PERSONALIZATION)
    return None if verdict is None else any(reason.code == _BROKEN for reason in verdict.reasons)


def tells_limits(items: Iterable[Item]) -> bool:
    """True if the judge gives reasons: one that gives none cannot tell a broken limit."""
    return any(verdict.reasons for _, verdict in _readings(items, Dimension.PERSONALIZATION))


def broken_limits(results: Results) -> list[str]:
    """Return a line for each limit that a dialogue of the run itself breaks: dialogue, user, limit, word."""
    return [
        f"{item.evaluation.scenario}: {item.evaluation.user}, {reason.type}: says “{reason.value}”"
        + (f" (turn {reason.turn})" if reason.turn is not None else "")
        for item, verdict in _readings(results.own, Dimension.PERSONALIZATION)
        for reason in verdict.reasons
        if reason.code == _BROKEN
    ]


def limits_note(results: Results) -> str:
    """Return ``breaks a hard limit in 19 dialogues (+12 since the baseline)``, or "" if none is broken."""
    counts = reason_counts(results.own, Dimension.PERSONALIZATION)
    broken = next((reason for reason in counts if reason.code == _BROKEN), None)
    if broken is None:
        return ""
    since = next((earlier.source for item in results.own if (earlier := item.earlier) is not None), "")
    change = f" ({broken.change:+d} {_SINCE[since]})" if since and broken.change is not None else ""
    return f"breaks a hard limit in {count(broken.dialogues, results.of_suite.dialogue)}{change}"


#: What fewer users get alike may be a coincidence, and how many such values are named.
_ALIKE: Final = 3


def alike_note(results: Results) -> str:
    """Return which values users got alike against what is known of each, or "" if there is none.

    It tells a memory that is another user's from one that is lost.
    """
    users = defaultdict[tuple[str, str, str], set[str]](set)
    for item, verdict in _readings(results.own, Dimension.PERSONALIZATION):
        scenario = results.scenarios.get(item.evaluation.scenario)
        known = scenario.preferences if isinstance(scenario, Scenario) else {}
        for r in verdict.reasons:
            if r.code == "contradicts" and r.value not in ("", *known.get(r.domain, {}).get(r.type, ())):
                users[r.domain, r.type, r.value].add(item.evaluation.user)
    alike = sorted((-len(who), *what) for what, who in users.items() if len(who) >= _ALIKE)
    named = (f"{value!r} ({domain}, {name}) for {-n} users" for n, domain, name, value in alike[:_ALIKE])
    cause = "a default, or another user's memory"
    return f"got alike against what is known of each ({cause}): {', '.join(named)}" if alike else ""
