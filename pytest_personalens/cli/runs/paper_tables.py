"""The options with which a command makes a table of the paper from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.reports.tables.assistants import assistant_tables, read_rows, user_tables
from pytest_personalens.reports.tables.contexts import context_tables
from pytest_personalens.reports.tables.dialogues import (
    diversity_tables,
    domain_tables,
    length_tables,
    turn_tables,
)
from pytest_personalens.reports.tables.published import published_tables
from pytest_personalens.reports.tables.runs import stored_runs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_personalens.reports.tables.dialogues import Kinds
    from pytest_personalens.reports.tables.table import PaperTable
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


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Declare --table, --figure, --published, --kind and --beside."""
    parser.add_argument("--table", type=int, metavar="N", help="as Table 3, 4, 10, 12 or 13 of the paper")
    parser.add_argument("--figure", type=int, metavar="N", help="as Figure 4 (by domain) or 5 (by turn)")
    parser.add_argument("--kind", metavar="KIND", help="tasks of a --figure: single, multi or all")
    parser.add_argument(
        "--published", action="store_true", help="predictions beside the figures of PersonaConvBench's README"
    )
    parser.add_argument("--beside", type=Path, metavar="FILE.csv", help="more rows for --table 3")


def asks_for_tables(options: argparse.Namespace) -> bool:
    """True if the command line asks for a table.

    Raise `SpecError` for options that exclude each other, and for a table that this package does not make.
    """
    if options.beside is not None and options.table != 3:
        raise SpecError("--beside: the rows are printed in Table 3; give --table 3 too")
    if options.kind is not None and options.figure is None:
        raise SpecError("--kind: it is of --figure 4 and --figure 5; give one of them too")
    if options.kind not in (None, "single", "multi", "all"):
        raise SpecError(f"--kind: expected single, multi or all, not {options.kind!r}")
    if (options.table is not None) + (options.figure is not None) + options.published > 1:
        raise SpecError("--table, --figure, --published: give one of them")
    if options.table in _ELSEWHERE:
        raise SpecError(
            f"--table {options.table}: not made of a run's results: python -m pytest_personalens"
            f" {_ELSEWHERE[options.table]}"
        )
    if options.table not in (None, 3, *_TABLES):
        raise SpecError(
            f"--table {options.table}: expected 3, 4, 10, 12 or 13; what else the paper has, no run's results"
            " hold"
        )
    if options.figure not in (None, 4, 5):
        raise SpecError(
            f"--figure {options.figure}: expected 4 or 5; what else the paper has, no run's results hold"
        )
    return options.table is not None or options.figure is not None or options.published


def tables_of(options: argparse.Namespace, read: Sequence[tuple[Path, Results]]) -> list[PaperTable]:
    """Return the requested tables, made from the results that were `read`."""
    runs = stored_runs(read)
    if options.published:
        return published_tables(runs)
    if options.figure is not None:
        kinds: Kinds | None = options.kind
        return (
            domain_tables(runs, kinds or "single")
            if options.figure == 4
            else turn_tables(runs, kinds or "all")
        )
    if options.table == 3:
        return assistant_tables(runs, () if options.beside is None else read_rows(options.beside))
    return _TABLES[options.table](runs)
