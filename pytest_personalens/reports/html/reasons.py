"""Why dialogues lost points and what moved, for the page: reasons, the fate of each preference, changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.explanation import DOES, OUTCOMES, reason_text, why
from pytest_personalens.results.comparison.compare import compare_untested
from pytest_personalens.results.reasons.reasons import (
    COSTS,
    costs_of,
    counted_codes,
    earlier_of,
    reason_counts,
    verdict_on,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.reasons.reasons import CountedCode
    from pytest_personalens.results.values.figures import Comparison
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_P: Final = Dimension.PERSONALIZATION
_SHADES: Final = 5
#: Rows of the heat map that are shown at once.
MOST_PREFERENCES: Final = 12
_SINCE: Final = {"baseline": "the baseline", "record": "the records"}


class ReasonBar(NamedTuple):
    """A reason: in how many dialogues now, and before; the shares are of all dialogues, in percent. `change`
    and `before` are None where it is not known of every dialogue.
    """

    code: CountedCode
    words: str
    dialogues: int
    change: int | None
    share: float
    before: float | None


class ReasonChart(NamedTuple):
    """What speaks against one reading, over its scored dialogues. `since` is empty where nothing is known of
    before.
    """

    dimension: Measure
    bars: list[ReasonBar]
    scored: int
    since: str


class HeatCell(NamedTuple):
    """How often an outcome came of a preference; `shade` is 0 for never, up to 5 for most often."""

    code: CountedCode
    number: int
    shade: int


class HeatRow(NamedTuple):
    """What became of one preference, over all dialogues in which it mattered."""

    name: str
    cells: list[HeatCell]


class HeatMap(NamedTuple):
    """Preferences by outcome, those that cost most first; `outcomes` are the heads, the `costly` ones
    first.
    """

    outcomes: Sequence[tuple[CountedCode, str]]
    rows: list[HeatRow]
    costly: tuple[CountedCode, ...]

    def words(self, code: CountedCode) -> str:
        """The head of the column of an outcome."""
        return dict(self.outcomes)[code]


def reason_charts(results: Results) -> list[ReasonChart]:
    """The reasons on each reading that has any, personalization first."""
    read = sorted((m for m in results.of_suite.measures if m in COSTS), key=lambda m: m != _P)
    charts = (_chart(results.own, measure) for measure in read)
    return [chart for chart in charts if chart.bars]


def _chart(items: Sequence[Item], dimension: Measure) -> ReasonChart:
    counts = reason_counts(items, dimension)
    scored = counts[0].scored if counts else 0
    # A change over a part of the dialogues would stand beside counts over all of them.
    known = bool(counts) and counts[0].known == scored
    sources = {earlier.source for item in items if (earlier := earlier_of(item)) is not None}
    bars = []
    for reason in sorted(counts, key=lambda r: -r.dialogues):
        change = reason.change if known else None
        before = None if change is None else 100 * (reason.dialogues - change) / scored
        share = 100 * reason.dialogues / scored
        bars.append(ReasonBar(reason.code, DOES[reason.code], reason.dialogues, change, share, before))
    since = " and ".join(_SINCE[source] for source in sorted(sources)) if known else ""
    return ReasonChart(dimension, bars, scored, since)


def heat_map(results: Results) -> HeatMap | None:
    """What became of each preference in the run itself; None where the judge names none."""
    by_type: defaultdict[str, Counter[CountedCode]] = defaultdict(Counter)
    for item in results.own:
        verdict = verdict_on(item, Dimension.PERSONALIZATION)
        for reason in verdict.reasons if verdict is not None else ():
            if reason.type:
                by_type[reason.type][reason.code] += 1
    if not by_type:
        return None
    total: Counter[CountedCode] = Counter()
    for counts in by_type.values():
        total.update(counts)
    outcomes = [(code, words) for code, words in OUTCOMES.items() if total[code]]
    costs = COSTS[Dimension.PERSONALIZATION]
    outcomes.sort(key=lambda pair: costs.index(pair[0]) if pair[0] in costs else len(costs))
    most = max(max(counts.values()) for counts in by_type.values())
    cost = {name: sum(counts[code] for code in costs) for name, counts in by_type.items()}
    names = sorted(by_type, key=lambda name: (-cost[name], -by_type[name].total(), name))
    rows = [HeatRow("", _cells(total, outcomes, max(total.values())))]
    rows += [HeatRow(name, _cells(by_type[name], outcomes, most)) for name in names]
    return HeatMap(outcomes, rows, costs)


def _cells(
    counts: Counter[CountedCode], outcomes: Sequence[tuple[CountedCode, str]], most: int
) -> list[HeatCell]:
    return [HeatCell(code, counts[code], -(-_SHADES * counts[code] // most)) for code, _ in outcomes]


def row_reason(item: Item, scenario: BaseScenario | None, suite: Suite) -> str:
    """Why the item has the scores that it has, in one line; empty where nothing is scored."""
    low = {shortfall.dimension for shortfall in item.shortfalls}
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    read = [verdict for verdict in verdicts if verdict.dimension in COSTS]
    lost = [v for v in verdicts if v.dimension in low] or [
        v for v in read if costs_of(v) and v.score != v.dimension.high
    ]
    if lost:
        return "; ".join(why(verdict, costs_of(verdict), scenario) for verdict in lost) + _truth(item, suite)
    # Personalization comes after task completion, of which there is less to say.
    good = _good((read or list(verdicts))[-1], scenario) if verdicts else ""
    return good + _truth(item, suite) if good else ""


def _truth(item: Item, suite: Suite) -> str:
    """The true class or number, behind the one that was read."""
    answer = item.evaluation.answer
    if answer is None or not answer.read or answer.truth is None:
        return ""
    if not isinstance(answer.truth, str):
        return f"; true: {answer.truth:g}"
    return f"; true: {answer.truth}" if suite.outcome(item) else ""  # else it is the digest of a text


def _good(verdict: Verdict, scenario: BaseScenario | None) -> str:
    return reason_text([r for r in verdict.reasons if r.type], scenario) or verdict.justification


def costly_codes(item: Item) -> set[CountedCode]:
    """What speaks against the item."""
    return {
        code for verdict in _main(item) for code in counted_codes(verdict) if code in COSTS[verdict.dimension]
    }


def reasons_given(item: Item) -> set[tuple[CountedCode, str]]:
    """All reasons of the item, each with its preference or \"\"."""
    pairs: set[tuple[CountedCode, str]] = {(r.code, r.type) for v in _main(item) for r in v.reasons}
    return pairs | {("whole", "") for verdict in _main(item) if "whole" in counted_codes(verdict)}


