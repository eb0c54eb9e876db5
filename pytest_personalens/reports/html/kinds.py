"""The page's section for each kind of item: its figures, and charts by domain and by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.reports.charts import charts
from pytest_personalens.reports.content.kind_tables import by_distance, kind_tables
from pytest_personalens.reports.html.page_charts import open_panel
from pytest_personalens.results.means import estimate, item_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.reports.charts.charts import RowChart
    from pytest_personalens.reports.content.kind_tables import KindTable
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


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
