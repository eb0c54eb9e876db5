"""Commands about runs that ended: report, show, merge and comment; records and score."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.cli.command import UNREADABLE, UNWRITABLE, print_errors
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.destinations import writable
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.names import CaseId, holds_case, parse_case
from pytest_personalens.core.options.gate import INCONCLUSIVE_EXIT, LEVEL, read_gate
from pytest_personalens.core.options.option_table import OPTIONS, list_parts
from pytest_personalens.core.safe_text import age_text, count, harmless
from pytest_personalens.engine.record import integrity_of, record_folders
from pytest_personalens.reports import paper_tables
from pytest_personalens.reports.content.markup import escape
from pytest_personalens.reports.markdown.forges import link, post, thread_of
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.reports.terminal.summary_lines import summary_lines
from pytest_personalens.reports.terminal.transcript import failure_lines, gate_failure
from pytest_personalens.reports.write_reports import (
    Files,
    WrittenFiles,
    check_files,
    write_files,
    write_official,
)
from pytest_personalens.results.comparison.baseline import baseline_of, read_baseline, terms_of
from pytest_personalens.results.comparison.compare import compare_with_baseline, setup_differences
from pytest_personalens.results.reasons import explanations
from pytest_personalens.results.shards import last_run, read_computed, read_shards
from pytest_personalens.results.shards import merge as merge_shards
from pytest_personalens.results.summarize import attach_earlier
from pytest_personalens.results.values.results import read_results

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_STDOUT: Final = "-"
_WIDTH: Final = 100
#: Tables of the paper, from stored runs.
_TABLES: Final = {
    3: paper_tables.assistant_tables,
    4: paper_tables.context_tables,
    10: paper_tables.diversity_tables,
    12: paper_tables.user_tables,
    13: paper_tables.length_tables,
}
#: Tables that cannot be made from the results of a run, and the command that makes each.
_ELSEWHERE: Final = {
    5: "agreement LABELS.jsonl",
    **{number: f"check-dataset DATA --table {number}" for number in (1, 6, 7, 8, 9)},
}
_STATUS: Final = {"passed": "passed", "low": "below a threshold", "uncounted": "not scored"}


def report(options: argparse.Namespace) -> int:
    """Show stored results, or make a table of the paper; return 0, whatever the gates said."""
    paths, to_stdout = options.results, _STDOUT in options.report
    of_paper = _asks_for_a_table(options)
    if len(paths) > 2 and not of_paper:
        raise SpecError(
            f"{paths[2]}: a report holds one run against another; for more of them give --table or --figure",
            code="PL108",
        )
    runs = [(path, read_computed(path)) for path in paths]
    files = Files.of(path for path in options.report if path != _STDOUT)
    read = zip(["this command", "BEFORE.json", *map(str, paths[2:])], paths, strict=False)
    check_files(files, "--", read=dict(read))
    if to_stdout and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # it is a file or another program, and no terminal
    if of_paper:
        return _report_tables(options, runs, files)
    results = runs[0][1] if len(runs) == 1 else _compared(runs[0][1], runs[1][1], str(paths[1]))
    done = []
    if options.official_output:
        done.append(write_official(results, paths[0], options.official_output))
    written = write_files(results, files)
    for line in (*written.done, *done):
        print(line, file=sys.stderr if to_stdout else sys.stdout)
    if to_stdout:
        print(markdown_report(results), end="")
    elif not options.report:
        drawn = count(results.drawn, results.of_suite.item)
        print(
            harmless(f"personalens: {count(results.overall.items, 'item')} over {drawn} of {results.dataset}")
        )
        _print_results(results, verbose=options.verbose, width=_WIDTH)
    return _print_problems(written)


def _asks_for_a_table(options: argparse.Namespace) -> bool:
    """Return whether the command line asks for a table; raise `SpecError` for one that cannot be made."""
    table, figure, kind = options.table, options.figure, options.kind
    not_held = "what else the paper has, no run's results hold"
    pages = [path for path in options.report if not path.lower().endswith(".md") and path != _STDOUT]
    asks, problem = table is not None or figure is not None, ""
    if kind is not None and figure is None:
        problem = "--kind: it is of --figure 4 and --figure 5; give one of them too"
    elif kind not in (None, "single", "multi", "all"):
        problem = f"--kind: expected single, multi or all, not {kind!r}"
    elif table is not None and figure is not None:
        problem = "--table, --figure: give one of them"
    elif table in _ELSEWHERE:
        problem = f"--table {table}: not made of a run's results: personalens {_ELSEWHERE[table]}"
    elif table not in (None, *_TABLES):
        problem = f"--table {table}: expected 3, 4, 10, 12 or 13; {not_held}"
    elif figure not in (None, 4, 5):
        problem = f"--figure {figure}: expected 4 or 5; {not_held}"
    elif asks and pages:
        problem = f"--report: {pages[0]} would be of a run; tables are written to PATH.md"
    if problem:
        raise SpecError(problem, code="PL108")
    return asks


def _report_tables(options: argparse.Namespace, runs: Sequence[tuple[Path, Results]], files: Files) -> int:
    stored = paper_tables.stored_runs(runs)
    if options.figure == 4:
        tables = paper_tables.domain_tables(stored, options.kind or "single")
    elif options.figure == 5:
        tables = paper_tables.turn_tables(stored, options.kind or "all")
    else:
        tables = _TABLES[options.table](stored)
    page = "\n".join(table.markdown() for table in tables)
    for path in files.reports:
        write_atomically(path, page)
    if _STDOUT in options.report:
        print(page, end="")
    elif not files.reports:
        print("\n".join(table.text() for table in tables), end="")
    return 0


def _compared(results: Results, before: Results, name: str) -> Results:
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
    level = LEVEL if tested else 0.0
    comparison = compare_with_baseline(baseline, results, name=name, level=level, margins={}, notes=notes)
    return results.model_copy(update={"comparison": comparison})


def _print_results(results: Results, *, verbose: bool, width: int, written: Sequence[str] = ()) -> None:
    """Print why gates failed, and the summary."""
    explained = explanations(results)
    for one in explained:
        print(harmless(f"gate {one.gate.name}:"))
        print(*gate_failure(one, results, results.scenarios, width=width), "", sep="\n")
    lines = summary_lines(results, verbose=verbose, written=written, explained=bool(explained), width=width)
    print(*(harmless(text) for text, _ in lines), sep="\n")


def _print_problems(written: WrittenFiles) -> int:
    return print_errors([harmless(problem) for problem in written.problems], UNWRITABLE)


def merge(options: argparse.Namespace) -> int:
    """Put shards together. Return 1 if a gate or an item failed or a part of the run is missing."""
    shards = read_shards(options.results)
    whole = shards[0].results
    replaced: dict[str, object] = {} if options.baseline is None else {"baseline": options.baseline}
    if options.gate is not None:
        replaced["gate"] = _read_gates(options.gate, whole.of_suite)
    if whole.settings.get("report_only") and replaced:
        raise SpecError(
            f"--{next(iter(replaced))}: asks for a gate, and the shards are of a run that fails on"
            " nothing (--personalens-gate none); leave it out, or run them without that",
            code="PL108",
        )
    baseline = options.baseline or whole.settings.get("baseline")
    read = {f"this command (shard {shard.number})": shard.path for shard in shards}
    read |= {"--baseline": Path(baseline)} if baseline else {}
    files = Files.of(options.report, save_baseline=options.save_baseline)
    check_files(files, "--", read=read)
    merged = merge_shards(shards, replaced, partial=options.partial, save_baseline=options.save_baseline)
    written = write_files(merged, files)
    drawn = count(merged.drawn, merged.of_suite.item)
    shards_of = f"{len(shards)} of {shards[0].of} shards of a run"
    print(harmless(f"personalens: {shards_of} over {drawn} of {merged.dataset}"))
    width = get_terminal_size().columns
    _print_results(merged, verbose=options.verbose, width=width, written=written.done)
    failed = [item.nodeid for item in merged.items if item.failed]
    if failed:
        print(harmless(f"failed items: {len(failed)}, whose runs say why; the first is {failed[0]}"))
    status = _print_problems(written)
    if failed or merged.lost or not merged.complete:
        return 1
    gates = [] if merged.report_only else [gate for gate in merged.gates if not gate.passed]
    return status if not gates else INCONCLUSIVE_EXIT if all(gate.inconclusive for gate in gates) else 1


def _read_gates(texts: Sequence[str], suite: Suite) -> tuple[GateExpression, ...]:
    gates = []
    for part in (part for text in texts for part in list_parts(text) or [text]):
        try:
            gates.append(read_gate(part, suite))
        except ValueError as error:  # the same message as for a bad option
            raise SpecError(f"argument --gate: {error}, not {part!r}") from None
    return tuple(gates)


def show(options: argparse.Namespace) -> None:
    """Print the transcript, the scores and the reasons of one item, or of each with this id."""
    path = options.results or last_run(Path.cwd(), "give --results PATH, of --personalens-report PATH")[1]
    results = read_results(path)
    for item in _find_items(results, options.item, path):
        scenario = results.scenarios.get(item.evaluation.scenario)
        if scenario is None:
            raise SpecError(
                f"the results do not hold the scenario of {item.nodeid}; run its tests again", code="PL106"
            )
        print(harmless(f"{item.nodeid}: {_STATUS[item.status]}"))
        width = get_terminal_size().columns
        told = (item.evaluation, scenario, item.shortfalls, item.earlier)
        print(*map(harmless, failure_lines(*told, "", width=width, whole=True)), sep="\n")


def _find_items(results: Results, name: str, path: Path) -> list[Item]:
    """Return the item with this node id, or every item with this id of a scenario, control or trial."""
    found = [i for i in results.items if i.nodeid == name] or [
        i for i in results.items if name == i.nodeid.rpartition("::")[2] or holds_case(i.nodeid, name)
    ]
    if found:
        return found
    known = sorted({known for i in results.items for known in (i.evaluation.scenario, i.nodeid)})
    near = get_close_matches(name, known, 1, cutoff=0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    missing = {*results.lost, *results.unevaluated}
    if any(nodeid == name or holds_case(nodeid, name) for nodeid in missing):
        raise SpecError(
            f"{name} brought no result in this run: its test ended before its dialogue", code="PL106"
        )
    raise SpecError(f"no item {name!r} among the {len(results.items):,} of {path}{meant}", code="PL106")


def comment(options: argparse.Namespace) -> None:
    """Write one comment on the pull request with the results of a run, or update it."""
    if not re.fullmatch(r"[\w .-]{1,60}", options.name):
        raise SpecError(f"--name: expected up to 60 letters, digits, spaces, '.', '-', not {options.name!r}")
    text = markdown_report(read_computed(options.results), link=link(Path.cwd()), brief=True)
    if options.baseline is not None:
        age, old = _age(read_baseline(options.baseline), datetime.now(UTC), most=options.max_age)
        text += f"\n\n{'⚠️ ' if old else ''}{escape(age, 400)}\n"
        warns = old and os.environ.get("GITHUB_ACTIONS")
        print(f"::warning title=personalens::{age}" if warns else harmless(age))
    thread = thread_of()
    if thread is None:
        print("comment: none, this job is for no pull request")
    else:
        print(f"comment: {post(thread, f'<!-- personalens: {options.name} -->', text)}")


def _age(baseline: Baseline, now: datetime, *, most: int) -> tuple[str, bool]:
    """A sentence on the commit and the age of a baseline, and whether it has more than `most` days."""
    tested = baseline.provenance
    if tested is None or not tested.committed:
        return "The baseline does not say which commit it is of.", False
    age = now - tested.instant
    branch = f" of {tested.branch}" if tested.branch else ""
    text = f"Baseline: commit {tested.short}{branch}, {tested.day}, {age_text(age.total_seconds())} old."
    if age.days <= most:
        return text, False
    return f"{text} That is more than {count(most, 'day')}: save a new one.", True


def records(options: argparse.Namespace) -> None:
    """List or delete records that no item of the last run used, or write those of version 0.2 anew."""
    if options.write is not None:
        if options.delete:
            raise SpecError(
                "--delete: the records are read for --write, and stay; leave it out", code="PL108"
            )
        return _convert(options.folder, options.write)
    folder = options.folder.absolute()
    root, file = last_run(folder, "run the tests that use these records first, in one run")
    used = {root / item.record_file for item in read_results(file).items if item.record_file}
    every = (f for below in record_folders(str(folder)) for f in Path(below).glob("*/*.json"))
    unused = sorted(path for path in every if path not in used and not path.is_symlink())
    for path in unused:
        if options.delete:
            path.unlink()
        print(path.relative_to(root))
    done = "deleted" if options.delete else "of no item of the last run; --delete deletes them"
    print(f"{len(unused)} records {done}, {len(used)} in use")
    return None


def _convert(folder: Path, target: Path) -> None:
    """Write the records of version 0.2 below the folder as stored dialogues with their verdicts."""
    if writable(target, "--write").exists():
        raise SpecError(f"--write: {target} is there already; give another path, or remove it", code="PL105")
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.json"))
    found = [line for file in files if (line := _stored_dialogue(file)) is not None]
    if not found:
        raise DataError(folder, "holds no record of version 0.2")
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in found)
    write_atomically(target, "".join(lines), durable=True)
    print(
        f"{len(found)} dialogues with their verdicts are in {target}. For reports and a baseline of them:"
        f" personalens score {target}"
    )


def _stored_dialogue(file: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data.get("record") != 1:
            return None
        if data["integrity"] != integrity_of(data):
            raise ValueError("it was edited by hand")
        case = parse_case(file.stem, [data["scenario"]]) or CaseId(data["scenario"])
        if data["dialogue"]["end"] == "fault":
            return None
        return {
            "scenario": data["scenario"],
            **({"control": case.control} if case.control else {}),
            "user_agent": data["user_agent"],
            "assistant": data["assistant"],
            "end": data["dialogue"]["end"],
            "turns": data["dialogue"]["messages"],
            "judge": f"{data['judge']} (verdicts of records of version 0.2)",
            "verdicts": [stored["verdict"] for stored in data["verdicts"]],
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        problem = f"cannot be read: {error}; restore it from version control, or move it away"
        raise DataError(file, problem, code="PL201") from None


def score(options: argparse.Namespace) -> int:
    """Judge stored dialogues in a run of pytest, and return its exit status."""
    words = list(options.words)
    # Without an option that says what the run must reach, it fails on nothing.
    gating = {f"--{o.name}" for o in OPTIONS if o.shapes in ("gate", "judge check")}
    if not gating & {word.partition("=")[0] for word in words}:
        words.insert(0, "--gate=none")
    run = list(_words_of_pytest(words))
    if not any(word.startswith("--personalens-dialogues=") for word in run):
        # pytest would play dialogues of its own.
        missing = "the following arguments are required: DIALOGUES, such as results.json or chats.jsonl"
        return print_errors([missing], UNREADABLE)
    return subprocess.call([sys.executable, "-m", "pytest", *run])


def _words_of_pytest(words: Sequence[str]) -> Iterator[str]:
    """Yield the words for pytest: paths are dialogues, and options of a run need no ``personalens`` here.

    What follows ``--`` is for pytest as it is.
    """
    options = {f"--{o.name}": o for o in OPTIONS}
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from rest
            return
        name, given, value = word.partition("=")
        if (option := options.get(name)) is not None:
            wanted = not (given or option.flag)
            value = next(rest, "") if wanted else value
            if option.on == "ini":
                yield f"-o{option.ini}={value}"
            else:
                yield option.long if option.flag else f"{option.long}={value}"
        elif word.startswith("-"):
            yield word
        else:
            yield f"--personalens-dialogues={word}"
