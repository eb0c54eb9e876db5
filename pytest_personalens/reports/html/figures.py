"""The figures of the page: estimates by group, reasons, and where the marks of its two charts are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.findings import capital
from pytest_personalens.reports.content.kind_tables import by_distance
from pytest_personalens.results.means import Estimate, estimate, item_scores
from pytest_personalens.results.reasons.reasons import COSTS, earlier_of, reason_counts
from pytest_personalens.results.wording import NO_INTERVAL, control_names, ends_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.reasons.reasons import ReasonCount
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_TURNS: Final = Dimension.PERSONALIZATION_TURNS
#: The colours of marks, as classes of the page's style.
_COLOURS: Final[dict[Measure, str]] = {
    Dimension.TASK_COMPLETION: "tc",
    Dimension.PERSONALIZATION: "p",
    _TURNS: "p",
}
_SINCE: Final = {"baseline": "the baseline", "record": "the records"}
#: In CSS pixels: as wide as a phone has room for, so that text can be read there.
_WIDTH: Final = 400
#: Points of a line that have their figure beside them.
_MOST_TOLD: Final = 7


class FiguresRow(NamedTuple):
    """A row of a table of figures: counts of its items, and an estimate for each dimension."""

    name: str
    items: int
    scored: int
    estimates: Sequence[Estimate]


def group_rows(results: Results, dimensions: Sequence[Measure]) -> dict[str, list[FiguresRow]]:
    """Return the figures by what they are of: the whole run and its kinds, domains, distances, controls.

    The domains with the lowest means come first. There are no rows of controls without controls.
    """
    own, suite = results.own, results.of_suite
    groups: dict[str, Sequence[Item]] = {"All": own}
    for kind in [g.name for g in results.kinds] if len(results.kinds) > 1 else []:
        groups[suite.kind_name(kind)] = [i for i in own if i.evaluation.kind == kind]
    by_domain = {g.name: [i for i in own if g.name in i.evaluation.domains] for g in results.domains}
    main = [dimensions.index(measure) for measure in suite.main if measure in dimensions]
    domains = _rows(by_domain, dimensions)
    domains.sort(key=lambda row: [row.estimates[n].value or 0.0 for n in reversed(main)])
    names = control_names(suite)
    found = ["", *(control.name for control in results.controls)] if results.controls else []
    controls = {capital(names[name]): [i for i in results.items if i.control == name] for name in found}
    return {
        "whole": _rows(groups, dimensions),
        "domains": domains,
        "distances": _rows(by_distance(results, own), dimensions),
        "controls": _rows(controls, dimensions),
    }


def _rows(groups: Mapping[str, Sequence[Item]], dimensions: Sequence[Measure]) -> list[FiguresRow]:
    rows = []
    for name, items in groups.items():
        read = item_scores(items)
        rows.append(FiguresRow(name, len(items), len(read), [estimate(read, d) for d in dimensions]))
    return rows


def tile_measures(results: Results) -> list[Measure]:
    """Return the measures with a big figure: of scores with steps, those that any dialogue has.

    In a suite with a table for each kind, these are all main ones.
    """
    suite, figures = results.of_suite, results.overall.figures
    if suite.table_by_kind:
        return list(suite.main)
    stepped = [d for d in suite.main if d.in_steps]
    return [d for d in stepped if d.value in figures and figures[d.value].count] or stepped


def tile_of(results: Results, dimension: Measure, value: Estimate) -> dict[str, Any]:
    metric, name = results.of_suite.metric_of(dimension), dimension.names.mean
    floor = next((g.limit for g in results.gates if g.kind == "floor" and g.name == metric), None)
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
        "strip": _strip(dimension, value, floor),
        "title": f"{name} {shown}, {between}",
    }


def interval_text(value: Estimate) -> str:
    """The two ends; negative ones come with a true minus sign."""
    if value.low is None or value.high is None:
        return "\N{EN DASH}"
    return ends_text(value.low, value.high).replace("-", "\N{MINUS SIGN}")


def _strip(measure: Measure, value: Estimate, floor: float | None) -> dict[str, Any]:
    """Where an estimate lies on its scale; a scale without an end reaches as far as the interval does."""
    shown = [end for end in (*value[:3], floor) if end is not None]
    low = math.floor(min(shown, default=0)) if measure.low is None else measure.low
    high = math.ceil(max(shown, default=1)) if measure.high is None else measure.high
    high = max(high, low + 1)

    def across(one: float | None) -> float | None:
        return None if one is None else round(6 + 208 * (one - low) / (high - low), 1)

    steps = range(int(low), int(high) + 1) if measure.in_steps and high > low + 1 else ()
    ticks = [(across(tick), f"{tick:g}") for tick in steps or (low, (low + high) / 2, high)]
    at, begin, end, limit = map(across, (*value[:3], floor))
    colour = _COLOURS.get(measure, "other")
    return {"colour": colour, "ticks": ticks, "at": at, "low": begin, "high": end, "floor": limit}


def turns_chart(turns: Sequence[Estimate]) -> dict[str, Any]:
    """Where personalization stood after turn 1, 2, ..., each with its interval and number of dialogues."""
    left, top, tall, foot = 30, 14, 190, 58
    step, named_every = (_WIDTH - left - 12) / max(len(turns), 2), -(-len(turns) // _MOST_TOLD)
    low, high = _TURNS.scale

    def y(value: float) -> float:
        return round(top + 6 + (tall - 12) * (high - value) / (high - low), 1)

    points: list[dict[str, Any]] = []
    joined: list[list[str]] = []
    before: Estimate | None = None
    for number, turn in enumerate(turns):
        if turn.value is None:
            before = None
            continue
        x, named = round(left + step * (number + 0.5), 1), number % named_every == 0
        ends = [None if end is None else y(end) for end in (turn.low, turn.high)]
        words = [str(number + 1), f"({turn.dialogues:,})"] if named else []
        place = {"x": x, "y": y(turn.value), "low": ends[0], "high": ends[1]}
        points.append({**place, "text": f"{turn.value:.2f}" if named else "", "below": words})
        # A line between means over other dialogues would show who is left, not what changed.
        if before is None or before.dialogues != turn.dialogues:
            joined.append([])
        joined[-1].append(f"{x},{y(turn.value)}")
        before = turn
    ticks = [(y(tick), f"{tick:g}") for tick in range(low, high + 1)]
    lines = [" ".join(places) for places in joined if len(places) > 1]
    return {
        "height": top + tall + foot,
        "left": left,
        "base": top + tall,
        "ticks": ticks,
        "points": points,
        "lines": lines,
    }


class ReasonChart(NamedTuple):
    """What speaks against one reading, the commonest first.

    `since` says what the changes are held against. It is empty where that is not known of every dialogue: a
    change over a part of them would stand beside counts over all.
    """

    dimension: Measure
    reasons: list[ReasonCount]
    since: str


def reason_charts(results: Results) -> list[ReasonChart]:
    """Return the reasons on each reading that has any, personalization first."""
    charts, first = [], Dimension.PERSONALIZATION
    sources = {earlier.source for item in results.own if (earlier := earlier_of(item)) is not None}
    since = " and ".join(_SINCE[source] for source in sorted(sources))
    for measure in sorted((m for m in results.of_suite.measures if m in COSTS), key=lambda m: m != first):
        if counts := sorted(reason_counts(results.own, measure), key=lambda r: -r.dialogues):
            known = counts[0].known == counts[0].scored
            charts.append(ReasonChart(measure, counts, since if known else ""))
    return charts
