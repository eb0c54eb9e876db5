"""Why points were lost: reasons of readings, now and in an earlier run, and limits that replies broke."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, get_args

from pytest_personalens.core.dialogue.message import number_call_ids
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.measure import get_measure, text_of
from pytest_personalens.core.judging.verdict import IntrusionCode
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.core.text.node_ids import within_file
from pytest_personalens.results.values.item import Earlier, codes_in, scores_in
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.core.judging.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.comparison.baseline import Baseline, Entry
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


def attach_replayed(results: Results) -> Results:
    """Return the results, where records hold other dialogues, with what the replayed ones were: as now.

    Where all records are replayed, nothing is known of before.
    """
    if all(item.earlier is None for item in results.own):
        return results

    def attached(item: Item) -> Item:
        if item.earlier is not None or item.record != "replayed" or not item.evaluation.scored:
            return item
        verdicts = item.evaluation.verdicts
        earlier = Earlier(source="record", scores=scores_in(verdicts), reasons=codes_in(verdicts))
        return item.model_copy(update={"earlier": earlier})

    return results.model_copy(update={"items": tuple(map(attached, results.items))})


def score_before(item: Item, measure: Measure) -> Score | None:
    return None if item.earlier is None else item.earlier.scores.get(measure)


def follow_moved_tests(baseline: Baseline, results: Results) -> Baseline:
    """Return the baseline with tests that moved or were renamed under their names of this run.

    A test moved if it is gone, one new test of the run has its name in another file, and the two have a
    scenario in common. It was renamed if no new test has its name, and one that did not move has such a
    scenario. Where several might be meant, none is.
    """
    then, now = _scenarios_by_test(baseline.entries), _scenarios_by_test(results.own)
    gone, new, found = then.keys() - now.keys(), now.keys() - then.keys(), dict[str, str]()
    for named_alike in (True, False):
        pairs = [
            (test, other)
            for test in gone - found.keys()
            for other in new - {*found.values()}
            if then[test] & now[other] and (not named_alike or within_file(other) == within_file(test))
        ]
        meant = Counter(test for pair in pairs for test in pair)
        found |= {test: other for test, other in pairs if meant[test] == meant[other] == 1}
    if not found:
        return baseline
    entries = tuple(e.model_copy(update={"test": found.get(e.test, e.test)}) for e in baseline.entries)
    names = {then.name: now.name for then, now in zip(baseline.entries, entries, strict=True)}
    dialogues = {names[name]: messages for name, messages in baseline.dialogues.items()}
    return baseline.model_copy(update={"entries": entries, "dialogues": dialogues})


def _scenarios_by_test(asked: Iterable[Entry | Item]) -> dict[str, set[tuple[str, ...]]]:
    scenarios: dict[str, set[tuple[str, ...]]] = {}
    for one in asked:
        *scenario, test = one.key
        scenarios.setdefault(test, set()).add(tuple(scenario))
    return scenarios


def attach_earlier(results: Results, baseline: Baseline, *, scores: bool = True) -> Results:
    """Return the results with what a baseline knows of their items.

    What was said is a record's, where the baseline does not hold it. Runs that cannot be compared keep
    nothing of the old `scores` and reasons.
    """
    then = {(*entry.key, entry.trial): entry for entry in baseline.entries if entry.scores}

    def attached(item: Item) -> Item:
        entry = then.get((*item.key, item.trial))
        messages = () if item.earlier is None else item.earlier.messages
        if entry is not None and entry.name in baseline.dialogues:
            messages = _other_messages(item, baseline.dialogues[entry.name])
        known = {} if entry is None or not scores else {"scores": entry.scores, "reasons": entry.reasons}
        earlier = Earlier(source="baseline", messages=messages, **known)
        return item.model_copy(update={"earlier": earlier})

    items = tuple(item if item.control else attached(item) for item in results.items)
    return results.model_copy(update={"items": items})


def _other_messages(item: Item, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages, or none if they are what is said now."""
    return () if number_call_ids(messages) == number_call_ids(item.evaluation.dialogue.messages) else messages


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
        if (earlier := item.earlier) is None or not earlier.scores
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


#: What an intrusion is of, in a list with numbers.
KINDS_OF_INTRUSION: Final[Mapping[IntrusionCode, str]] = {
    code: code.replace("other-", "another ") for code in get_args(IntrusionCode)
} | {"ethnicity": "ethnicity or origin", "work": "work or education"}


def intrusion_kinds(items: Sequence[Item]) -> str:
    """Return ``religion 18, health 9``: in how many dialogues what is said, the commonest first."""
    counts = sorted(reason_counts(items, Dimension.INTRUSIONS), key=lambda reason: -reason.dialogues)
    return ", ".join(f"{KINDS_OF_INTRUSION[r.code]} {r.dialogues}" for r in counts)  # type: ignore[index]


def intrusions_note(results: Results) -> str:
    """Return in how many dialogues the assistant says what the task does not need, by kind, or ""."""
    scores = [item.evaluation.score(Dimension.INTRUSIONS) for item in results.own if item.evaluation.scored]
    if not any(scores):
        return ""
    read = [score for score in scores if score is not None]
    some = f"{sum(map(bool, read)):,} of {count(len(read), results.of_suite.dialogue)}"
    kinds = intrusion_kinds(results.own)
    return f"intrusions: {some} say of the user what the task does not need" + (f": {kinds}" if kinds else "")


def criteria_note(results: Results) -> str:
    """Return each criterion of the team's own with its text, and in how many dialogues it is met, or ""."""
    parts = []
    for measure in map(get_measure, results.criteria):
        read = [v for item in results.own if (v := verdict_on(item, measure)) is not None]
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
    verdicts = (verdict_on(item, Dimension.PERSONALIZATION) for item in items)
    return any(verdict.reasons for verdict in verdicts if verdict is not None)


def broken_limits(results: Results) -> list[str]:
    """Return a line for each limit that a dialogue of the run itself breaks: dialogue, user, limit, word."""
    return [
        f"{item.evaluation.scenario}: {item.evaluation.user}, {reason.type}: says “{reason.value}”"
        + (f" (turn {reason.turn})" if reason.turn is not None else "")
        for item in results.own
        if (verdict := verdict_on(item, Dimension.PERSONALIZATION)) is not None
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


#: What fewer users get alike may be a coincidence.
_LEAST_ALIKE: Final = 3
_MOST_ALIKE: Final = 3


def alike_note(results: Results) -> str:
    """Return which values users got alike against what is known of each, or "" if there is none.

    It tells a memory that is another user's from one that is lost.
    """
    users = defaultdict[tuple[str, str, str], set[str]](set)
    for item in results.own:
        scenario, verdict = (
            results.scenarios.get(item.evaluation.scenario),
            verdict_on(item, Dimension.PERSONALIZATION),
        )
        known = scenario.preferences if isinstance(scenario, Scenario) else {}
        for r in verdict.reasons if verdict is not None else ():
            if r.code == "contradicts" and r.value not in ("", *known.get(r.domain, {}).get(r.type, ())):
                users[r.domain, r.type, r.value].add(item.evaluation.user)
    alike = sorted((-len(who), *what) for what, who in users.items() if len(who) >= _LEAST_ALIKE)
    named = (f"{value!r} ({domain}, {name}) for {-n} users" for n, domain, name, value in alike[:_MOST_ALIKE])
    cause = "a default, or another user's memory"
    return f"got alike against what is known of each ({cause}): {', '.join(named)}" if alike else ""
