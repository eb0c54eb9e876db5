"""Why each gate of a run failed, as values: how scores moved, for which reasons, the worst dialogues."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.options.gate_expression import measure_of, parse_gate_name
from pytest_personalens.results.reasons.earlier import earlier_of, score_before
from pytest_personalens.results.reasons.reasons import commonest_sentences, reason_counts
from pytest_personalens.results.reasons.worst_cases import worst_cases
from pytest_personalens.results.values.item import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.results.reasons.reasons import ReasonCount
    from pytest_personalens.results.reasons.worst_cases import WorstCase
    from pytest_personalens.results.values.figures import Gate
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: Dialogues that are shown with what was said, over all gates together.
_CASES: Final = 2


class MeanChange(NamedTuple):
    """The mean of some scenarios before and now, and how many of them fell and rose."""

    before: float
    after: float
    scenarios: int
    users: int
    worse: int
    better: int


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
    moved: MeanChange | None
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
    read = [(gate, *_reading(gate, results)) for gate in results.gates if not gate.passed]
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
        one = _explained(results, gate, group, measure)
        if measure is not None and firsts.get((group, measure)) is gate:
            items = members(results.own, group)
            one = one._replace(
                reasons=reason_counts(items, measure), sentences=tuple(commonest_sentences(items, measure))
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


def _explained(results: Results, gate: Gate, group: str, measure: Measure | None) -> Explanation:
    items, moved = members(results.own, group), None
    since = next((earlier.source for item in items if (earlier := earlier_of(item)) is not None), "")
    if measure is not None and gate.kind == "floor":
        moved = _mean_change(items, measure)
    elif gate.kind == "regression" and results.comparison is not None:
        for d in results.comparison.differences:
            # Where it has not regressed, too few failed it, whichever way they went.
            if (d.dimension, d.kind) == (measure, group) and d.regressed:
                moved = MeanChange(d.before, d.after, d.pairs, d.users, d.worse, d.better)
    return Explanation(gate, group, measure, moved, since)


def _reading(gate: Gate, results: Results) -> tuple[str, Measure | None]:
    """The group and the measure that a gate is on; of a gate on the chance to pass, what failed most."""
    expression = parse_gate_name(gate.name.removeprefix("regression: "), gate.limit, gate.direction)
    group = expression.group
    if expression.metric.startswith("pass^"):
        low = Counter(s.dimension for item in members(results.own, group) for s in item.shortfalls)
        return group, max(low, key=lambda measure: low[measure], default=None)
    return group, None if gate.kind == "valid" else measure_of(expression, results.of_suite)


def _mean_change(items: Sequence[Item], measure: Measure) -> MeanChange | None:
    """Return how the means of all scored scenarios moved; None where it is not known of every dialogue."""
    scores: defaultdict[tuple[str, str], list[tuple[Score, Score]]] = defaultdict(list)
    for item in items:
        now = item.evaluation.score(measure) if item.evaluation.scored else None
        if now is not None:
            if (before := score_before(item, measure)) is None:
                return None
            scores[item.scenario_key].append((before, now))
    if not scores:
        return None
    pairs = [(fmean(b for b, _ in trials), fmean(a for _, a in trials)) for trials in scores.values()]
    return MeanChange(
        fmean(before for before, _ in pairs),
        fmean(after for _, after in pairs),
        len(pairs),
        len({user for user, _ in scores}),
        sum(measure.is_worse(after, before) for before, after in pairs),
        sum(measure.is_worse(before, after) for before, after in pairs),
    )
