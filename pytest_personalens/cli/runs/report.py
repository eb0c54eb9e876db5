"""The command ``python -m pytest_personalens report RESULTS.json...``.

It shows stored results as a summary, a page, Markdown or a table of the paper.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, errors_told, report_of, tell
from pytest_personalens.cli.runs.paper_tables import add_table_options, asks_for_tables, tables_of
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import GITHUB
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.two_runs import beside_lines, compare_runs
from pytest_personalens.reports.files import Files, check_files, write_files
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.reports.terminal.failure_layout import gate_failure
from pytest_personalens.reports.terminal.summary import summary_lines
from pytest_personalens.results.comparison.baseline import baseline_of, terms_of
from pytest_personalens.results.comparison.with_baseline import compare_with_baseline
from pytest_personalens.results.files.stored import read_computed
from pytest_personalens.results.reasons.before_run import with_earlier, with_messages
from pytest_personalens.results.reasons.explanation import explanations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.results.values.results import Results

_MOST_LISTED: Final = 20
_LEVEL: Final = 0.05
_WIDTH: Final = 100
_STDOUT: Final = "-"


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0, whatever the result of the gates, because a report decides no gate. Return 4 if the input cannot
    be read or reported on.
    """
    options = _parser().parse_args(arguments)
    of_paper, paths = asks_for_tables(options), list(options.results)
    if len(paths) > 2 and not of_paper:
        raise SpecError(
            f"{paths[2]}: a report holds one run against another; for more of them give --table or --figure"
        )
    read = [(path, read_computed(path)) for path in paths]
    results, before = read[0][1], None
    if len(read) > 1 and not of_paper:
        before = read[1][1]
        results = _compared(results, before, str(paths[1]))
    to_stdout = _STDOUT in options.report
    files = Files.of(path for path in options.report if path != _STDOUT)
    tables = files.kind("markdown") if of_paper else []
    known = dict(zip(["this command", "BEFORE.json", *map(str, paths[2:])], paths, strict=False))
    known |= {} if options.beside is None else {"--beside": options.beside}
    check_files(files, "--", read=known)
    pages = files._replace(reports=tuple(path for path in files.reports if path not in tables))
    if len(paths) > 1 and of_paper and pages.reports:
        raise SpecError(
            f"--report: {pages.reports[0]} would be of one run alone; leave it or --table and --figure out"
        )
    made = tables_of(options, read) if of_paper else []
    written = write_files(results, pages, before=before)
    for line in (*written.done, *written.annotations):
        print(line, file=sys.stderr if to_stdout else sys.stdout)
    if of_paper:
        page = "\n".join(table.markdown() for table in made)
        for path in tables:
            write_atomically(path, page)
        if to_stdout or not tables:
            _print(page if to_stdout else "\n".join(table.text() for table in made))
    elif to_stdout:
        _print(markdown_report(results, before=before))
    elif not options.report:
        for line in _summary(results, before, verbose=options.verbose):
            print(harmless(line))
    return tell([harmless(problem) for problem in written.problems])


def _compared(results: Results, before: Results, name: str) -> Results:
    """Return the results with the paired test against `before`.

    The test is made only if both runs are complete and only the assistant can have changed. Else the
    dialogues of both are shown side by side, and no more.
    """
    whole = all(run.complete and not run.settings.get("shard") for run in (results, before))
    comparison = None
    try:
        baseline = baseline_of(before)
        if whole and results.own and not baseline.refuses(terms_of(results)):
            results = with_earlier(results, baseline)
            comparison = compare_with_baseline(baseline, results, name=name, level=_LEVEL, margins={})
    except SpecError:
        pass  # nothing was scored: the figures are still shown side by side
    if comparison is None:
        results = with_messages(results, before)
    return results.model_copy(update={"comparison": comparison})


def _summary(results: Results, before: Results | None, *, verbose: bool) -> Iterator[str]:
    drawn = f"{results.drawn} {results.of_suite.item}s"
    yield f"personalens: {results.overall.items} items over {drawn} of {results.dataset}"
    explained_gates = explanations(results)
    for explained in explained_gates:
        yield f"gate {explained.gate.name}:"
        yield from gate_failure(explained, results, results.scenarios, width=_WIDTH)
        yield ""
    lines = summary_lines(results, verbose=verbose, explained=bool(explained_gates))
    yield from (text for text, _ in lines)
    if before is not None:
        yield ""
        yield from beside_lines(compare_runs(before, results), most=None if verbose else _MOST_LISTED)


def _print(text: str) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            encoding="utf-8"
        )  # the output goes to a file or another program, not to the terminal
    print(text, end="")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens report",
        description=(
            "Report on the results of a run, or of two, or make a table of the paper. The exit code is 0"
            " whatever the gates said."
        ),
        example="personalens report --table 3 haiku.json sonnet.json --report table.md",
    )
    parser.usage = (
        "python -m pytest_personalens report [options] RESULTS.json [BEFORE.json]\n       python -m"
        " pytest_personalens report --table N|--figure N RESULTS.json..."
    )
    parser.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS.json",
        help="JSON results of runs; a second is the one to hold the first against",
    )
    parser.add_argument(
        "--report",
        type=report_of(("html", "markdown"), _STDOUT, GITHUB),
        action="append",
        default=[],
        metavar="PATH|-|github",
        help=(
            "write a page (PATH.html) or Markdown for a comment on a pull request"
            " (PATH.md; -: to standard output); github: the summary of the step and annotations, in GitHub"
            " Actions; may be repeated"
        ),
    )
    parser.refuse("html", "markdown")
    add_table_options(parser)
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="every item below its threshold, and every score that differs",
    )
    return parser
