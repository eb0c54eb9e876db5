"""The files that results are written to, also in the form of the official scripts.

Those of a run are checked before any test runs. If one cannot be written, the others still are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import DataError, PersonalensError, SpecError
from pytest_personalens.core.files.destinations import GITHUB, file_kind, refuse_shared_files, writable
from pytest_personalens.core.files.links import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


class Files(NamedTuple):
    """The paths of reports, whose endings give their kinds, and of the baseline.

    `github` asks for the reports of a step in GitHub Actions too.
    """

    reports: tuple[Path, ...] = ()
    github: bool = False
    save_baseline: Path | None = None

    @classmethod
    def of(cls, reports: Iterable[str], *, save_baseline: Path | None = None) -> Files:
        """Return the files for a list of paths and the word ``github``."""
        named = list(reports)
        return cls(tuple(Path(text) for text in named if text != GITHUB), GITHUB in named, save_baseline)

    def kind(self, kind: str) -> list[Path]:
        """Return the reports of a kind: json, html or markdown."""
        return [path for path in self.reports if file_kind(path) == kind]


@dataclass
class WrittenFiles:
    """Lines on the files that were written or failed, and the HTML pages."""

    done: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)

    def attempt(self, what: str, path: Path | str, write: Callable[[], object]) -> bool:
        """Write one file, and return False if it failed. A problem with it must not affect the others."""
        try:
            write()
        except Exception as error:
            known = ""
            if isinstance(error, OSError | PersonalensError):
                known = error.strerror or "" if isinstance(error, OSError) else str(error)
            why = known or f"{type(error).__name__}: {error}"
            self.problems.append(f"{what} could not be written to {path}: {why}")
        else:
            self.done.append(f"{what}: {path}")
            return True
        return False


def write_files(results: Results, files: Files, *, root: Path | None = None) -> WrittenFiles:
    """Write all files that the options ask for. `root` is the root folder of the tests (default: here)."""
    from pytest_personalens.results.values.results import write_json

    written = WrittenFiles()
    for path in files.kind("json"):
        written.attempt("results", path, partial(write_json, results, path))
    for path in files.kind("markdown"):
        written.attempt("summary", path, partial(_write_markdown, results, path))
    for path in files.kind("html"):
        from pytest_personalens.reports.html.page import write_html

        if written.attempt("report", path, partial(write_html, results, path)):
            written.pages.append(str(path))
    if files.github:
        from pytest_personalens.reports.markdown.forges import append_summary, link, summary_path

        page, address = summary_path(), link(root or Path.cwd())
        written.attempt("step summary", page, partial(append_summary, results, page, link=address))
    if (baseline := files.save_baseline) is not None:
        from pytest_personalens.results.comparison.baseline import baseline_of, why_no_baseline

        if why := why_no_baseline(results):
            written.problems.append(f"the baseline {baseline} was not written: {why}")
        else:
            failed = ", ".join(gate.name for gate in results.gates if not gate.passed)
            what = f"baseline (of a run that failed: {failed})" if failed else "baseline"
            written.attempt(
                what, baseline, lambda: write_atomically(baseline, baseline_of(results, for_file=True).text())
            )
    return written


def _write_markdown(results: Results, path: Path) -> None:
    from pytest_personalens.reports.markdown.report import markdown_report

    write_atomically(path, markdown_report(results))


def check_files(files: Files, prefix: str, *, read: Mapping[str, Path] = MappingProxyType({})) -> Files:
    """Return the same files, after making their folders. `prefix` is that of the options, such as ``--``.
    `read` holds the files that the command reads, by their names for the user. Raise `SpecError` for a file
    that cannot be written, or that would replace another file of the run or a file of somebody else.
    """
    report, baseline = f"{prefix}report", f"{prefix}save-baseline"
    try:
        if files.github:
            from pytest_personalens.reports.markdown.forges import summary_path

            summary_path()
    except (SpecError, DataError) as error:
        raise SpecError(f"{report}: {error}", code=error.code) from None
    wanted = [(report, path) for path in files.reports]
    for _, path in wanted:
        writable(path, report, kind=str(file_kind(path)))
    if files.save_baseline is not None:
        wanted.append((baseline, writable(files.save_baseline, baseline)))
    # A saved baseline may replace the old one, because the user asks for exactly that.
    refuse_shared_files(wanted, read, replaces=(baseline, f"{prefix}baseline"))
    return files


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
