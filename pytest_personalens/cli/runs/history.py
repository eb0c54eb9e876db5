"""The command ``history``: shows several runs as a table, a page and a badge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command, report_files
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import file_kind, writable
from pytest_personalens.core.files.jsonfile import schema_of
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.charts.history import badge_svg
from pytest_personalens.reports.content.history import history_markdown, table_lines
from pytest_personalens.reports.html.history import history_page
from pytest_personalens.results.files.history import history_of
from pytest_personalens.results.files.stored import read_computed
from pytest_personalens.results.values.results import RESULTS_SCHEMA

if TYPE_CHECKING:
    import argparse

    from pytest_personalens.results.values.results import Results


@command("history")
def main(options: argparse.Namespace) -> int:
    """Return 0, whatever the result of the gates, or 4 if something cannot be read or written."""
    paths = [path for named in options.results for path in _results_files(named)]
    badge: Path | None = options.badge
    pages = report_files(
        options.report, {str(path): path for path in paths}, [("--badge", badge)] if badge else []
    )
    if badge:
        writable(badge, "--badge", kind="badge")
    history = history_of(((str(path), _read_whole_run(path)) for path in paths), branch=options.branch or "")
    for path in pages:
        write_atomically(path, (history_page if file_kind(path) == "html" else history_markdown)(history))
        print(harmless(f"report: {path}"))
    if badge:
        write_atomically(badge, badge_svg(history))
        print(harmless(f"badge: {badge}"))
    print(*table_lines(history), sep="\n")
    return 0


def _results_files(named: Path) -> list[Path]:
    """Return the file itself, or the results files in and below a folder, in the order of their paths."""
    if not named.is_dir():
        return [named]
    paths = [path for path in sorted(named.rglob("*.json")) if schema_of(path) == RESULTS_SCHEMA]
    if not paths:
        raise SpecError(
            f"{named}: no results file is in this folder; write them with --personalens-report PATH.json"
        )
    return paths


def _read_whole_run(path: Path) -> Results:
    results = read_computed(path)
    if shard := results.settings.get("shard"):
        raise SpecError(
            f"{path}: holds shard {shard[0]} of {shard[1]} alone; put the shards together with `merge`"
        )
    return results
