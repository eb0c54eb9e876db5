"""Stored runs in one table, by assistant. These are Table 3, and Table 12 of the user agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.markup import figure
from pytest_personalens.reports.tables.measured import SHORT, Column, Measured, differences
from pytest_personalens.reports.tables.published import PAPER, published, slips
from pytest_personalens.reports.tables.runs import (
    likeness,
    reading_counts,
    scenario_counts,
    unlike_each_other,
)
from pytest_personalens.reports.tables.table import PaperTable, of_paper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.reports.tables.rows_file import OtherRow
    from pytest_personalens.reports.tables.runs import StoredRun

_OF_ASSISTANT: Final = {
    "tcr": Dimension.TASK_COMPLETION,
    "p": Dimension.PERSONALIZATION,
    "nat": Dimension.NATURALNESS_ASSISTANT,
    "coh": Dimension.COHERENCE_ASSISTANT,
}
_OF_USER: Final = {"nat": Dimension.NATURALNESS_USER, "coh": Dimension.COHERENCE_USER}


def _columns(scores: dict[str, Dimension]) -> list[Column]:
    return [
        Column(f"{short.lower()}_{key}", kind, d)
        for kind, short in SHORT.items()
        for key, d in scores.items()
    ]


def assistant_tables(runs: Sequence[StoredRun], beside: Sequence[OtherRow] = ()) -> list[PaperTable]:
    """Return Table 3, and for several runs their differences. The table has a row for each run, the rows of
    `beside`, and the paper's rows. The columns are the task completion rate in percent, mean personalization,
    and the assistant's naturalness and coherence, for single-domain (SD) and multi-domain (MD) tasks.
    """
    given_rows = [
        (row.name, *(figure(row.figures[column.key]) for column in _columns(_OF_ASSISTANT))) for row in beside
    ]
    legend = "TCR in percent, P from 1 to 4; Nat and Coh, of the assistant, from 1 to 5."
    more = ["Rows that --beside gave are as their file has them."] if beside else []
    return _tables(
        runs,
        3,
        "assistants beside each other",
        _OF_ASSISTANT,
        [*scenario_counts(runs), *reading_counts(runs), legend, *more],
        given_rows,
    )


def user_tables(runs: Sequence[StoredRun]) -> list[PaperTable]:
    """Return Table 12: naturalness and coherence of the user agent. There is a row for each run. The paper
    has these scores only for single-domain tasks.
    """
    legend = "Nat and Coh, of the user agent, from 1 to 5; the paper has them for SD tasks."
    return _tables(
        runs,
        12,
        "the user agent, by assistant",
        _OF_USER,
        [*scenario_counts(runs), *reading_counts(runs), legend],
        [],
    )


def _tables(
    runs: Sequence[StoredRun],
    number: int,
    what: str,
    scores: dict[str, Dimension],
    notes: Sequence[str],
    given_rows: Sequence[tuple[str, ...]],
) -> list[PaperTable]:
    columns, rows = _columns(scores), [Measured(run.name, run.results.own) for run in runs]
    paper = [
        (f"{PAPER}{name}", *(row.get(c.key, "-") for c in columns)) for name, row in published(number).items()
    ]
    main = PaperTable(
        of_paper(f"Table {number}", what),
        ("", *(column.heading for column in columns)),
        (*(row.cells(columns) for row in rows), *given_rows, *paper),
        (*notes, *likeness(runs), *slips(number)),
    )
    apart = differences(rows[1:], rows[0], columns, f"Differences from {rows[0].name}")
    if apart is None:
        return [main]
    return [main, apart._replace(notes=(*apart.notes, *unlike_each_other(runs)))]
