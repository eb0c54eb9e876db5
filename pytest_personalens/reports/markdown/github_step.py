"""What GitHub shows of a step: its summary, and annotations."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.text.node_ids import file_of, without_parameters
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.findings import INCOMPLETE, capital
from pytest_personalens.reports.content.why_items_failed import (
    costly_turn,
    failures,
    reason,
    reasons_of,
    sentence_of,
    title,
)
from pytest_personalens.reports.markdown.report import markdown_report
from pytest_personalens.results.reasons.why_gates_failed import explanations
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.results.reasons.why_gates_failed import Explanation
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: The environment variable with the file of the step's summary.
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
#: A limit in bytes below 1 MiB. GitHub does not show a larger summary of a step.
_SUMMARY_LIMIT: Final = 1_000_000
#: The smallest room in bytes for a report. With less, its beginning would not be useful.
_LEAST: Final = 3_000
#: GitHub shows ten annotations of each kind for a step, and drops the others without a message.
_MOST: Final = 10
_LONGEST: Final = 1_000


def annotation_lines(
    results: Results, *, root: str = "", lines: Mapping[str, int] = MappingProxyType({})
) -> list[str]:
    """Return the lines to print as annotations. Each failed gate is an error, by the sentence that the
    terminal has, and so are the failed items of each test: the first one, with how many more there are. If a
    gate failed, low items are warnings alike. There are at most ten of each kind, and the last one says how
    many more there are. `root` is the start folder of the node ids, relative to the root of the repository.
    `lines` holds the line of a test, from 1, by the node id of an item, if it is known.
    """
    failed_gates = explanations(results)
    wrong = failures(results)
    of_gates = "warning" if results.report_only else "error"
    gates = [_gate(of_gates, explained, results) for explained in failed_gates if not explained.same_as]
    errors = [] if results.report_only else gates
    errors += _items("error", [item for item in wrong if item.failed], root, lines)
    errors += [
        _command("error", f"{nodeid}: its worker died", title="personalens: lost") for nodeid in results.lost
    ]
    low = [item for item in wrong if not item.failed and not item.evaluation.cause] if failed_gates else []
    warnings = gates if results.report_only else []
    warnings += _items("warning", low, root, lines)
    if not results.complete:
        warnings.insert(
            0,
            _command("warning", INCOMPLETE, title="personalens"),
        )
    return [*_most("error", errors), *_most("warning", warnings)]


def append_summary(results: Results, path: Path, *, link: str = "") -> None:
    """Append the report to the summary of a step. Raise `DataError` with a text of one line if the file
    cannot be written or is full.
    """
    try:
        there = path.stat().st_size if path.exists() else 0
        if there > _SUMMARY_LIMIT - _LEAST:
            raise DataError(
                path,
                f"holds {there:,} bytes already, and GitHub shows no more than 1 MiB; write less in this"
                " step",
                code="PL105",
            )
        with path.open("a", encoding="utf-8") as file:
            file.write(markdown_report(results, limit=_SUMMARY_LIMIT - there - 1, link=link) + "\n")
    except OSError as error:
        raise DataError(path, f"the summary cannot be written: {error.strerror}", code="PL105") from None


def summary_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file of this step's summary. Raise `DataError` outside GitHub Actions."""
    if not environment.get(SUMMARY):
        raise DataError(
            SUMMARY,
            "not set: the word github is for steps of GitHub Actions; elsewhere give PATH.md",
            code="PL201",
        )
    return Path(environment[SUMMARY])


def root_in_repository(rootpath: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Return the root folder of the tests, relative to the root of the repository. The path has slashes. It
    is empty if the folder is the root, or not below it.
    """
    workspace = environment.get("GITHUB_WORKSPACE", "")
    try:
        return (
            ""
            if not workspace
            else rootpath.resolve().relative_to(Path(workspace).resolve()).as_posix().removeprefix(".")
        )
    except ValueError:
        return ""


def link(root: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the web address of this commit's files below `root`. It is empty outside GitHub Actions."""
    parts = [environment.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")]
    if not all(parts):
        return ""
    server, repository, commit = parts
    return "/".join([f"{server}/{repository}/blob/{commit}", *([root] if root else [])])


def _gate(kind: str, explained: Explanation, results: Results) -> str:
    """The sentence of the terminal, and the reasons added up where there are any."""
    sentence, reasons = sentence_of(explained, results), reasons_of(explained)
    by_reason = f"\n{results.of_suite.dialogue}s by reason: {reasons}" if reasons else ""
    return _command(kind, capital(sentence) + by_reason, title=f"personalens: gate {explained.gate.name}")


def _items(kind: str, found: Sequence[Item], root: str, lines: Mapping[str, int]) -> Iterator[str]:
    """One annotation a test, because GitHub shows all at one line of the code."""
    by_test: dict[str, list[Item]] = {}
    for item in found:
        by_test.setdefault(item.test or without_parameters(item.nodeid), []).append(item)
    for items in by_test.values():
        yield _item(kind, items[0], root, lines, others=len(items) - 1)


def _item(kind: str, item: Item, root: str, lines: Mapping[str, int], *, others: int) -> str:
    file = file_of(item.nodeid)
    turn = costly_turn(item)
    message = reason(item) + (f"\n{turn}" if turn else "") + f"\n{item.nodeid}"
    message += f"\nand {count(others, 'item')} more of this test, in the summary" if others else ""
    # The built-in suite has no file in the repository.
    where = {"file": f"{root}/{file}" if root else file} if file.endswith(".py") else {}
    if where and item.nodeid in lines:
        where["line"] = str(lines[item.nodeid])
    return _command(kind, message, **where, title=f"personalens: {title(item)}")


def _command(kind: str, message: str, **properties: str) -> str:
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{kind} {said}::{_data(harmless(message)[:_LONGEST])}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(harmless(text)).replace(":", "%3A").replace(",", "%2C")


def _most(kind: str, commands: Sequence[str]) -> Iterator[str]:
    if len(commands) <= _MOST:
        yield from commands
        return
    yield from commands[: _MOST - 1]
    yield _command(
        kind, f"and {len(commands) - _MOST + 1} more, in the summary of the step", title="personalens"
    )
