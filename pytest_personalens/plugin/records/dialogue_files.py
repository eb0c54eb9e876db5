"""Reads stored dialogues: our results and records, the official output folder, JSON lines of messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.exports.gathering import Exports, read_values
from pytest_personalens.core.dialogue.message import group_turns, is_step, read_messages
from pytest_personalens.core.errors import DataError, RecordError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.core.text.node_ids import CaseId, parse_case
from pytest_personalens.core.text.safe_text import slug
from pytest_personalens.datasets.base import parse_file
from pytest_personalens.datasets.official.official import TASK_ID, task_name
from pytest_personalens.engine.job import StoredDialogue
from pytest_personalens.engine.records.record import STORED, read_record
from pytest_personalens.results.values.results import RESULTS_SCHEMA, read_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.exports.gathering import Exported
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.evaluation import Cause

#: The end of the name of a dialogue's file in the official output folder.
_OFFICIAL: Final = "_dialogue.json"
_FORMATS: Final = (
    "expected results, a record, an official dialogue, or a file .jsonl with lines such as"
    ' {"scenario": "movies-1-amara", "messages": [{"role": "user", "content": "Hello"}, ...]}'
)


class Entry(NamedTuple):
    """One stored dialogue, and where it stands.

    `scenario` is an id, or a user and a task. `own` is the scenario itself, where the file has it.
    """

    stored: StoredDialogue
    scenario: str | tuple[str, str]
    file: Path
    field: str = ""
    own: Scenario | None = None
    control: str = ""


def read_dialogues(paths: Sequence[str], base: Path) -> list[Entry]:
    """Return the dialogues of files, folders and patterns, in the order of paths and lines.

    Relative paths start at `base`. Raise `DataError` for one that cannot be used: the file, the line or the
    field, and what to do.
    """
    files = [file for path in paths for file in _files_of(path, base)]
    by_assistant = {file.parent.name: file.parent for file in files if file.name.endswith(_OFFICIAL)}
    if len(by_assistant) > 1:
        names, one = ", ".join(sorted(by_assistant)), min(by_assistant.values())
        example = f"such as '{one.parent.parent / '*' / one.name}'"
        raise DataError(paths[0], f"holds dialogues of several assistants ({names}); name one, {example}")
    exports = Exports()
    entries = [entry for file in files for entry in _read_file(file, exports)]
    entries += map(_exported, exports.dialogues())
    if not entries:
        raise DataError(paths[0], f"no dialogue in it; {_FORMATS}")
    return entries


def _files_of(text: str, base: Path) -> list[Path]:
    try:
        path = base / Path(text).expanduser()
        pattern = str(path.relative_to(path.anchor))
        matched = [path] if path.exists() else sorted(Path(path.anchor).glob(pattern))
        files = [file for one in matched for file in (_files_in(one) if one.is_dir() else [one])]
    except (OSError, ValueError, RuntimeError) as error:  # such as a name that is too long, or no home
        raise DataError(
            text[:200], f"cannot be read: {getattr(error, 'strerror', None) or error}", code="PL201"
        ) from None
    if not matched:
        raise DataError(text, "no such file or folder, and no pattern of any", code="PL201")
    return files


def _files_in(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*.json*") if path.suffix in (".json", ".jsonl"))
    every = sorted(path for path in found if path.is_file())  # a pipe would wait
    # Beside records there may be those of a run that judged them.
    official = [f for f in every if f.name.endswith(_OFFICIAL)]
    return official or [f for f in every if f.parent == folder or not f.parent.name.startswith(STORED)]


def _read_file(file: Path, exports: Exports) -> Iterator[Entry]:
    if file.suffix.lower() != ".json":
        yield from _values(file, exports)
        return
    data = parse_file(file, "JSON", lambda path: json.loads(path.read_text(encoding="utf-8-sig")))
    if isinstance(data, dict) and str(data.get("schema", "")).startswith(RESULTS_SCHEMA.partition("/")[0]):
        yield from _results(file)
    elif isinstance(data, dict) and "record" in data:
        yield from _record(file)
    elif isinstance(data, dict) and "user_id" in data and "dialogue" in data:
        yield _official(file, data)
    elif isinstance(data, list) or not exports.add(file, "line 1", 1, data):
        yield from _values(file, exports)


def _values(file: Path, exports: Exports) -> Iterator[Entry]:
    one = file.suffix.lower() == ".json"
    for value in read_values(file):
        if value.problem is not None:
            raise value.problem
        data, where = value.value, value.where
        own = isinstance(data, dict) and ("messages" in data or "dialogue" in data)
        if isinstance(data, dict) and "turns" in data and "verdicts" in data:
            yield _converted(data, file, where)  # of `personalens records --write`
        elif own and ("scenario" in data or "whole" in data):
            yield _line(data, file, where, value.number)
        elif not exports.add(file, where, value.number, data):
            if one or not isinstance(data, dict):
                raise DataError(file, _FORMATS, field="" if one else where)
            yield _line(data, file, where, value.number)


def _exported(found: Exported) -> Entry:
    names = {"id": found.id, "scenario": found.scenario or None, "assistant": found.assistant}
    line = {"messages": found.messages, **names}
    return _line(line, found.file, found.where, found.number)


def _results(file: Path) -> Iterator[Entry]:
    results = read_results(file)
    _of_first_suite(file, results.suite)
    for n, item in enumerate(results.items):
        e = item.evaluation
        # A dialogue that broke off has no scores in a second run either, and must not be missing from it.
        cause: Cause = e.cause or "assistant"
        broken_off = (cause, e.detail) if e.dialogue.end == "fault" else ()
        yield Entry(
            StoredDialogue(e.dialogue, e.user_agent, e.assistant, *broken_off),
            (e.user, e.task),
            file,
            f"items.{n}",
            own=results.scenarios.get(e.scenario),
            control=item.arm,
        )


def _record(file: Path) -> Iterator[Entry]:
    try:
        record = read_record(file.read_text(encoding="utf-8"), str(file))
    except RecordError as error:
        raise DataError(file, str(error).removeprefix(f"{file}: "), code=error.code) from None
    _of_first_suite(file, record.suite)
    case = parse_case(f"[{record.case}]", [record.scenario]) or CaseId(record.scenario)
    if record.dialogue.end != "fault":
        stored = StoredDialogue(record.dialogue, record.user_agent, record.assistant)
        yield Entry(stored, record.scenario, file, control=case.control)


def _of_first_suite(file: Path, suite: str) -> None:
    if suite != FIRST_SUITE:
        raise DataError(
            file, f"is of the suite {suite}, and only dialogues of {FIRST_SUITE} are judged again"
        )


def _official(file: Path, data: dict[str, Any]) -> Entry:
    match = TASK_ID.fullmatch(str(data.get("task_id")))
    if match is None:
        problem = f"expected 'SD-<domain>-task-<n>' or 'MD-task-<n>', found {data.get('task_id')!r}"
        raise DataError(file, problem, field="task_id")
    turns = read_turns(data["dialogue"], file, "dialogue")
    # The official code writes the model of the assistant into `user_model` too.
    stored = StoredDialogue(_dialogue(turns), "official user agent", file.parent.name)
    return Entry(stored, (f"user{data['user_id']}", task_name(match)), file, "user_id, task_id")


def _line(data: dict[str, Any], file: Path, where: str, number: int) -> Entry:
    name = "dialogue" if "messages" not in data and "dialogue" in data else "messages"
    turns = read_turns(data.get(name), file, f"{where}: {name}")
    end = data.get("end", "")
    if end not in ("", "user", "unserved", "silence", "limit"):
        problem = f"expected user, unserved, silence or limit, found {end!r}"
        raise DataError(file, problem, field=f"{where}: end")
    user_agent, assistant = (str(data.get(key) or "") for key in ("user_agent", "assistant"))
    stored = StoredDialogue(_dialogue(turns, end), user_agent, assistant)
    scenario = data.get("scenario", data.get("whole"))
    if isinstance(scenario, str):
        return Entry(stored, scenario, file, f"{where}: scenario")
    if not isinstance(scenario, dict):
        problem = "expected the id of a scenario, such as movies-1-amara, or a scenario of your own"
        raise DataError(file, problem, field=f"{where}: scenario")
    own = _own(
        scenario, file, where, str(data.get("id") or f"dialogue-{number}"), whole="scenario" not in data
    )
    return Entry(stored, (own.user, own.task_id), file, f"{where}: scenario", own)


def _converted(data: dict[str, Any], file: Path, where: str) -> Entry:
    """Return a dialogue of a record of version 0.2, with its verdicts."""
    try:
        stored = StoredDialogue(
            Dialogue.model_validate({"messages": data["turns"], "end": data["end"]}),
            str(data["user_agent"]),
            str(data["assistant"]),
            judge=str(data["judge"]),
            verdicts=tuple(map(Verdict.model_validate, data["verdicts"])),
        )
        return Entry(stored, str(data["scenario"]), file, where, control=str(data.get("control", "")))
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(file, problem, field=f"{where}: {field}") from None
    except (KeyError, TypeError) as error:
        raise DataError(file, f"lacks a field of a converted record ({error})", field=where) from None


def _own(data: dict[str, Any], file: Path, where: str, name: str, *, whole: bool) -> Scenario:
    if whole:
        try:
            return Scenario.model_validate(data)
        except ValidationError as error:
            field, problem = first_problem(error)
            raise DataError(file, problem, field=f"{where}: whole.{field}") from None
    # The reader of labels knows every dataset, which the other formats do not need.
    from pytest_personalens.judge_quality.agreement.labels import read_scenario

    user = str(data.get("user") or name)
    own = read_scenario(data, file, where, user=user, task=name)
    # A person who appears once needs no task of another name.
    task = name if user != name else slug(own.domains[0])
    return own.model_copy(
        update={"id": slug(f"{task}-{user}"), "task": own.task.model_copy(update={"id": task})}
    )


def _dialogue(turns: Sequence[Message], end: Any = "") -> Dialogue:
    return Dialogue(messages=tuple(turns), end=end or ("user" if turns[-1].role == "assistant" else "limit"))


def read_turns(value: object, file: Path, where: str) -> list[Message]:
    """Return the turns of messages in OpenAI's format, of user and assistant by turns.

    Raise `DataError` for messages that cannot be read or that are in a wrong order.
    """
    messages = read_messages(value, file, where)
    first, message = messages[0]
    if message.role != "user":
        problem = f"expected a message of the user, found one of the {message.role}"
        advice = "a dialogue begins with the user: leave out what comes before"
        raise DataError(file, f"{problem}; {advice}", field=f"{where}.{first}")
    try:
        turns = group_turns(message for _, message in messages)
    except ValueError as error:
        raise DataError(file, str(error), field=where) from None
    following = (*(message for _, message in messages[1:]), None)
    places = [
        n for (n, message), after in zip(messages, following, strict=True) if not is_step(message, after)
    ]
    for number, (turn, place) in enumerate(zip(turns, places, strict=True)):
        expected = "assistant" if number % 2 else "user"
        if turn.role != expected:
            problem = f"expected a message of the {expected}, found one of the {turn.role}"
            advice = "join messages of one side that follow each other"
            raise DataError(file, f"{problem}; {advice}", field=f"{where}.{place}")
    return turns
