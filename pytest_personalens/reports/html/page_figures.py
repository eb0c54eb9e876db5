"""The figures of the page: the big ones, estimates by group, and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.findings import capital
from pytest_personalens.reports.content.kind_tables import by_distance
from pytest_personalens.results.means import Estimate, estimate
from pytest_personalens.results.reasons.reasons import COSTS, reason_counts
from pytest_personalens.results.wording import control_names, ends_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.reasons.reasons import ReasonCount
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_SINCE: Final = {"baseline": "the baseline", "record": "the records"}


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
        scored = sum(item.evaluation.scored for item in items)
        rows.append(FiguresRow(name, len(items), scored, [estimate(items, d) for d in dimensions]))
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
    return {
        "dimension": dimension,
        "name": name,
        "what": ", ".join(about),
        "estimate": value,
        "floor": floor,
    }


def interval_text(value: Estimate) -> str:
    """The two ends; negative ones come with a true minus sign."""
    if value.low is None or value.high is None:
        return "\N{EN DASH}"
    return ends_text(value.low, value.high).replace("-", "\N{MINUS SIGN}")


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
    sources = {earlier.source for item in results.own if (earlier := item.earlier) is not None}
    since = " and ".join(_SINCE[source] for source in sorted(sources))
    for measure in sorted((m for m in results.of_suite.measures if m in COSTS), key=lambda m: m != first):
        if counts := sorted(reason_counts(results.own, measure), key=lambda r: -r.dialogues):
            known = counts[0].known == counts[0].scored
            charts.append(ReasonChart(measure, counts, since if known else ""))
    return charts
