"""The command ``report``: shows stored results, makes the paper's tables, and writes the official form."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import UNWRITABLE, command, print_errors
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.markdown.report import markdown_report
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
from pytest_personalens.reports.terminal.summary_lines import summary_lines
from pytest_personalens.reports.terminal.transcript import gate_failure
from pytest_personalens.reports.write_reports import Files, check_files, write_files
from pytest_personalens.results.comparison.baseline import baseline_of, terms_of
from pytest_personalens.results.comparison.compare import compare_with_baseline, setup_differences
from pytest_personalens.results.reasons.reasons import attach_earlier
from pytest_personalens.results.reasons.why_gates_failed import explanations
from pytest_personalens.results.shards import read_computed
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.reports.content.markup import Table
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: Readings that the official scripts have; the end of a name says of whom, and ends the name of the file too.
_READING: Final = re.compile(r"(task_completion|personalization|naturalness|coherence)(?:_(user|asst))?")
#: The judges in whose folders the official gatherer looks for task completion and for the rest.
_OF_TC, _OF_REST = "claude-3-sonnet-v1", "claude-3-5-sonnet-v2"
#: What the assistant knew, as the official scripts end the name of its folder.
_KNOWN: Final = {"D": "_d", "I": "_p", "S": "_s"}


def write_official(results: Results, source: Path, root: Path) -> str:
    """Write the dialogues of the first trial, with their verdicts, below `root`; return what was written.

    Raise `DataError` for a user without a number, and for a folder that holds such dialogues already.
    """
    files: dict[Path, str] = {}
    folders: set[str] = set()
    for item in results.items:
        e = item.evaluation
        if item.trial > 1 or item.given_user or e.dialogue.end == "fault":
            continue
        number = re.fullmatch(r"user(\d+)", e.user)
        if number is None:
            problem = f"the official scripts know users by number, and the run has the user {e.user!r}"
            raise DataError(source, f"{problem}; export a run over the official data", field=e.scenario)
        assistant, task = _assistant_of(item), _task_of(e)
        folders.add(assistant)
        folder = root / "dialogue" / e.user / assistant
        if folder.exists():
            raise DataError(folder, "there are dialogues already; name another folder, or remove it")
        scenario = results.scenarios.get(e.scenario)
        dialogue = {
            "user_id": int(number[1]),
            "task_id": task,
            "task_description": scenario.task.intent if scenario is not None else "",
            "user_model": e.user_agent,
            "assistant_model": e.assistant or assistant,
            "dialogue": [{"role": m.role, "content": m.content} for m in e.dialogue.messages],
        }
        files[folder / f"{task}_dialogue.json"] = json.dumps(dialogue, indent=4)
        for verdict in e.verdicts:
            reading = _READING.fullmatch(verdict.dimension.value.replace("assistant", "asst"))
            if reading is not None:
                judge = _OF_TC if reading[1] == "task_completion" else _OF_REST
                file = f"{task}_{reading[2]}.txt" if reading[2] else f"{task}.txt"
                path = root / "evaluation" / e.user / assistant / reading[1] / judge / file
                files[path] = _verdict_text(verdict, reading[1])
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    count = sum(path.name.endswith("_dialogue.json") for path in files)
    return f"official output: {root}: {count} dialogues of {', '.join(sorted(folders)) or 'nobody'}"


def _assistant_of(item: Item) -> str:
    """Return the folder of an assistant: its model, and what it knew."""
    model = item.evaluation.assistant.partition(" ")[0].rpartition(":")[2]
    known = "".join(end for letter, end in _KNOWN.items() if letter in item.given)
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', model) or 'assistant'}{known}"


def _task_of(evaluation: Evaluation) -> str:
    number = evaluation.task.rpartition("-")[2]
    return f"MD-task-{number}" if evaluation.kind == "multi" else f"SD-{evaluation.domains[0]}-task-{number}"


def _verdict_text(verdict: Verdict, name: str) -> str:
    score = f"{name.capitalize()} Score: {verdict.score}"
    if name == "task_completion":
        score = f"VERDICT: {bool(verdict.score)}"
    return f"{score}\nJustification: {' '.join(verdict.justification.split())}\n"


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
            raise SpecError(problem, code="PL108")
    return table is not None or figure is not None


def make_tables(options: argparse.Namespace, results: Sequence[tuple[Path, Results]]) -> list[Table]:
    """Return the tables that the command line asks for."""
    runs = stored_runs(results)
    if options.figure is not None:
        if options.figure == 4:
            return domain_tables(runs, options.kind or "single")
        return turn_tables(runs, options.kind or "all")
    if options.table == 3:
        return assistant_tables(runs, () if options.beside is None else read_rows(options.beside))
    return _TABLES[options.table](runs)


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
            f"{paths[2]}: a report holds one run against another; for more of them give --table or --figure",
            code="PL108",
        )
    runs = [(path, read_computed(path)) for path in paths]
    results = runs[0][1]
    if len(runs) > 1 and not of_paper:
        results = _compare(results, runs[1][1], str(paths[1]))
    files = Files.of(path for path in options.report if path != _STDOUT)
    read = dict(zip(["this command", "BEFORE.json", *map(str, paths[2:])], paths, strict=False))
    read |= {} if options.beside is None else {"--beside": options.beside}
    check_files(files, "--", read=read)
    table_files = files.kind("markdown") if of_paper else []
    pages = files._replace(reports=tuple(path for path in files.reports if path not in table_files))
    if len(paths) > 1 and of_paper and pages.reports:
        raise SpecError(
            f"--report: {pages.reports[0]} would be of one run alone; leave it or --table and --figure out",
            code="PL203",
        )
    tables = make_tables(options, runs) if of_paper else []
    exported = write_official(results, paths[0], options.official_output) if options.official_output else ""
    written = write_files(results, pages)
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
        print(markdown_report(results), end="")
    elif not options.report:
        print(*map(harmless, _summary(results, verbose=options.verbose)), sep="\n")
    return print_errors([harmless(problem) for problem in written.problems], UNWRITABLE)


def _compare(results: Results, before: Results, name: str) -> Results:
    """Return the results with their changes since `before`.

    They are tested only if both runs are complete and only the assistant can have changed.
    """
    whole = all(run.complete and not run.settings.get("shard") for run in (results, before))
    try:
        baseline = baseline_of(before)
    except SpecError:  # nothing was scored, and nothing can be compared
        return results
    tested = whole and bool(results.own) and not baseline.mismatch(terms_of(results))
    results = attach_earlier(results, baseline, scores=tested)
    notes = setup_differences(before, results)
    level = _LEVEL if tested else 0.0
    comparison = compare_with_baseline(baseline, results, name=name, level=level, margins={}, notes=notes)
    return results.model_copy(update={"comparison": comparison})


def _summary(results: Results, *, verbose: bool) -> Iterator[str]:
    drawn = count(results.drawn, results.of_suite.item)
    yield f"personalens: {count(results.overall.items, 'item')} over {drawn} of {results.dataset}"
    explained_gates = explanations(results)
    for explained in explained_gates:
        yield f"gate {explained.gate.name}:"
        yield from gate_failure(explained, results, results.scenarios, width=_WIDTH)
        yield ""
    lines = summary_lines(results, verbose=verbose, explained=bool(explained_gates))
    yield from (text for text, _ in lines)
