"""``python -m pytest_personalens report RESULTS.json...``: stored results as a summary, a page, Markdown or a table of the paper."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, errors_told, tell
from pytest_personalens.cli.paper_tables import add_table_options, asks_for_tables, tables_of
from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.destinations import refuse_shared_files, writable
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.reports.beside import beside_lines, side_by_side
from pytest_personalens.reports.files import Files, checked, write_files
from pytest_personalens.reports.markdown import markdown_report
from pytest_personalens.reports.terminal import summary_lines
from pytest_personalens.results.baseline import baseline_of, terms_of
from pytest_personalens.results.comparison import compare_with_baseline
from pytest_personalens.results.values import Results, read_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_LISTED: Final = 20
_LEVEL: Final = 0.05
_STDOUT: Final = Path("-")


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, whatever the gates said, for a report is none; or 4 for what cannot be read or reported on."""
    options = _parser().parse_args(arguments)
    tables = asks_for_tables(options)
    files = list(options.results)
    if len(files) > 2 and not tables:
        raise SpecError(f"{files[2]}: a report holds one run against another; for more of them give --table or --figure")
    if len(files) > 1 and tables and options.html is not None:
        raise SpecError("--html: a page is of one run; leave --table and --figure out")
    read = [(path, read_results(path)) for path in files]
    results, before = read[0][1], None
    if len(read) > 1 and not tables:
        before = read[1][1]
        results = _compared(results, before, str(files[1]))
    page = options.markdown if not tables and options.markdown != _STDOUT else None
    known = dict(zip(["this command", "BEFORE.json", *map(str, files[2:])], files, strict=False))
    known |= {} if options.beside is None else {"--beside": options.beside}
    written = write_files(results, checked(Files(html=options.html, markdown=page), lambda name: f"--{name}", read=known), before=before)
    for line in written.done:
        print(line, file=sys.stderr if options.markdown == _STDOUT else sys.stdout)
    if tables:
        if options.markdown not in (None, _STDOUT):
            refuse_shared_files({"--markdown": options.markdown, **({"--html": options.html} if options.html else {})}, known)
        made = tables_of(options, read)
        _put("\n".join(t.text() if options.markdown is None else t.markdown() for t in made), options.markdown or _STDOUT)
    elif options.markdown == _STDOUT:
        _put(markdown_report(results, before=before), _STDOUT)
    elif options.markdown is options.html is None:
        for line in _summary(results, before, verbose=options.verbose):
            print(harmless(line))
    return tell([harmless(problem) for problem in written.problems])


def _compared(results: Results, before: Results, name: str) -> Results:
    """The results with the paired test against `before`, if both are whole and nothing but the assistant can have changed."""
    whole = all(run.complete and not run.settings.get("shard") for run in (results, before))
    comparison = None
    try:
        baseline = baseline_of(before)
        if whole and results.own and not baseline.refuses(terms_of(results)):
            comparison = compare_with_baseline(baseline, results, name=name, level=_LEVEL, margins={})
    except SpecError:
        pass  # nothing was scored; the figures stand side by side
    return results.model_copy(update={"comparison": comparison})


def _summary(results: Results, before: Results | None, *, verbose: bool) -> Iterator[str]:
    yield f"personalens: {results.overall.items} items over {results.drawn} scenarios of {results.dataset}"
    yield from (text for text, _ in summary_lines(results, verbose=verbose))
    if before is not None:
        yield ""
        yield from beside_lines(side_by_side(before, results), most=None if verbose else _MOST_LISTED)


def _put(text: str, path: Path) -> None:
    if path != _STDOUT:
        write_atomically(writable(path, "--markdown", kind="markdown"), text)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # it goes to a file or another program, whatever the terminal can show
    print(text, end="")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens report",
        usage="personalens report [options] RESULTS.json [BEFORE.json]\n       personalens report --table N|--figure N RESULTS.json...",
        description="Report on the results of a run, or of two, or make a table of the paper. The exit code is 0 whatever the gates said.",
        epilog="example: personalens report --table 3 haiku.json sonnet.json",
    )
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="RESULTS.json",
        help="results of runs; a second is the one to hold the first against",
    )  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one HTML page (needs the extra html)")
    parser.add_argument("--markdown", type=Path, metavar="FILE|-", help="write Markdown, of a size for a comment on a pull request")
    add_table_options(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="every item below its threshold, and every score that differs")
    return parser
