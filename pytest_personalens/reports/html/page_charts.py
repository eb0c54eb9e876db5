"""The figures and the charts of the HTML report: which of them a run has, and what each is drawn from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports import charts
from pytest_personalens.reports.charts import SOFT, TC, DotRow, Histogram, P, Panel
from pytest_personalens.reports.content.findings import capital
from pytest_personalens.reports.content.kind_tables import by_distance, kind_tables
from pytest_personalens.results.means import Estimate, estimate, item_scores, score_counts
from pytest_personalens.results.wording import NO_INTERVAL, control_names, ends_text, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.reports.charts import RowChart
    from pytest_personalens.reports.content.kind_tables import KindTable
    from pytest_personalens.results.means import ItemScores
    from pytest_personalens.results.values.figures import Arm
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: A mean over fewer scenarios has an interval nearly as wide as its scale.
LEAST_FOR_A_CHART: Final = 5
_TURNS: Final = Dimension.PERSONALIZATION_TURNS
_COLOURS: Final[dict[Measure, str]] = {
    Dimension.TASK_COMPLETION: TC,
    Dimension.PERSONALIZATION: P,
    _TURNS: P,
}


class FiguresRow(NamedTuple):
    """A row of a table of figures: counts of its items, and an estimate for each dimension."""

    name: str
    items: int
    scored: int
    estimates: Sequence[Estimate]

    @property
    def fills_a_row(self) -> bool:
        """False for a group of so few scenarios that its mean says little, however often they ran."""
        return max((e.scenarios for e in self.estimates), default=0) >= LEAST_FOR_A_CHART


def group_rows(results: Results, dimensions: Sequence[Measure]) -> tuple[list[FiguresRow], list[FiguresRow]]:
    """Return the figures of the whole run and by kind, and those by domain."""
    own, suite = results.own, results.of_suite
    by_domain: dict[str, list[Item]] = {g.name: [] for g in results.domains}
    for item in own:
        for domain in item.evaluation.domains:
            by_domain.setdefault(domain, []).append(item)
    groups: dict[str, Sequence[Item]] = {"All": own}
    for kind in [g.name for g in results.kinds] if len(results.kinds) > 1 else []:
        groups[suite.kind_name(kind)] = [i for i in own if i.evaluation.kind == kind]
    return _rows(groups, dimensions), _rows(by_domain, dimensions)


def control_rows(results: Results, dimensions: Sequence[Measure]) -> list[FiguresRow]:
    """Return the figures of the run itself and of each of its controls; none without controls."""
    arms = ["", *(arm.name for arm in results.arms)] if results.arms else []
    names = control_names(results.of_suite)
    return _rows({capital(names[a]): [i for i in results.items if i.arm == a] for a in arms}, dimensions)


def _rows(groups: Mapping[str, Sequence[Item]], dimensions: Sequence[Measure]) -> list[FiguresRow]:
    rows = []
    for name, items in groups.items():
        read = item_scores(items)
        rows.append(FiguresRow(name, len(items), len(read), [estimate(read, d) for d in dimensions]))
    return rows


def main_measures(results: Results) -> list[Measure]:
    """Return the measures that charts show: those with steps, and scores if any of them has some."""
    stepped = [d for d in results.of_suite.main if d.in_steps]
    figures = results.overall.figures
    return [d for d in stepped if d.value in figures and figures[d.value].count] or stepped


def tile_measures(results: Results) -> list[Measure]:
    """Return the measures with a big figure; in a suite with a table for each kind, all main ones."""
    return list(results.of_suite.main) if results.of_suite.table_by_kind else main_measures(results)


def tile_of(results: Results, dimension: Measure, value: Estimate) -> dict[str, Any]:
    """The big figure of a dimension: its estimate, the floor of its gate, and its place on the scale."""
    floor, name = _floors(results).get(dimension), dimension.names.mean
    if dimension.in_steps:
        panel = _panel(dimension, floor=floor)
    else:
        panel = open_panel(dimension, [value, Estimate(floor)])._replace(colour=SOFT, floor=floor)
    about = [dimension.names.mean_of] if dimension.names.mean_of != name else []
    about += [dimension.range_text()] if dimension.high != 1 else []
    about += ["lower is better"] if dimension.better == "low" else []
    between = NO_INTERVAL if value.low is None else f"95 % interval {interval_text(value)}"
    shown = "\N{EN DASH}" if value.value is None else f"{value.value:.2f}"
    return {
        "dimension": dimension,
        "name": name,
        "what": ", ".join(about),
        "estimate": value,
        "floor": floor,
        "strip": charts.strip(value, panel, f"{name} {shown}, {between}"),
    }


def interval_text(value: Estimate) -> str:
    """The two ends; negative ones come with a true minus sign."""
    if value.low is None or value.high is None:
        return "\N{EN DASH}"
    return ends_text(value.low, value.high).replace("-", "\N{MINUS SIGN}")


def _floors(results: Results) -> dict[Measure, float]:
    """The floors of the gates on means."""
    by_name = {g.name: g.limit for g in results.gates if g.kind == "floor"}
    names = {results.of_suite.metric_of(d): d for d in tile_measures(results)}
    return {d: by_name[name] for name, d in names.items() if name in by_name}


def _panel(dimension: Measure, *, mean: float | None = None, floor: float | None = None) -> Panel:
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


def score_histograms(read: Sequence[ItemScores], dimensions: Sequence[Measure]) -> Iterator[Histogram]:
    """Yield how often each score was given, by dimension."""
    for dimension in dimensions:
        # Personalization by turn has its own chart, and its last score is P.
        if dimension != _TURNS and dimension.in_steps:
            low, high = int(dimension.low or 0), int(dimension.high or 0)
            ticks = ["no", "yes"] if high == 1 else [str(score) for score in range(low, high + 1)]
            colour = _COLOURS.get(dimension, SOFT)
            yield Histogram(dimension.names.score, ticks, score_counts(read, dimension), colour)


def charts_of(
    results: Results,
    dimensions: Sequence[Measure],
    domains: Sequence[FiguresRow],
    turns: Sequence[Estimate],
    shown: Sequence[Histogram],
) -> dict[str, Any]:
    """The charts that the run has, by name: domains, arms, scores, turns and trials."""
    found: dict[str, Any] = {}
    main, floors, figures = main_measures(results), _floors(results), results.overall.figures
    own = [_panel(d, mean=figures[d.value].value, floor=floors.get(d)) for d in main if d.value in figures]
    # A mean in a title is called by its short name where that is a word of its own.
    names = " and ".join(d.names.mean if len(d.names.mean) > 1 else d.names.mean_of for d in main)
    large = [row for row in domains if row.fills_a_row]
    # Kinds with measures of their own have a chart each.
    if own and large and not results.of_suite.table_by_kind:
        title = f"{names} by domain, the lowest first, with 95 % intervals"
        found["domains"] = charts.dots(_domain_rows(large, dimensions, main), own, title)
    if own and not results.of_suite.table_by_kind and (far := by_distance(results, results.own)):
        rows = _rows(far, main)
        dotted = [DotRow(row.name, f"{row.scored:,}", row.estimates) for row in rows]
        found["distance"] = charts.dots(dotted, own, f"{names} by distance, with 95 % intervals")
    panels = [_panel(measure) for measure in main]
    if pairs := [row for arm in results.arms if (row := _pair(results, arm, main)) is not None]:
        found["arms"] = charts.pairs(pairs, panels, f"{names} with another context and with this user's")
    if shown:
        found["scores"] = charts.histograms(shown, "How often each score was given, by dimension")
    if turns:
        title = "Mean personalization after each turn of the assistant, with 95 % intervals"
        below = "turn of the assistant (dialogues that have it)"
        found["turns"] = charts.line(turns, _panel(_TURNS), title, below=below, counts=True)
    if results.trials and any(value is not None for value in results.trials.pass_k):
        rates = [Estimate(value, dialogues=1) for value in results.trials.pass_k]
        title = f"Chance that one {results.of_suite.item} passes in k trials out of k"
        found["trials"] = charts.line(rates, _panel(Dimension.TASK_COMPLETION), title, below="k")
    return found


def _domain_rows(
    rows: Sequence[FiguresRow], dimensions: Sequence[Measure], main: Sequence[Measure]
) -> list[DotRow]:
    """A row of a chart for each domain, the one with the worst personalization first."""
    places = [dimensions.index(d) for d in main if d in dimensions]
    places = [n for n in places if any(row.estimates[n].value is not None for row in rows)]
    ordered = sorted(rows, key=lambda row: [row.estimates[n].value or 0.0 for n in reversed(places)])
    return [DotRow(row.name, f"{row.scored:,}", [row.estimates[n] for n in places]) for row in ordered]


def _pair(results: Results, arm: Arm, shown: Sequence[Measure]) -> charts.PairRow | None:
    """The means of a control and of the run over the scenarios that both scored."""
    by_dimension = {lift.dimension: lift for lift in arm.lift}
    lifts = [by_dimension.get(dimension) for dimension in shown]
    if not any(lifts):
        return None
    last = lifts[-1]
    note = "" if last is None else signed(last.gain[0]).replace("-", "\N{MINUS SIGN}")
    pairs = [None if lift is None else (lift.before, lift.after) for lift in lifts]
    return charts.PairRow(results.of_suite.arm_word(arm.name), note, pairs)


class KindSection(NamedTuple):
    """The section of a kind; a chart is None if no group has enough items for it."""

    table: KindTable
    name: str
    measure: Measure | None
    domains: RowChart | None
    distance: RowChart | None


def kinds_of_page(results: Results, least: int) -> list[KindSection]:
    """Return a section for each kind, in a suite whose kinds have measures of their own. A domain has a place
    in a chart from `least` scored items on.
    """
    suite = results.of_suite
    if not suite.table_by_kind:
        return []
    return [_section(results, table, least) for table in kind_tables(results)]


def _section(results: Results, table: KindTable, least: int) -> KindSection:
    suite, kind = results.of_suite, table.kind
    measure = next((m for m in suite.main if m.is_read_in(kind)), None)
    own = [item for item in results.own if item.evaluation.kind == kind]
    domains = distance = None
    if measure is not None:
        domains = _chart(_by_domain(own), measure, least, "by domain, the worst first", worst_first=True)
        distance = _chart(by_distance(results, own), measure, 1, "by distance, the nearest first")
    return KindSection(table, suite.kind_name(kind), measure, domains, distance)


def _by_domain(items: Sequence[Item]) -> dict[str, list[Item]]:
    by_domain: dict[str, list[Item]] = {}
    for item in items:
        for domain in item.evaluation.domains:
            by_domain.setdefault(domain, []).append(item)
    return by_domain


def _chart(
    groups: Mapping[str, Sequence[Item]],
    measure: Measure,
    least: int,
    order: str,
    *,
    worst_first: bool = False,
) -> RowChart | None:
    """Return a dot with its interval for each group with enough scored items; `order` says how they stand."""
    estimates = {name: estimate(item_scores(members), measure) for name, members in groups.items()}
    large = [
        (name, one) for name, one in estimates.items() if one.value is not None and one.scenarios >= least
    ]
    if not large:
        return None
    if worst_first:
        large.sort(key=lambda pair: (measure.sign * (pair[1].value or 0.0), pair[0]))
    rows = [charts.DotRow(name, f"{one.dialogues:,}", [one]) for name, one in large]
    every = {item.nodeid: item for members in groups.values() for item in members}
    mean = estimate(item_scores(list(every.values())), measure).value
    panel = open_panel(measure, [one for _, one in large], mean)
    title = f"{measure.names.title} {order}, with 95 % intervals"
    return charts.dots(rows, [panel], title)
