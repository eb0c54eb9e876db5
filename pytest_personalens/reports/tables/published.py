"""The figures of runs beside published ones, in a table for each kind of item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.reports.content.kind_tables import kind_tables
from pytest_personalens.reports.tables.table import PaperTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.suite.panels import Published
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.reports.tables.runs import StoredRun

#: The name of a row, and its figures by metric.
Row = tuple[str, "Mapping[str, float | None]"]


def published_tables(runs: Sequence[StoredRun]) -> list[PaperTable]:
    """Return the figures of each kind of the runs, in all their settings, beside the published ones. Raise
    `SpecError` for a run of a suite without published figures.
    """
    rows: dict[str, list[Row]] = {}
    notes: dict[str, dict[str, None]] = {}
    published: dict[str, tuple[Suite, Published]] = {}
    for run in runs:
        suite, settings = run.results.of_suite, run.results.settings
        for table in kind_tables(run.results):
            found = suite.published(table.kind, settings)
            if found is None:
                break
            published[table.kind] = suite, found
            notes.setdefault(table.kind, {}).update(dict.fromkeys(found.notes))
            rows.setdefault(table.kind, []).extend(
                (
                    f"{run.name}: {setting}, {table.items} items",
                    {row.metric.name: (row.own, *(c.value for c in row.cells))[at] for row in table.rows},
                )
                for at, setting in enumerate(table.settings)
            )
        else:
            continue
        raise SpecError(f"--published: {run.name} is of {suite.name}; its paper's tables are --table N")
    return [
        table_with_published(suite, kind, rows[kind], found._replace(notes=tuple(notes[kind])))
        for kind, (suite, found) in published.items()
    ]


def table_with_published(suite: Suite, title: str, ours: Sequence[Row], found: Published) -> PaperTable:
    """Return the rows of `ours`, and below them the published ones. Figures with an upper end have four
    decimals, and others two, as they are published.
    """
    metrics = [metric for name in found.metrics if (metric := suite.metric(name)) is not None]
    places = {metric.name: 2 if metric.high is None else 4 for metric in metrics}
    rows = [(name, *(_shown(figures.get(m), places[m]) for m in places)) for name, figures in ours]
    rows += [(name, *figures) for name, figures in found.rows]
    header = ("", *(metric.label for metric in metrics))
    return PaperTable(f"{title}, beside published figures", header, tuple(rows), found.notes)


def _shown(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
