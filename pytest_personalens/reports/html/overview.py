"""The first part of the HTML report: the outcome, the reasons and the means.

The means have intervals, which show how certain they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.charts.charts import SOFT, TC, DotRow, Histogram, P, Panel
from pytest_personalens.reports.content.findings import capital
from pytest_personalens.results.means import Estimate, estimate, item_scores, score_counts
from pytest_personalens.results.wording import control_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.means import ItemScores
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


class OverviewLine(NamedTuple):
    """A row of a table of figures. It holds counts of its items, and an estimate for each dimension."""

    name: str
    items: int
    scored: int
    estimates: Sequence[Estimate]


def main_measures(results: Results) -> list[Measure]:
    """Return the measures that charts show, which must have steps."""
    return [d for d in results.of_suite.main if d.in_steps]


def tile_measures(results: Results) -> list[Measure]:
    """Return the measures with a big figure; in a suite with a table for each kind, all main ones."""
    return list(results.of_suite.main) if results.of_suite.table_by_kind else main_measures(results)


def floors(results: Results) -> dict[Measure, float]:
    """Return the floors of the gates on means."""
    by_name = {g.name: g.limit for g in results.gates if g.kind == "floor"}
    names = {results.of_suite.metric_of(d): d for d in tile_measures(results)}
    return {d: by_name[name] for name, d in names.items() if name in by_name}


def panel(dimension: Measure, *, mean: float | None = None, floor: float | None = None) -> Panel:
    """Return the scale of a dimension as the panel of a chart."""
    low, high = int(dimension.low or 0), int(dimension.high or 0)
    ticks: Sequence[float] = (0, 0.5, 1) if high == 1 else range(low, high + 1)
    return Panel(dimension.names.mean, low, high, ticks, _COLOURS.get(dimension, SOFT), mean, floor)


def open_panel(measure: Measure, shown: Sequence[Estimate], mean: float | None = None) -> Panel:
    """Return the scale of a measure; one without an end reaches as far as the intervals do."""
    ends = [end for one in shown for end in (one.value, one.low, one.high) if end is not None]
    low = math.floor(min(ends, default=0)) if measure.low is None else measure.low
    high = math.ceil(max(ends, default=1)) if measure.high is None else measure.high
    high = max(high, low + 1)
    return Panel(measure.names.mean, low, high, (low, (low + high) / 2, high), TC, mean)


def panels(results: Results, *, of_run: bool) -> list[Panel]:
    """Return the panels of TCR and P, if the run has these scores. If `of_run`, they also mark the means of
    the run.
    """
    floor, means = floors(results), {d: results.overall.figures.get(d.value) for d in main_measures(results)}
    return [
        panel(d, mean=m.value if of_run else None, floor=floor.get(d))
        for d, m in means.items()
        if m is not None
    ]


def domain_rows(
    lines: Sequence[OverviewLine], dimensions: Sequence[Measure], main: Sequence[Measure]
) -> list[DotRow]:
    """Return a row of a chart for each group. The group with the worst personalization comes first. Each row
    has TCR and P, if the run has these scores.
    """
    places = [dimensions.index(d) for d in main if d in dimensions]
    places = [n for n in places if any(line.estimates[n].value is not None for line in lines)]

    def order(line: OverviewLine) -> tuple[float, ...]:
        return tuple(line.estimates[n].value or 0.0 for n in reversed(places))

    return [
        DotRow(line.name, f"{line.scored:,}", [line.estimates[n] for n in places])
        for line in sorted(lines, key=order)
    ]


def group_lines(
    results: Results, dimensions: Sequence[Measure]
) -> tuple[list[OverviewLine], list[OverviewLine]]:
    """Return the figures of the whole run and by kind, and those by domain."""
    own = results.own
    by_domain: dict[str, list[Item]] = {g.name: [] for g in results.domains}
    for item in own:
        for domain in item.evaluation.domains:
            by_domain.setdefault(domain, []).append(item)
    kinds = [g.name for g in results.kinds] if len(results.kinds) > 1 else []
    whole = [
        _line("All", own, dimensions),
        *(
            _line(results.of_suite.kind_name(k), [i for i in own if i.evaluation.kind == k], dimensions)
            for k in kinds
        ),
    ]
    return whole, [_line(name, items, dimensions) for name, items in by_domain.items()]


def control_lines(results: Results, dimensions: Sequence[Measure]) -> list[OverviewLine]:
    """Return the figures of the run itself and of each of its controls."""
    names = control_names(results.of_suite)
    lines = [_line(capital(names[""]), results.own, dimensions)] if results.arms else []
    return lines + [
        _line(capital(names[a.name]), [i for i in results.items if i.arm == a.name], dimensions)
        for a in results.arms
    ]


def score_histograms(read: Sequence[ItemScores], dimensions: Sequence[Measure]) -> Iterator[Histogram]:
    """Yield how often each score was given, by dimension."""
    for dimension in dimensions:
        if dimension == Dimension.PERSONALIZATION_TURNS or not dimension.in_steps:
            continue  # personalization by turn has its own chart, and its last score is P
        counts = score_counts(read, dimension)
        low, high = int(dimension.low or 0), int(dimension.high or 0)
        ticks = ["no", "yes"] if high == 1 else [str(score) for score in range(low, high + 1)]
        yield Histogram(dimension.names.score, ticks, counts, _COLOURS.get(dimension, SOFT))


def _line(name: str, items: Sequence[Item], dimensions: Sequence[Measure]) -> OverviewLine:
    read = item_scores(items)
    return OverviewLine(name, len(items), len(read), [estimate(read, d) for d in dimensions])


_COLOURS: Final[dict[Measure, str]] = {
    Dimension.TASK_COMPLETION: TC,
    Dimension.PERSONALIZATION: P,
    Dimension.PERSONALIZATION_TURNS: P,
}
