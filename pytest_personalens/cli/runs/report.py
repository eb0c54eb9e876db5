"""The command ``report``: stored results as a summary, a page, Markdown or a table of the paper."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import command, print_errors
from pytest_personalens.cli.runs.official_output import write_official
from pytest_personalens.cli.runs.paper_tables import check_table_options, make_tables
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.two_runs import beside_lines, compare_runs
from pytest_personalens.reports.files import Files, check_files, write_files
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.reports.terminal.summary import summary_lines
from pytest_personalens.reports.terminal.transcript import gate_failure
from pytest_personalens.results.comparison.baseline import baseline_of, terms_of
from pytest_personalens.results.comparison.compare import compare_with_baseline
from pytest_personalens.results.files.stored import read_computed
from pytest_personalens.results.reasons.explanation import explanations
from pytest_personalens.results.reasons.reasons import attach_earlier, attach_messages
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_personalens.results.values.results import Results

_MOST_LISTED: Final = 20
_LEVEL: Final = 0.05
_WIDTH: Final = 100
_STDOUT: Final = "-"


@command("report")
def main(options: argparse.Namespace) -> int:
    """Return 0, whatever the result of the gates, or 4 if the input cannot be read or reported on."""
    of_paper, paths, to_stdout = (
        check_table_options(options),
        list(options.results),
        _STDOUT in options.report,
    )
    if len(paths) > 2 and not of_paper:
        raise SpecError(
            f"{paths[2]}: a report holds one run against another; for more of them give --table or --figure"
        )
    runs = [(path, read_computed(path)) for path in paths]
    results, before = runs[0][1], None
    if len(runs) > 1 and not of_paper:
        before = runs[1][1]
        results = _compare(results, before, str(paths[1]))
    files = Files.of(path for path in options.report if path != _STDOUT)
    read = dict(zip(["this command", "BEFORE.json", *map(str, paths[2:])], paths, strict=False))
    read |= {} if options.beside is None else {"--beside": options.beside}
    check_files(files, "--", read=read)
    table_files = files.kind("markdown") if of_paper else []
    pages = files._replace(reports=tuple(path for path in files.reports if path not in table_files))
    if len(paths) > 1 and of_paper and pages.reports:
        raise SpecError(
            f"--report: {pages.reports[0]} would be of one run alone; leave it or --table and --figure out"
        )
    tables = make_tables(options, runs) if of_paper else []
    exported = write_official(results, paths[0], options.official_output) if options.official_output else ""
    written = write_files(results, pages, before=before)
    if exported:
        written.done.append(exported)
    for line in (*written.done, *written.annotations):
        print(line, file=sys.stderr if to_stdout else sys.stdout)
    if to_stdout and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # it is a file or another program, and no terminal
    if of_paper:
        page = "\n".join(table.markdown() for table in tables)
        for path in table_files:
            write_atomically(path, page)
        if to_stdout or not table_files:
            print(page if to_stdout else "\n".join(table.text() for table in tables), end="")
    elif to_stdout:
        print(markdown_report(results, before=before), end="")
    elif not options.report:
        print(*map(harmless, _summary(results, before, verbose=options.verbose)), sep="\n")
    return print_errors([harmless(problem) for problem in written.problems])


def _compare(results: Results, before: Results, name: str) -> Results:
    """Return the results with the paired test against `before`.

    The test is made only if both runs are complete and only the assistant can have changed. Else the
    dialogues of both are shown side by side, and no more.
    """
    whole = all(run.complete and not run.settings.get("shard") for run in (results, before))
    comparison = None
    try:
        baseline = baseline_of(before)
        if whole and results.own and not baseline.mismatch(terms_of(results)):
            results = attach_earlier(results, baseline)
            comparison = compare_with_baseline(baseline, results, name=name, level=_LEVEL, margins={})
    except SpecError:
        pass  # nothing was scored: the figures are still shown side by side
    if comparison is None:
        results = attach_messages(results, before)
    return results.model_copy(update={"comparison": comparison})


def _summary(results: Results, before: Results | None, *, verbose: bool) -> Iterator[str]:
    drawn = count(results.drawn, results.of_suite.item)
    yield f"personalens: {count(results.overall.items, 'item')} over {drawn} of {results.dataset}"
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
