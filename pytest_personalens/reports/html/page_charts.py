"""The charts of the HTML report: which of them a run has, and what each is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.charts import charts
from pytest_personalens.reports.charts.charts import SOFT
from pytest_personalens.reports.html import overview
from pytest_personalens.reports.tables.contexts import contexts_of, is_ablation
from pytest_personalens.results.means import Estimate, estimate, item_scores
from pytest_personalens.results.wording import NO_INTERVAL, ends_text, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.reports.charts.charts import Histogram
    from pytest_personalens.reports.html.overview import OverviewLine
    from pytest_personalens.results.values.changes import Arm
    from pytest_personalens.results.values.results import Results

#: A mean over fewer scenarios has an interval nearly as wide as its scale.
LEAST_FOR_A_CHART: Final = 5


def fills_a_row(line: OverviewLine) -> bool:
    """False for a group of so few scenarios that its mean says little, however often they ran."""
    return max((e.scenarios for e in line.estimates), default=0) >= LEAST_FOR_A_CHART


def tile_of(results: Results, dimension: Measure, value: Estimate) -> dict[str, Any]:
    """The big figure of a dimension: its estimate, the floor of its gate, and its place on the scale."""
    floor, name = overview.floors(results).get(dimension), dimension.names.mean
    if dimension.in_steps:
        panel = overview.panel(dimension, floor=floor)
    else:
        panel = overview.open_panel(dimension, [value, Estimate(floor)])._replace(colour=SOFT, floor=floor)
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


def charts_of(
    results: Results,
    dimensions: Sequence[Measure],
    domains: Sequence[OverviewLine],
    turns: Sequence[Estimate],
    shown: Sequence[Histogram],
) -> dict[str, Any]:
    """The charts that the run has, by name: domains, arms, contexts, scores, turns and trials."""
    drawn: dict[str, Any] = {}
    own, main = overview.panels(results, of_run=True), overview.main_measures(results)
    names = " and ".join(_called(measure) for measure in main)
    large = [line for line in domains if fills_a_row(line)]
    # Kinds with measures of their own have a chart each.
    if own and large and not results.of_suite.table_by_kind:
        drawn["domains"] = charts.dots(
            overview.domain_rows(large, dimensions, main),
            own,
            f"{names} by domain, the lowest first, with 95 % intervals",
        )
    word = results.of_suite.arm_word
    panels = [overview.panel(measure) for measure in main]
    if pairs := [row for arm in results.arms if (row := _pair(arm, word(arm.name), main)) is not None]:
        drawn["arms"] = charts.pairs(pairs, panels, f"{names} with another context and with this user's")
    if is_ablation(results):
        drawn["contexts"] = charts.bars(
            _contexts(results, main), panels, f"{names} by what the assistant knew"
        )
    if shown:
        drawn["scores"] = charts.histograms(shown, "How often each score was given, by dimension")
    if turns:
        scale = overview.panel(Dimension.PERSONALIZATION_TURNS)
        title = "Mean personalization after each turn of the assistant, with 95 % intervals"
        below = "turn of the assistant (dialogues that have it)"
        drawn["turns"] = charts.line(turns, scale, title, below=below, counts=True)
    if results.trials and any(value is not None for value in results.trials.pass_k):
        rates = [Estimate(value, dialogues=1) for value in results.trials.pass_k]
        title = f"Chance that a {results.of_suite.item} passes in k trials out of k"
        drawn["trials"] = charts.line(rates, overview.panel(Dimension.TASK_COMPLETION), title, below="k")
    return drawn


def _called(measure: Measure) -> str:
    """A mean in a title: by its short name where that is a word of its own."""
    name = measure.names.mean
    return name if len(name) > 1 else measure.names.mean_of


def _pair(arm: Arm, word: str, shown: Sequence[Measure]) -> charts.PairRow | None:
    """The means of a control, called `word`, and of the run over the scenarios that both scored."""
    by_dimension = {lift.dimension: lift for lift in arm.lift}
    lifts = [by_dimension.get(dimension) for dimension in shown]
    if not any(lifts):
        return None
    last = lifts[-1]
    note = "" if last is None else signed(last.gain[0]).replace("-", "\N{MINUS SIGN}")
    pairs = [None if lift is None else (lift.before, lift.after) for lift in lifts]
    return charts.PairRow(word, note, pairs)


def _contexts(results: Results, shown: Sequence[Measure]) -> list[charts.DotRow]:
    rows = []
    for setting in contexts_of(results):
        read = item_scores(setting.items)
        rows.append(charts.DotRow(setting.short, f"{len(read):,}", [estimate(read, d) for d in shown]))
    return rows
