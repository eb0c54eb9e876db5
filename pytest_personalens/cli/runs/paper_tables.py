"""The options with which a command makes a table of the paper from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.reports.tables.assistants import (
    assistant_tables,
    context_tables,
    read_rows,
    user_tables,
)
from pytest_personalens.reports.tables.dialogues import (
    diversity_tables,
    domain_tables,
    length_tables,
    turn_tables,
)
from pytest_personalens.reports.tables.runs import stored_runs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_personalens.reports.tables.runs import PaperTable
    from pytest_personalens.results.values.results import Results

_TABLES: Final = {4: context_tables, 10: diversity_tables, 12: user_tables, 13: length_tables}
#: Tables that cannot be made from the results of a run, and the command that makes each.
_ELSEWHERE: Final = {
    1: "check-dataset DATA --details",
    5: "agreement LABELS.jsonl",
    6: "check-dataset DATA --details",
    7: "check-dataset DATA --details",
    8: "check-dataset DATA --table 8",
    9: "check-dataset DATA --table 9",
}
_PROGRAM: Final = "personalens"
_NOT_HELD: Final = "what else the paper has, no run's results hold"


def check_table_options(options: argparse.Namespace) -> bool:
    """Return whether the command line asks for a table.

    Raise `SpecError` for options that exclude each other, and for a table that this package does not make.
    """
    table, figure, kind = options.table, options.figure, options.kind
    problems = {
        "--beside: the rows are printed in Table 3; give --table 3 too": options.beside is not None
        and table != 3,
        "--kind: it is of --figure 4 and --figure 5; give one of them too": kind is not None
        and figure is None,
        f"--kind: expected single, multi or all, not {kind!r}": kind not in (None, "single", "multi", "all"),
        "--table, --figure: give one of them": table is not None and figure is not None,
        f"--table {table}: not made of a run's results: {_PROGRAM} {_ELSEWHERE.get(table)}": (
            table in _ELSEWHERE
        ),
        f"--table {table}: expected 3, 4, 10, 12 or 13; {_NOT_HELD}": table not in (None, 3, *_TABLES),
        f"--figure {figure}: expected 4 or 5; {_NOT_HELD}": figure not in (None, 4, 5),
    }
    for problem, holds in problems.items():
        if holds:
            raise SpecError(problem)
    return table is not None or figure is not None


def make_tables(options: argparse.Namespace, results: Sequence[tuple[Path, Results]]) -> list[PaperTable]:
    """Return the tables that the command line asks for."""
    runs = stored_runs(results)
    if options.figure is not None:
        if options.figure == 4:
            return domain_tables(runs, options.kind or "single")
        return turn_tables(runs, options.kind or "all")
    if options.table == 3:
        return assistant_tables(runs, () if options.beside is None else read_rows(options.beside))
    return _TABLES[options.table](runs)
