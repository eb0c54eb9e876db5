"""The command ``python -m pytest_personalens history RESULTS.json...``.

It shows several runs as a table, a page and a badge.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import Parser, errors_told, report_of
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import file_kind, refuse_shared_files, writable
from pytest_personalens.core.files.jsonfile import schema_of
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.charts.history import badge_svg
from pytest_personalens.reports.content.history import history_markdown, table_lines
from pytest_personalens.reports.html.history import history_page
from pytest_personalens.results.files.history import history_of
from pytest_personalens.results.files.stored import read_computed
from pytest_personalens.results.values.results import RESULTS_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.files.history import History
    from pytest_personalens.results.values.results import Results


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0, whatever the result of the gates. Return 4 if something cannot be read or written.
    """
    options = _parser().parse_args(arguments)
    paths = [path for named in options.results for path in _files(named)]
    pages = [Path(path) for path in options.report]
    written = [("--report", path) for path in pages]
    written += [("--badge", options.badge)] if options.badge else []
    refuse_shared_files(written, dict(zip(map(str, paths), paths, strict=True)))
    for path in pages:
        writable(path, "--report", kind=str(file_kind(path)))
    if options.badge:
        writable(options.badge, "--badge", kind="badge")
    history = history_of(((str(path), _whole(path)) for path in paths), branch=options.branch or "")
    _write(history, pages, options.badge)
    for line in table_lines(history):
        print(line)
    return 0


def _write(history: History, pages: Sequence[Path], badge: Path | None) -> None:
    for path in pages:
        make = history_page if file_kind(path) == "html" else history_markdown
        write_atomically(path, make(history))
        print(harmless(f"report: {path}"))
    if badge:
        write_atomically(badge, badge_svg(history))
        print(harmless(f"badge: {badge}"))


def _files(named: Path) -> list[Path]:
    """Return the file itself, or the results files in and below a folder.

    The files have the order of their paths. Raise `SpecError` if a folder has no results file.
    """
    if not named.is_dir():
        return [named]
    paths = [path for path in sorted(named.rglob("*.json")) if schema_of(path) == RESULTS_SCHEMA]
    if not paths:
        raise SpecError(
            f"{named}: no results file is in this folder; write them with --personalens-report PATH.json"
        )
    return paths


def _whole(path: Path) -> Results:
    results = read_computed(path)
    if shard := results.settings.get("shard"):
        raise SpecError(
            f"{path}: holds shard {shard[0]} of {shard[1]} alone; put the shards together with `merge`"
        )
    return results


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens history",
        description=(
            "Show the runs in the order of their commits: TCR and P with intervals, gates, and where judge,"
            " data, sample or gates changed. The exit code is 0 whatever the gates said."
        ),
        example="personalens history results/ --branch main --report history.html --badge badge.svg",
    )
    parser.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS.json|FOLDER",
        help="JSON results of runs, or folders of them",
    )
    parser.add_argument("--branch", metavar="NAME", help="the runs of this branch alone")
    parser.add_argument(
        "--report",
        type=report_of(("html", "markdown")),
        action="append",
        default=[],
        metavar="PATH",
        help="write a page (PATH.html) or the table (PATH.md); may be repeated",
    )
    parser.add_argument(
        "--badge", type=Path, metavar="PATH.svg", help="write the last run's TCR and P as a badge"
    )
    return parser
