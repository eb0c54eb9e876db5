"""The record of an evaluation: what was said, the verdicts, and the calls that bought them."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import call_lines, number_call_ids, strip_tool_calls
from pytest_personalens.core.dialogue.state import state_difference
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.files.links import refuse_links
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.names import FIRST_SUITE, holds_case
from pytest_personalens.core.suite import get_suite
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
RECORD_VERSION: Final = 2
#: Folders that hold nothing that a team wrote: records, installed packages, and other snapshots.
APART: Final = frozenset({FOLDER, "node_modules", "site-packages", "__pycache__", "__snapshots__"})
#: What records of one dialogue have in common, whatever was read in it.
_SAME: Final = ("case", "content", "user_agent", "judge", "assistant")
#: The fields that a record has only where they say something.
_OPTIONAL: Final = ("suite", "assistant", "cause", "detail", "unread", "not_judged", "audit")
_RESTORE: Final = "restore it from version control, or write it anew with --personalens-record new"


class ForeignRecord(RecordError):
    """A file in the place of a record that no run may replace: another program's, or another version's."""


class OtherVersion(ForeignRecord):
    """A record of another version of this package."""


class Record:
    """One evaluation on disk, as plain data: the dialogue, its agents, the verdicts, and the calls.

    `case` is the scenario's id with control and trial. `content` is the digest of the scenario. The texts of
    others in it are digests. By `integrity`, an edit by hand is noticed. The agents of this package make no
    calls: they cost nothing, and say the same again.
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

    def changed(self, **fields: Any) -> Record:
        """Return a record with other fields; one of `_OPTIONAL` is left out if it is empty."""
        data = {n: v for n, v in {**self.data, **fields}.items() if v or n not in _OPTIONAL}
        return Record({**data, "integrity": integrity_of(data)}, self.where)

    def restored(self, scenario: BaseScenario) -> Record:
        """Return the record with the texts of others that it holds as digests, where they are still there."""
        texts = {text_digest(text): text for text in scenario.unrecorded}
        return Record(_with_texts(self.data, texts), self.where) if texts else self

    def repeats(self, other: Record) -> bool:
        """True if it says the same as `other`, and rests on no call that this does not hold."""
        left_out = ("calls", "integrity", "audit")
        mine, theirs = ({n: v for n, v in r.data.items() if n not in left_out} for r in (self, other))
        return mine == theirs and all(call in other.data["calls"] for call in self.data["calls"])

    def with_calls_of(self, other: Record) -> Record:
        """Return the record with the calls of `other` that it lacks beside its own."""
        known = {row.key for row in self.rows}
        others = [row.data() for row in other.rows if row.key not in known]
        return self.changed(calls=[*self.data["calls"], *others])

    def keeping(self, other: Record) -> Record:
        """Return the record with what `other`, the one in the file, knows of the same dialogue.

        That is the verdicts of readings that this run did not ask for, with their calls; and its ids of tool
        calls, which frameworks make anew in every run.
        """
        same = all(self.data.get(name) == other.data.get(name) for name in _SAME)
        if not same or seen(self.dialogue) != seen(other.dialogue):
            return self
        mine, theirs = self._readings(), other._readings()
        asked = {dimension for readings in mine.values() for dimension in readings}
        both: dict[str, Any] = {
            name: {d: v for d, v in theirs[name].items() if d in readings or d not in asked} | readings
            for name, readings in mine.items()
        }
        calls = list(self.data["calls"])
        if len(both["verdicts"]) > len(mine["verdicts"]):
            roles = {call["role"] for call in calls}
            calls += (call for call in other.data["calls"] if call["role"] not in roles)
        both |= {"verdicts": list(both["verdicts"].values()), "dialogue": other.data["dialogue"]}
        return self.changed(**both, calls=sorted(calls, key=lambda call: str(call["role"])))

    def _readings(self) -> dict[str, dict[str, Any]]:
        """Return by dimension the verdicts, and why there is none."""
        verdicts = {verdict["dimension"]: verdict for verdict in self.data["verdicts"]}
        return {"verdicts": verdicts, **{name: self.data.get(name, {}) for name in ("unread", "not_judged")}}


def record_of(
    evaluation: Evaluation, scenario: BaseScenario, case: str, rows: Iterable[Row], where: str = ""
) -> Record:
    """Return the record of an evaluation, finished or not, with the calls that it rests on."""
    faults, data = evaluation.user_faults, plain(evaluation)
    audit = faults is not None and {
        "by": get_suite(scenario.suite).auditor,
        "faults": [fault.model_dump(mode="json") for fault in faults],
    }
    head = {
        "record": RECORD_VERSION,
        "case": case,
        "suite": scenario.suite if scenario.suite != FIRST_SUITE else "",
        "content": scenario.digest,
    }
    data = {**head, **data, "audit": audit, "calls": [row.data() for row in rows]}
    texts = {text: text_digest(text) for text in scenario.unrecorded}
    return Record(_with_texts(data, texts) if texts else data, where).changed()


def plain(evaluation: Evaluation) -> dict[str, Any]:
    """Return what a record says of an evaluation itself, as plain data for people to read."""
    fields = ("scenario", "dataset", "user_agent", "judge", *_OPTIONAL[1:], "verdicts", "dialogue")
    data = evaluation.model_dump(mode="json", include=set(fields))
    return {name: data[name] for name in fields if name in data and (data[name] or name not in _OPTIONAL)}


def open_record(file: Path, root: Path, where: str = "") -> Record:
    """Return the record in a file below `root`; raise `OSError`, or `RecordError`, which names it `where`."""
    refuse_links(file, root)
    return read_record(file.read_text(encoding="utf-8", errors="replace"), where or str(file))


