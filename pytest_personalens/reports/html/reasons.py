"""Why dialogues lost points, for the page: reasons added up, and what became of each preference."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.reason_text import DOES, OUTCOMES, reason_text, why
from pytest_personalens.results.reasons.earlier import earlier_of
from pytest_personalens.results.reasons.reasons import (
    COSTS,
    costs_of,
    counted_codes,
    reason_counts,
    verdict_on,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.reasons.reasons import CountedCode
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_MAIN: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
_SHADES: Final = 5
#: Rows of the heat map that are shown at once.
MOST_PREFERENCES: Final = 12
_SINCE: Final = {"baseline": "the baseline", "record": "the records"}


class ReasonBar(NamedTuple):
    """A reason: in how many dialogues now, and before; the shares are of all dialogues, in percent.

    `change` and `before` are None where it is not known of every dialogue.
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

    dimension: Dimension
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
    """The reasons on task completion and personalization, as far as the judge gives any."""
    charts = (_chart(results.own, dimension) for dimension in reversed(_MAIN))
    return [chart for chart in charts if chart.bars]


def _chart(items: Sequence[Item], dimension: Dimension) -> ReasonChart:
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


def row_reason(item: Item, scenario: BaseScenario | None) -> str:
    """Why the item has the scores that it has, in one line; empty where nothing is scored."""
    low = {shortfall.dimension for shortfall in item.shortfalls}
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    read = [verdict for verdict in verdicts if verdict.dimension in COSTS]
    lost = [v for v in verdicts if v.dimension in low] or [
        v for v in read if costs_of(v) and v.score != v.dimension.high
    ]
    if lost:
        return "; ".join(why(verdict, costs_of(verdict), scenario) for verdict in lost)
    # Personalization comes after task completion, of which there is less to say.
    return _good((read or list(verdicts))[-1], scenario) if verdicts else ""


def _good(verdict: Verdict, scenario: BaseScenario | None) -> str:
    return reason_text([r for r in verdict.reasons if r.type], scenario) or verdict.justification


def lost_for(item: Item) -> set[CountedCode]:
    """What speaks against the item, on task completion and personalization."""
    return {
        code for verdict in _main(item) for code in counted_codes(verdict) if code in COSTS[verdict.dimension]
    }


def told(item: Item) -> set[tuple[CountedCode, str]]:
    """All reasons of the item on task completion and personalization, each with its preference or \"\"."""
    pairs: set[tuple[CountedCode, str]] = {(r.code, r.type) for v in _main(item) for r in v.reasons}
    return pairs | {("whole", "") for verdict in _main(item) if "whole" in counted_codes(verdict)}


def _main(item: Item) -> list[Verdict]:
    read = (verdict_on(item, dimension) for dimension in _MAIN)
    return [verdict for verdict in read if verdict is not None]