def _main(item: Item) -> list[Verdict]:
    return [v for v in item.evaluation.verdicts if item.evaluation.scored and v.dimension in COSTS]


class MoveCell(NamedTuple):
    """Dialogues with one score before and one score now."""

    before: int
    now: int
    dialogues: int

    @property
    def way(self) -> Literal["worse", "better", "same"]:
        """What became of these dialogues."""
        return "same" if self.now == self.before else "worse" if self.now < self.before else "better"


class Moves(NamedTuple):
    """A row for each score before, with a cell for each score now; `source` is what the old ones are from."""

    rows: list[list[MoveCell]]
    source: Literal["record", "baseline"]

    def total(self, way: str = "") -> int:
        """How many dialogues went that way; all of them without one."""
        return sum(cell.dialogues for row in self.rows for cell in row if way in ("", cell.way))


def personalization_before(item: Item) -> int | None:
    """The personalization of a scored item before this run; None where it is not known."""
    earlier = earlier_of(item) if item.evaluation.scored else None
    score = None if earlier is None else earlier.scores.get(_P)
    return None if score is None else int(score)


def moves_of(results: Results) -> Moves | None:
    """The moves on personalization in the run itself; None where no dialogue is known to have moved."""
    pairs = Counter[tuple[int, int]]()
    for item in results.own:
        before, now = personalization_before(item), item.evaluation.personalization
        if before is not None and now is not None:
            pairs[before, now] += 1
    if all(before == now for before, now in pairs):
        return None
    steps = range(_P.scale.low, _P.scale.high + 1)
    rows = [[MoveCell(before, now, pairs[before, now]) for now in steps] for before in steps]
    sources = {earlier.source for item in results.own if (earlier := earlier_of(item)) is not None}
    return Moves(rows, "baseline" if "baseline" in sources else "record")


class Changes(NamedTuple):
    """A comparison. If it was not `tested`, a report must say nothing about significance."""

    comparison: Comparison
    tested: bool


def changes_of(results: Results, before: Results | None) -> Changes | None:
    """Return the comparison with a baseline, or else the differences from `before`, if there is either."""
    if results.comparison is not None:
        return Changes(results.comparison, tested=True)
    return None if before is None else Changes(compare_untested(before, results), tested=False)