def read_record(text: str, where: str) -> Record:
    """Return the record in the text of the file `where`.

    Raise `RecordError` if it is cut off or edited, and `ForeignRecord` if it must not be replaced either.
    """
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("expected an object")
        version = data.get("record")
        if version == 1:
            raise OtherVersion(
                f"{where}: the record is of version 0.2, and does not say what was asked; turn the records"
                " into stored dialogues with their verdicts by: personalens records FOLDER --write"
                " FILE.jsonl, then remove them"
            )
        if isinstance(version, int) and version > RECORD_VERSION:
            raise OtherVersion(
                f"{where}: the record is of a newer version (record {version}); update the plugin"
            )
        if version != RECORD_VERSION:
            raise ForeignRecord(f"{where}: is no record, and stays as it is; move it away")
        record = Record(data, where)
        if data.get("integrity") == integrity_of(data):
            return record
        _ = record.dialogue, record.verdicts, record.rows
        problem = "was edited by hand (its integrity digest does not match)"
    except ValidationError as error:
        problem = f"cannot be read ({': '.join(first_problem(error))})"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        problem = f"cannot be read ({error})"
    raise RecordError(f"{where}: the record {problem}; {_RESTORE}")


class OtherRecords(NamedTuple):
    """The places where other tests may have records of the same case; all fields can be pickled.

    `record_file` is the path of the item's own record. `case` is the id of a scenario with its control and
    its trial: none of them uses the answers of another.
    """

    root: str
    record_file: str
    case: str

    def rows(self, scenario: BaseScenario) -> Iterator[Row]:
        """Yield the answers in readable records. Files are searched anew: a test may have written one."""
        folders = (str(Path(self.record_file).parents[1]), *record_folders(self.root))
        for file in (
            file for folder in dict.fromkeys(folders) for file in sorted(Path(folder).glob("*/*.json"))
        ):
            # The name of a record is the end of its item's node id.
            if str(file) != self.record_file and holds_case(file.stem, self.case):
                with suppress(RecordError, OSError, ValueError):  # its own test reports the problem
                    record = open_record(file, Path(self.root))
                    if record.case == self.case:
                        yield from record.restored(scenario).rows


def refuse_old(root: Path) -> None:
    """Raise the `RecordError` of the first record below `root` that is of version 0.2 or a newer one.

    One file of each folder is read: a folder is written by one version.
    """
    for folder in record_folders(str(root)):
        for below in sorted(Path(folder).iterdir()):
            for file in sorted(below.glob("*.json"))[:1]:
                try:
                    open_record(file, root, str(file.relative_to(root)))
                except OtherVersion:
                    raise
                except (RecordError, OSError):
                    pass  # its own test reports the problem


@lru_cache(maxsize=8)
def record_folders(root: str) -> tuple[str, ...]:
    """Return the folders below `root` that hold records, without those of installed packages.

    A process looks once: a large repository takes seconds, and a test's own folder is known without it.
    """
    every = (Path(folder, FOLDER) for folder, _ in own_folders(root))
    return tuple(sorted(str(folder) for folder in every if folder.is_dir()))


def own_folders(root: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Yield `root` and the folders below it, each with the names of its files, but for those of `APART`,
    hidden ones and environments of Python.
    """
    for folder, below, files in os.walk(root):
        names = (name for name in below if name not in APART and name[0] != ".")
        below[:] = [name for name in names if not Path(folder, name, "pyvenv.cfg").exists()]
        yield folder, files


def text_digest(text: str) -> str:
    """Return what stands in a record for a text that is not ours to keep."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _with_texts(data: Any, texts: Mapping[str, str]) -> Any:
    """Return the data of a record, or a part of it, where whole messages have these other texts."""
    if isinstance(data, dict):
        return {
            name: texts.get(value, value)
            if name == "content" and isinstance(value, str)
            else _with_texts(value, texts)
            for name, value in data.items()
        }
    return [_with_texts(value, texts) for value in data] if isinstance(data, list) else data


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
        turn = f"the {self.role}'s turn {self.turn}"
        if self.calls:
            return f"the tool calls of {turn} differ"
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
    record: Record | None, scenario: BaseScenario, role: str, asked: Mapping[str, str], heard: object
) -> str:
    """Return why the record does not answer what a role is asked, as far as it can be told.

    `heard` is the dialogue that is judged, or the messages that the user has heard so far.
    """
    if record is None:
        return ""
    before = record.dialogue
    departs: object = None
    if isinstance(heard, Dialogue):
        departs = first_difference(before.messages, heard.messages)
        departs = departs or state_difference(before.state, heard.state)
    elif isinstance(heard, (list, tuple)):
        departs = first_difference(strip_tool_calls(before.messages), heard)
    if departs:
        return str(departs)
    name = role.partition(" ")[0] if role.startswith("judge ") else role
    of_role = [row for row in record.rows if row.role.startswith(name)]
    # The row that differs least says best what has changed.
    nearest = max(of_role, key=lambda row: len(row.asked.items() & asked.items()), default=None)
    was = nearest.asked if nearest is not None else asked
    changed = [part for part in asked if was.get(part) != asked[part]]
    for part in ("model", "agent"):
        if part in changed and part in was:
            return f"the {name} was {was[part]}, and is {asked[part]} now"
    if record.content != scenario.digest:
        return "its scenario has changed"
    if role != name and not any(row.role == role for row in of_role):
        return f"no verdict on {role.partition(' ')[2]} for this dialogue"
    if told := [part for part in changed if part not in ("transcript", "dialogue")]:
        return f"the {name}'s {' and '.join(told)} {'have' if len(told) > 1 else 'has'} changed"
    return f"it ends before turn {len(before.messages)}"
