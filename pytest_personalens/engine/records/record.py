"""The record of an evaluation: what was said, the verdicts, and the calls that bought them."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cached_property, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import number_call_ids, strip_tool_calls
from pytest_personalens.core.dialogue.state import state_difference
from pytest_personalens.core.dialogue.tool_calls import call_lines
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.files.links import read_own
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.core.text.node_ids import holds_case
from pytest_personalens.models.tape import Row, read_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message, Role
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.scenario import BaseScenario


#: The folder of records next to a test file.
FOLDER: Final = "__personalens__"
#: The beginning of the name of a folder with records of dialogues that existed already.
STORED: Final = "stored-"
#: Folders of installed packages, or of other snapshots.
_APART: Final = frozenset({"node_modules", "site-packages", "__pycache__", "__snapshots__"})


class OtherRecords(NamedTuple):
    """The places where other tests may have records of the same case; all fields can be pickled.

    `record_file` is the path of the item's own record. `case` is the id of a scenario with its control and
    its trial: none of them uses the answers of another.
    """

    root: str
    record_file: str
    case: str

    def rows(self, scenario: BaseScenario) -> Iterator[Row]:
        """Yield the answers in readable records, searched anew, because a test may have just written one."""
        here = Path(self.record_file).parent.parent
        for folder in dict.fromkeys((here, *map(Path, record_folders(self.root)))):
            for file in sorted(folder.glob(f"*/*{self.case}*.json")) if folder.is_dir() else ():
                # The name of a record is the end of its item's node id.
                if str(file) == self.record_file or not holds_case(file.stem, self.case):
                    continue
                try:
                    record = read_record(read_own(file, Path(self.root)).decode("utf-8"), str(file))
                except (RecordError, OSError, ValueError):
                    continue  # its own test reports the problem
                if record.case == self.case:
                    yield from record.restored(scenario).rows


def refuse_old(root: Path) -> None:
    """Raise the `RecordError` of the first record below `root` that is of version 0.2 or a newer one.

    One file of each folder is read: a folder is written by one version.
    """
    for folder in map(Path, record_folders(str(root))):
        for below in sorted(folder.iterdir()):
            file = next(iter(sorted(below.glob("*.json"))), None)
            try:
                if file is not None:
                    read_record(read_own(file, root).decode("utf-8", "replace"), str(file.relative_to(root)))
            except OtherVersion:
                raise
            except (RecordError, OSError):
                continue  # its own test reports the problem


@lru_cache(maxsize=8)
def record_folders(root: str) -> tuple[str, ...]:
    """Return the folders below `root` that hold records, without those of installed packages."""
    folders = []
    for folder, below, _ in os.walk(root):
        if FOLDER in below:
            folders.append(str(Path(folder, FOLDER)))
        below[:] = [
            name
            for name in below
            if name not in _APART
            and name != FOLDER
            and name[0] != "."
            and not Path(folder, name, "pyvenv.cfg").exists()
        ]
    return tuple(sorted(folders))


RECORD_VERSION: Final = 2
#: The fields of readings that have no verdict, each with why.
_GAPS: Final = ("unread", "not_judged")
_RESTORE: Final = "restore it from version control, or write it anew with --personalens-record new"


class ForeignRecord(RecordError):
    """A file in the place of a record that no run may replace: another program's, or another version's."""


class OtherVersion(ForeignRecord):
    """A record of another version of this package."""


class Record:
    """One evaluation on disk, as plain data: the dialogue, its agents, the verdicts, and the calls.

    `case` is the scenario's id with control and trial. `content` is the digest of the scenario. The texts of
    others in it are digests. By `integrity`, an edit by hand is noticed.
    """

    def __init__(self, data: Mapping[str, Any], where: str) -> None:
        self.data, self.where = data, where
        self.case, self.suite = str(data["case"]), str(data.get("suite", FIRST_SUITE))
        self.scenario, self.content = str(data["scenario"]), str(data["content"])
        self.user_agent, self.judge = str(data["user_agent"]), str(data["judge"])
        self.assistant = str(data.get("assistant", ""))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The answers that the evaluation rests on."""
        return tuple(map(read_row, self.data["calls"]))

    @cached_property
    def dialogue(self) -> Dialogue:
        """What was said."""
        return Dialogue.model_validate(self.data["dialogue"])

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The readings that the judge gave."""
        return tuple(map(Verdict.model_validate, self.data["verdicts"]))

    @property
    def text(self) -> str:
        """The content of the file."""
        return json.dumps(self.data, indent=2, ensure_ascii=False) + "\n"

    def restored(self, scenario: BaseScenario) -> Record:
        """Return the record with the texts of others that it holds as digests, where they are still there."""
        texts = {text_digest(text): text for text in scenario.unrecorded}
        return Record(_with_texts(self.data, texts), self.where) if texts else self

    def with_calls_of(self, other: Record) -> Record:
        """Return the record with the calls of `other` that it lacks beside its own."""
        known = {row.key for row in self.rows}
        calls = [*self.rows, *(row for row in other.rows if row.key not in known)]
        return _sealed({**self.data, "calls": [row.data() for row in calls]}, self.where)

    def keeping(self, other: Record) -> Record:
        """Return the record with what `other`, the one in the file, knows of the same dialogue.

        That is the verdicts of readings that this run did not ask for, with their calls; and its ids of tool
        calls, which frameworks make anew in every run.
        """
        same_agents = (self.case, self.content, self.user_agent, self.judge, self.assistant) == (
            other.case, other.content, other.user_agent, other.judge, other.assistant,
        )  # fmt: skip
        if not same_agents or seen(self.dialogue) != seen(other.dialogue):
            return self
        gaps = [self.data.get(name, {}) for name in _GAPS]
        read = {v["dimension"] for v in self.data["verdicts"]}.union(*gaps)
        roles = {row.role for row in self.rows}
        verdicts = [v for v in other.data["verdicts"] if v["dimension"] not in read]
        kept = {
            name: gap | {d: why for d, why in other.data.get(name, {}).items() if d not in read}
            for name, gap in zip(_GAPS, gaps, strict=True)
        }
        order = {v["dimension"]: place for place, v in enumerate(other.data["verdicts"])}
        rows = [*self.rows, *(row for row in other.rows if verdicts and row.role not in roles)]
        return _sealed(
            {
                **self.data,
                "dialogue": other.data["dialogue"],
                "verdicts": sorted(
                    [*self.data["verdicts"], *verdicts],
                    key=lambda verdict: order.get(verdict["dimension"], len(order)),
                ),
                **_unless_empty(**kept),
                "calls": [row.data() for row in sorted(rows, key=lambda row: row.role)],
            },
            self.where,
        )


def record_of(
    evaluation: Evaluation, scenario: BaseScenario, case: str, rows: Iterable[Row], where: str = ""
) -> Record:
    """Return the record of an evaluation, finished or not, with the calls that it rests on."""
    texts = {text: text_digest(text) for text in scenario.unrecorded}
    data = {
        "record": RECORD_VERSION,
        "case": case,
        **_unless_empty(suite="" if scenario.suite == FIRST_SUITE else scenario.suite),
        "content": scenario.digest,
        **plain(evaluation),
        "calls": [row.data() for row in rows],
    }
    return _sealed(_with_texts(data, texts) if texts else data, where)


def plain(evaluation: Evaluation) -> dict[str, Any]:
    """Return what a record says of an evaluation itself, as plain data for people to read."""
    return {
        "scenario": evaluation.scenario,
        "dataset": evaluation.dataset,
        "user_agent": evaluation.user_agent,
        "judge": evaluation.judge,
        **_unless_empty(assistant=evaluation.assistant, cause=evaluation.cause, detail=evaluation.detail),
        "verdicts": [verdict.model_dump(mode="json") for verdict in evaluation.verdicts],
        **_unless_empty(
            unread={d.value: why for d, why in evaluation.unread.items()},
            not_judged={d.value: why for d, why in evaluation.not_judged.items()},
        ),
        "dialogue": evaluation.dialogue.model_dump(mode="json"),
    }


def read_record(text: str, where: str) -> Record:
    """Return the record in the text of the file `where`.

    Raise `RecordError` if it is cut off or edited, and `ForeignRecord` if it must not be replaced either.
    """
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("expected an object")
        if data.get("record") != RECORD_VERSION:
            _refuse_foreign(data, where)
        record = Record(data, where)
        if data.get("integrity") == integrity_of(data):
            return record
        _ = record.dialogue, record.verdicts, record.rows
    except ForeignRecord:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        problem = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{where}: the record cannot be read ({problem}); {_RESTORE}") from None
    raise RecordError(
        f"{where}: the record was edited by hand (its integrity digest does not match); {_RESTORE}"
    )


def _refuse_foreign(data: Mapping[str, Any], where: str) -> None:
    version = data.get("record")
    if version == 1:
        raise OtherVersion(
            f"{where}: the record is of version 0.2, and does not say what was asked; turn the records into"
            " stored dialogues with their verdicts by: personalens records FOLDER --write FILE.jsonl, then"
            " remove them"
        )
    if isinstance(version, int) and version > RECORD_VERSION:
        raise OtherVersion(f"{where}: the record is of a newer version (record {version}); update the plugin")
    raise ForeignRecord(f"{where}: is no record, and stays as it is; move it away")


class TurnDifference(NamedTuple):
    """The first turn of a dialogue that differs from its record, with both texts.

    `before` is empty if the record had ended. If only the tool calls differ, `calls` is true, and the texts
    are those of the calls.
    """

    turn: int
    role: Role
    before: str
    now: str
    calls: bool = False

    def __str__(self) -> str:
        if self.calls:
            return f"the tool calls of the {self.role}'s turn {self.turn} differ"
        turn = f"the {self.role}'s turn {self.turn}"
        return f"{turn} differs" if self.before else f"the dialogue ended before {turn}"


def first_difference(before: Sequence[Message], now: Sequence[Message]) -> TurnDifference | None:
    """Return the first turn that differs from the record, or None.

    `now` may be only the beginning of a dialogue. The ids of tool calls do not count.
    """
    for turn, (stored, message) in enumerate(zip_longest(number_call_ids(before), number_call_ids(now))):
        if stored == message or message is None:
            continue
        if stored is not None and stored.content == message.content:
            then, today = ("; ".join(call_lines(m)) or "no tool call" for m in (stored, message))
            return TurnDifference(turn, message.role, then, today, calls=True)
        return TurnDifference(turn, message.role, stored.content if stored else "", message.content)
    return None


def why_stale(
    record: Record, scenario: BaseScenario, role: str, asked: Mapping[str, str], heard: object
) -> str:
    """Return why the record does not answer what a role is asked, as far as it can be told.

    `heard` is the dialogue that is judged, or the messages that the user has heard so far.
    """
    name = role.partition(" ")[0] if role.startswith("judge ") else role
    of_role = [row for row in record.rows if row.role.startswith(name)]
    now = heard if isinstance(heard, Dialogue) else None
    if now is not None:
        departs = first_difference(record.dialogue.messages, now.messages)
        if problem := departs or state_difference(record.dialogue.state, now.state):
            return str(problem)
    elif heard and (
        departs := first_difference(strip_tool_calls(record.dialogue.messages), _messages(heard))
    ):
        return str(departs)
    # The row that differs least says best what has changed.
    nearest = max(of_role, key=lambda row: len(row.asked.items() & asked.items()), default=None)
    changed = [part for part in asked if nearest is not None and nearest.asked.get(part) != asked[part]]
    for part in ("model", "agent"):
        if nearest is not None and part in changed and part in nearest.asked:
            return f"the {name} was {nearest.asked[part]}, and is {asked[part]} now"
    if record.content != scenario.digest:
        return "its scenario has changed"
    if role != name and not any(row.role == role for row in of_role):
        return f"no verdict on {role.partition(' ')[2]} for this dialogue"
    told = [part for part in changed if part not in ("transcript", "dialogue")]
    if told:
        return f"the {name}'s {' and '.join(told)} {'have' if len(told) > 1 else 'has'} changed"
    return f"it ends before turn {len(record.dialogue.messages)}"


def _messages(heard: object) -> Sequence[Message]:
    return heard if isinstance(heard, (list, tuple)) else ()


def text_digest(text: str) -> str:
    """Return what stands in a record for a text that is not ours to keep."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _with_texts(data: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of a record with other texts of the user, in the dialogue and in the calls."""

    def other(said: Any) -> Any:
        return {**said, "content": texts.get(said["content"], said["content"])}

    dialogue = data["dialogue"]
    messages = [other(m) if m["role"] == "user" else m for m in dialogue["messages"]]
    calls = [
        {**call, "answer": other(call["answer"])}
        if call["role"] == "user agent" and "content" in (call["answer"] or ())
        else call
        for call in data["calls"]
    ]
    return {**data, "dialogue": {**dialogue, "messages": messages}, "calls": calls}


def _sealed(data: Mapping[str, Any], where: str) -> Record:
    return Record({**data, "integrity": integrity_of(data)}, where)


def _unless_empty(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def seen(dialogue: Dialogue) -> str:
    """Return everything that a judge can see of a dialogue, as JSON, with numbers for the ids of calls."""
    same = dialogue.model_copy(update={"messages": number_call_ids(dialogue.messages)})
    return same.model_dump_json()


def integrity_of(data: Mapping[str, Any]) -> str:
    """Return the digest of a record's data, of version 1 too."""
    text = _ENCODER.encode({key: value for key, value in data.items() if key != "integrity"})
    return hashlib.sha256(text.encode()).hexdigest()[:32]


#: `json.dumps` would make a new encoder at every call.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True)
