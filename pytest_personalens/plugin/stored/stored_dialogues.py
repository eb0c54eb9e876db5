"""Stored dialogues as a dataset: the scenarios that have one, and the dialogues of each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.exports import Exports, read_values
from pytest_personalens.core.dialogue.message import group_turns, is_step
from pytest_personalens.core.dialogue.vendor_messages import read_messages
from pytest_personalens.core.errors import DataError, RecordError, SpecError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.names import FIRST_SUITE, CaseId, parse_case
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import Scenario, ScenarioRef
from pytest_personalens.datasets.dataset import parse_file
from pytest_personalens.datasets.official import TASK_ID, task_name
from pytest_personalens.engine.job import PERSON, StoredDialogue
from pytest_personalens.engine.record import STORED, read_record
from pytest_personalens.results.values.results import RESULTS_SCHEMA, read_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.exports import Piece
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.evaluation import Cause
    from pytest_personalens.datasets import Dataset


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
    if twice := [file for file, number in Counter(file.resolve() for file in files).items() if number > 1]:
        raise DataError(twice[0], "is named twice, and its dialogues would count twice; name it once")
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
    values, one = read_values(file), file.suffix.lower() == ".json"
    if one and any(value.problem for value in values):
        # The error of the whole tells the line of a document over many lines.
        parse_file(file, "JSON", lambda path: json.loads(path.read_text(encoding="utf-8-sig")))
    for value in values:
        if value.problem is not None:
            raise value.problem
        data, where = value.value, value.where
        names = data.keys() if isinstance(data, dict) else frozenset[str]()
        if one and names and str(data.get("schema", "")).startswith(RESULTS_SCHEMA.partition("/")[0]):
            yield from _results(file)
        elif one and "record" in names:
            yield from _record(file)
        elif one and {"user_id", "dialogue"} <= names:
            yield _official(file, data)
        elif {"turns", "verdicts"} <= names:
            yield _converted(data, file, where)  # of `personalens records --write`
        elif names & {"messages", "dialogue"} and names & {"scenario", "whole"}:
            yield _line(data, file, where, value.number)
        elif not exports.add(file, where, value.number, data):
            if one or not isinstance(data, dict):
                raise DataError(file, _FORMATS, field="" if one else where)
            yield _line(data, file, where, value.number)


def _exported(found: Piece) -> Entry:
    named = {"id": found.id, "scenario": found.scenario or None, "assistant": found.assistant}
    return _line({"messages": found.messages, **named}, found.file, found.where, found.number)


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
            control=item.control,
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
    from pytest_personalens.judge_quality.labels import read_scenario

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


class StoredDialogues:
    """The part of a dataset of which there are dialogues, with scenarios of the user's own beside it.

    The dialogues of a scenario are its trials, in the order of the files. Raise `DataError` for a file that
    cannot be used, and for a scenario that nobody knows.
    """

    def __init__(self, dataset: Dataset, paths: Sequence[str], base: Path) -> None:
        self._dataset = dataset
        self._own: dict[tuple[str, str], Scenario] = {}
        self._dialogues: defaultdict[tuple[ScenarioRef, str], list[StoredDialogue]] = defaultdict(list)
        self._present = frozenset(dataset.users())
        self._by_slug = {slug(user): user for user in self._present}
        for entry in read_dialogues(paths, base):
            self._dialogues[self._ref(entry), entry.control].append(entry.stored)
        self._refs: defaultdict[str, list[ScenarioRef]] = defaultdict(list)
        for ref, control in self._dialogues:
            if not control:
                self._refs[ref.user].append(ref)
        known = any(ref[:2] not in self._own for ref, _ in self._dialogues)
        self.name, self.version = (dataset.name, dataset.version) if known else ("own", "scenarios")
        if known and self._own:
            self.version += " and own"

    def domains(self) -> Sequence[str]:
        """Return the domains of the dataset, then those of the own scenarios."""
        own = (domain for scenario in self._own.values() for domain in scenario.domains)
        return tuple(dict.fromkeys((*self._dataset.domains(), *own)))

    def users(self) -> Sequence[str]:
        """Return all users of the dataset, so that a range may name those without a dialogue too."""
        return tuple(dict.fromkeys((*self._dataset.users(), *self._refs)))

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        return tuple(self._refs.get(user, ()))

    def load(self, ref: ScenarioRef) -> Any:
        own = self._own.get((ref.user, ref.task))
        dataset = f"{self.name} {self.version}"
        return self._dataset.load(ref) if own is None else own.model_copy(update={"dataset": dataset})

    def trials(self, ref: ScenarioRef, control: str) -> range:
        """Return the numbers of the dialogues of a scenario in the run itself or in a control, from 1."""
        return range(1, len(self._dialogues.get((ref, control), ())) + 1)

    def of(self, ref: ScenarioRef, control: str, trial: int) -> StoredDialogue:
        return self._dialogues[ref, control][trial - 1]

    def check_controls(self, controls: Sequence[str]) -> None:
        """Raise `SpecError` for a control of which there is no dialogue."""
        for control in controls:
            if not any(name == control for _, name in self._dialogues):
                raise SpecError(
                    f"--personalens-control: there is no stored dialogue of {control}; leave it out",
                    code="PL108",
                )

    @property
    def user_agent(self) -> str:
        """The identity of the user agent of all dialogues; several are named together."""
        names = {stored.user_agent or PERSON for every in self._dialogues.values() for stored in every}
        return ", ".join(sorted(names))

    def _ref(self, entry: Entry) -> ScenarioRef:
        found = self._find(entry.scenario)
        if found is not None and (entry.own is None or found[:2] not in self._own):
            return found
        if entry.own is None:
            named = entry.scenario if isinstance(entry.scenario, str) else "-".join(reversed(entry.scenario))
            raise DataError(entry.file, self._unknown(named), field=entry.field)
        own = entry.own
        ref = ScenarioRef(own.user, own.task_id, own.kind, own.domains)
        before = self._own.setdefault(ref[:2], own)
        if before.digest != own.digest:
            problem = (
                f"another scenario has the user {ref.user!r} and the task {ref.task!r}; give it another id"
            )
            raise DataError(entry.file, problem, field=entry.field)
        return ref

    def _find(self, scenario: str | tuple[str, str]) -> ScenarioRef | None:
        if not isinstance(scenario, str):
            user, task = scenario
            refs = self._dataset.refs(user) if user in self._present else ()
            return next((ref for ref in refs if ref.task == task), None)
        parts = scenario.split("-")  # the slug of the user stands at the end, and may hold hyphens
        users = (self._by_slug.get("-".join(parts[n:])) for n in range(1, len(parts)))
        candidates = (ref for user in users if user is not None for ref in self._dataset.refs(user))
        return next((ref for ref in candidates if ref.id == scenario), None)

    def _unknown(self, named: str) -> str:
        of = f"unknown scenario {named!r} of {self._dataset.name} {self._dataset.version}"
        user = next((u for s, u in self._by_slug.items() if named.endswith(f"-{s}")), None)
        near = get_close_matches(named, [r.id for r in self._dataset.refs(user)] if user else [], 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return f"{of}{meant}; name its dataset with --personalens-data, or write the scenario itself there"
