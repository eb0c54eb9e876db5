"""Why points were lost and gates failed: reasons of readings, broken limits, worst cases and their costs."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, get_args

from pytest_personalens.core.judging.measure import Dimension, get_measure, text_of
from pytest_personalens.core.judging.verdict import IntrusionCode
from pytest_personalens.core.options.gate import measure_of, parse_gate_name
from pytest_personalens.core.safe_text import count
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.results.values.figures import PairedChange
from pytest_personalens.results.values.item import members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.core.judging.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.values.figures import Gate
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


class Exchange(NamedTuple):
    """One reply of the assistant: the message that it answers, and the reply at the same turn before.

    `asked` and `recorded` are empty where there is none; `quote` is what the judge saw in the reply.
    """

    turn: int
    asked: str
    reply: str
    recorded: str
    quote: str


class WorstCase(NamedTuple):
    """An item, its reading on the dimension, its score before where it is known, and the costly exchange.

    `reasons` speak against the reading: the one that is to be shown first, and none that it had before.
    """

    item: Item
    verdict: Verdict
    before: Score | None
    exchange: Exchange | None
    reasons: tuple[Reason, ...]

    @property
    def unexplained(self) -> bool:
        """True if the score fell and the judge gives no reason that it had not given before."""
        verdict = self.verdict
        fell = self.before is not None and verdict.dimension.is_worse(verdict.score, self.before)
        return fell and bool(costs_of(verdict)) and not self.reasons


def worst_cases(items: Sequence[Item], measure: Measure, lead: CountedCode | None = None) -> list[WorstCase]:
    """Return one case for each scenario and test whose score is not the highest, the worst first."""
    best = measure.high if measure.better == "high" else measure.low
    cases = [
        WorstCase(i, v, score_before(i, measure), costly_exchange(i, v, lead), _new_costs(i, v, lead))
        for i in items
        if (v := verdict_on(i, measure)) is not None and v.score != best
    ]
    first: dict[tuple[str, ...], WorstCase] = {}
    for case in sorted(cases, key=lambda case: _rank(case, lead)):
        first.setdefault(case.item.key, case)
    return list(first.values())


def _new_costs(item: Item, verdict: Verdict, lead: CountedCode | None) -> tuple[Reason, ...]:
    costs = sorted(costs_of(verdict), key=lambda reason: reason.code != lead)
    then = () if item.earlier is None else item.earlier.reasons.get(verdict.dimension, ())
    return tuple(reason for reason in costs if reason.code not in then)


def _rank(case: WorstCase, lead: CountedCode | None) -> tuple[object, ...]:
    """Rank the reason `lead` as a new one first, then the largest loss, then the lowest score."""
    codes, measure, score = counted_codes(case.verdict), case.verdict.dimension, case.verdict.score
    new = lead in {reason.code for reason in case.reasons} or (lead == "whole" and lead in codes)
    lost = 0 if case.before is None else measure.sign * (case.before - score)
    # Of equal ones, those that lost on every reading, and whose old reply can be shown beside the new one.
    others = sum(
        abs(v.score - v.dimension.worst) / v.dimension.span
        for v in case.item.evaluation.verdicts
        if v.dimension.span and v.dimension.worst is not None
    )
    shown = case.exchange is not None and bool(case.exchange.recorded)
    return not new, "whole" in codes, -lost, measure.sign * score, others, not shown, case.item.nodeid


def costly_exchange(item: Item, verdict: Verdict, lead: CountedCode | None = None) -> Exchange | None:
    """Return the exchange that cost the score; None where the assistant said nothing.

    The turns of the reason `lead`, if the judge names any; else the turns that its reasons and quotes are
    about; of these the one where the dialogue departs from what was said before, if it is among them. Where
    the judge names none, or none that it had not before: that reply, or the last one in which it saw
    anything, or the last one that answers no goodbye.
    """
    messages = item.evaluation.dialogue.messages
    replies = [turn for turn, message in enumerate(messages) if message.role == "assistant"]
    if not replies:
        return None
    before = () if item.earlier is None else item.earlier.messages
    costs = costs_of(verdict)
    blamed = [r.turn for r in costs if r.code == lead and r.turn in replies]
    if before and costs and not _new_costs(item, verdict, lead):
        blamed = []
    elif not blamed:
        named = (*(reason.turn for reason in costs), *(evidence.turn for evidence in verdict.evidence))
        blamed = [turn for turn in named if turn in replies]
    # The first turn at which the two dialogues differ, where neither has ended before it.
    pairs = enumerate(zip(before, messages, strict=False))
    turn = next((turn for turn, (then, now) in pairs if then != now), None)
    if turn not in (blamed or replies):
        goodbye = item.evaluation.dialogue.end in ("user", "unserved")
        seen = [r.turn for r in verdict.reasons if r.turn is not None and r.turn in replies]
        turn = blamed[0] if blamed else max(seen, default=replies[-2:][0] if goodbye else replies[-1])
    assert turn is not None
    recorded = before[turn].content if turn < len(before) and before[turn].role == "assistant" else ""
    return Exchange(
        turn,
        messages[turn - 1].content if turn else "",
        messages[turn].content,
        recorded if recorded != messages[turn].content else "",
        next((evidence.quote for evidence in verdict.evidence if evidence.turn == turn), ""),
    )


#: Dialogues that are shown with what was said, over all gates together.
_CASES: Final = 2


class Explanation(NamedTuple):
    """Why a gate failed.

    `since` is what `moved` and the changes of the reasons are held against, "" where nothing is known. Of
    several gates on one reading of a group, the first has the reasons, what the judge says of low dialogues
    with how often, and its worst dialogue; over all of them at most two have an exchange. `same_as` is the
    gate that says the same already.
    """

    gate: Gate
    group: str
    measure: Measure | None
    moved: PairedChange | None
    since: str
    reasons: tuple[ReasonCount, ...] = ()
    sentences: tuple[tuple[str, int], ...] = ()
    cases: tuple[WorstCase, ...] = ()
    same_as: str = ""

    @property
    def lead(self) -> ReasonCount | None:
        """What explains the change: what grew most, or the commonest if nothing is known."""
        return next((r for r in self.reasons if r.change is None or r.change > 0), None)

    @property
    def unexplained(self) -> bool:
        """True if the scores fell, and no reason is given more often than before."""
        m, measure = self.moved, self.measure
        fell = m is not None and measure is not None and measure.is_worse(m.after, m.before)
        return fell and bool(self.reasons) and self.lead is None


def explanations(results: Results) -> tuple[Explanation, ...]:
    """Return why each gate failed that did, in the order of the gates."""
    read = [(gate, *_measured(gate, results)) for gate in results.gates if not gate.passed]
    firsts: dict[tuple[str, Measure], Gate] = {}
    for gate, group, measure in read:
        if measure is not None and gate.value is not None:
            firsts.setdefault((group, measure), gate)
    share = max(1, _CASES // max(1, len(firsts)))
    miss = {one: abs(g.limit - (g.value or 0)) / (one[1].span or 1) for one, g in firsts.items()}
    farthest = sorted(firsts, key=lambda one: -miss[one])[:_CASES]
    changed: dict[tuple[str, Measure], str] = {}
    shown: set[str] = set()
    explained = []
    for gate, group, measure in read:
        items = members(results.own, group)
        since = next((earlier.source for item in items if (earlier := item.earlier) is not None), "")
        one = Explanation(gate, group, measure, _moved(results, gate, items, group, measure), since)
        if measure is not None and firsts.get((group, measure)) is gate:
            one = one._replace(
                reasons=reason_counts(items, measure), sentences=commonest_sentences(items, measure)
            )
            lead = one.lead.code if one.lead is not None else None
            cases = [case for case in worst_cases(items, measure, lead) if case.item.nodeid not in shown]
            cases = cases[:share]
            if (group, measure) not in farthest:
                cases = [case._replace(exchange=None) for case in cases]
            shown |= {case.item.nodeid for case in cases}
            one = one._replace(cases=tuple(cases))
        if measure is not None and one.moved is not None:
            first = changed.setdefault((group, measure), gate.name)
            one = one._replace(same_as=first if first != gate.name else "")
        explained.append(one)
    return tuple(explained)


def _measured(gate: Gate, results: Results) -> tuple[str, Measure | None]:
    """The group and the measure that a gate is on; of a gate on the chance to pass, what failed most."""
    expression = parse_gate_name(gate.name.removeprefix("regression: "), gate.limit, gate.direction)
    group = expression.group
    if expression.metric.startswith("pass^"):
        low = Counter(s.dimension for item in members(results.own, group) for s in item.shortfalls)
        return group, max(low, key=lambda measure: low[measure], default=None)
    return group, None if gate.kind == "valid" else measure_of(expression, results.of_suite)


def _moved(
    results: Results, gate: Gate, items: Sequence[Item], group: str, measure: Measure | None
) -> PairedChange | None:
    """Return how the means of all scored scenarios moved; None where it is not known of every dialogue."""
    if gate.kind == "regression" and results.comparison is not None:
        # Where it has not regressed, too few failed it, whichever way they went.
        found = (d for d in results.comparison.differences if d.regressed)
        return next((d for d in found if (d.dimension, d.kind) == (measure, group)), None)
    scores: defaultdict[tuple[str, str], list[tuple[Score, Score]]] = defaultdict(list)
    for item in items if measure is not None and gate.kind == "floor" else ():
        assert measure is not None
        if (verdict := verdict_on(item, measure)) is not None:
            if (before := score_before(item, measure)) is None:
                return None
            scores[item.scenario_key].append((before, verdict.score))
    if not scores or measure is None:
        return None
    pairs = [(fmean(b for b, _ in trials), fmean(a for _, a in trials)) for trials in scores.values()]
    means = [fmean(side) for side in zip(*pairs, strict=True)]
    return PairedChange(
        dimension=measure,
        pairs=len(pairs),
        users=len({user for user, _ in scores}),
        before=means[0],
        after=means[1],
        change=means[1] - means[0],
        worse=sum(measure.is_worse(after, before) for before, after in pairs),
        better=sum(measure.is_worse(before, after) for before, after in pairs),
    )
