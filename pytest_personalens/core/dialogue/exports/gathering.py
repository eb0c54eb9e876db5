"""Reads files of JSON values, gathers the pieces of exports, and joins those that belong to one dialogue."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.exports.export_pieces import Messages, Piece
from pytest_personalens.core.dialogue.exports.layouts import layout_of
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.json_lines import read_json_lines

if TYPE_CHECKING:
    from pathlib import Path


#: How files begin that hold no text, what they are, and what to do.
_BINARY: Final = (
    (b"PAR1", "a Parquet file", "duckdb -c \"COPY (FROM '{name}') TO '{stem}.jsonl'\""),
    (b"\x1f\x8b", "compressed by gzip", "gunzip {name}"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", "unzstd {name}"),
    (b"PK\x03\x04", "a zip archive", "unzip {name}"),
)  # fmt: skip


_NO_SPACE: Final = re.compile(r"\S")


class Value(NamedTuple):
    """A JSON value of a file; `where` is its line or its place in a list, `number` the same from 1."""

    where: str
    number: int
    value: Any
    problem: DataError | None = None


def read_values(file: Path) -> list[Value]:
    """Return the values of a file of JSON, with the problems of its lines in their places.

    A file is read by lines, or whole if its first line alone is no JSON. Raise `DataError` for one that
    cannot be read; of a format that holds no text it says what to run.
    """
    _check_text(file)
    lines = read_json_lines(file)
    values: list[Value] = []
    for line in lines:
        try:
            values.append(Value(line.where, line.number, line.value()))
        except DataError as problem:
            if line is lines[0] and len(lines) > 1 and (whole := _whole(file)) is not None:
                values = whole
                break
            values.append(Value(line.where, line.number, None, problem))
    if len(values) == 1 and _is_list_of_dialogues(values[0].value):
        return _listed(values[0].value)
    return values


def _whole(file: Path) -> list[Value] | None:
    """Return the values of a file, each over many lines; None if it is something else."""
    text, end, decoder = file.read_text(encoding="utf-8-sig"), 0, json.JSONDecoder()
    values: list[Value] = []
    try:
        while (begin := _NO_SPACE.search(text, end)) is not None:
            value, end = decoder.raw_decode(text, begin.start())
            values.append(Value(f"value {len(values) + 1}", len(values) + 1, value))
    except (ValueError, RecursionError):
        return None
    return [values[0]._replace(where="line 1")] if len(values) == 1 else values


def _is_list_of_dialogues(value: object) -> bool:
    """True for a list of objects, or of lists of messages, that are no messages themselves."""
    if not isinstance(value, list) or not value:
        return False
    first = value[0]
    return isinstance(first, list) or (isinstance(first, dict) and not {"role", "from"} & first.keys())


def _listed(values: list[Any]) -> list[Value]:
    return [Value(f"dialogue {n + 1}", n + 1, value) for n, value in enumerate(values)]


def _check_text(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            begin = opened.read(4)
    except (OSError, ValueError) as error:
        raise DataError(
            file, f"cannot be read: {getattr(error, 'strerror', None) or error}", code="PL201"
        ) from None
    for magic, what, command in _BINARY:
        if begin == magic or (len(magic) == 2 and begin[:2] == magic):
            if file.suffix == ".eval":
                what, command = "an inspect log (a zip archive)", "inspect log dump {name} > {stem}.json"
            run = command.format(name=file.name, stem=file.stem)
            raise DataError(file, f"not valid JSON: it is {what}; run: {run}", code="PL205")


class Exported(NamedTuple):
    """A dialogue of an export, with OpenAI's messages; `number` is that of its line or place, from 1.

    `scenario` is what the metadata of the export says, or its id.
    """

    file: Path
    where: str
    number: int
    messages: Messages
    id: str
    scenario: object
    assistant: str


class _Found(NamedTuple):
    file: Path
    where: str
    number: int
    layout: str
    piece: Piece


class Exports:
    """Dialogues of exports. A batch has its halves in two files; a dialogue may have several traces."""

    def __init__(self) -> None:
        self._found: list[_Found] = []

    def add(self, file: Path, where: str, number: int, value: Any) -> bool:
        """Take an object if it has a known layout; raise `DataError` for one that cannot be read."""
        try:
            layout = layout_of(value)
        except (RecursionError, TypeError):
            return False
        if layout is None:
            return False
        try:
            for piece in layout.read(value):
                said = [message for message in piece.messages if message.get("role") != "system"]
                found = _Found(file, where, number, layout.name, piece._replace(messages=said))
                self._found.append(found)
        except ValueError as error:
            raise DataError(file, f"{layout.name}: {error}", field=where) from None
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
            problem = f"it looks like {layout.name}, and is not as its format has it ({error})"
            raise DataError(file, problem, field=where) from None
        return True

    def dialogues(self) -> list[Exported]:
        """Return the dialogues in the order of the files; raise `DataError` for half of a batch."""
        groups: dict[object, list[_Found]] = {}
        for n, found in enumerate(_without_repeats(self._found)):
            grouped = found.piece.group and not found.piece.half
            groups.setdefault((found.layout, found.piece.group) if grouped else n, []).append(found)
        return [_joined(group) for group in map(self._with_request, groups.values()) if group]

    def _with_request(self, group: list[_Found]) -> list[_Found]:
        """Return a result of a batch with its request before it, and no request for itself."""
        (found, *_) = group
        if not found.piece.half:
            return group
        every = [f for f in self._found if f.piece.half and f.piece.group == found.piece.group]
        # Two batches may give the same name to a request: then it stands in the file of the result.
        pairs = sorted(
            (f for f in every if f.piece.half != found.piece.half), key=lambda f: f.file == found.file
        )
        if not pairs:
            half, other = found.piece.half, "results" if found.piece.half == "request" else "requests"
            problem = f"the {half} {found.piece.id!r} alone; name the file of the {other} beside this one"
            raise DataError(found.file, problem, field=found.where)
        return [] if found.piece.half == "request" else [pairs[-1], found]


def _without_repeats(every: list[_Found]) -> list[_Found]:
    """Return what was found without calls that repeat others.

    Of nested spans the outermost is read, with the messages of the fullest that ends with the same reply: an
    agent's span may leave out its tools. A call that another goes on from is a part of the same dialogue.
    """
    spans = {(f.piece.trace, f.piece.span): f for f in every if f.piece.span}
    kept: list[_Found] = []
    for found in every:
        outer, at, seen = found, (found.piece.trace, found.piece.parent), set[object]()
        while at in spans and at not in seen:
            seen.add(at)
            outer = spans[at] if spans[at].piece.messages else outer
            at = (found.piece.trace, spans[at].piece.parent)
        if outer is not found:
            said, fuller = outer.piece.messages, found.piece.messages
            if fuller[-1:] == said[-1:] and len(fuller) > len(said):
                said[:] = fuller
        elif found.piece.messages or not found.piece.span:
            kept.append(found)
    calls: defaultdict[str, list[Messages]] = defaultdict(list)
    for found in filter(_is_call, kept):
        calls[str(found.piece.messages[:2])].append(found.piece.messages)

    def goes_on(before: Messages) -> bool:
        longer = (one for one in calls[str(before[:2])] if len(one) > len(before))
        return any(one[: len(before)] == before for one in longer)

    return [found for found in kept if not (_is_call(found) and goes_on(found.piece.messages))]


def _is_call(found: _Found) -> bool:
    """True for a call of a log that does not say which dialogue it belongs to."""
    return bool(found.piece.span and not found.piece.group)


def _joined(group: list[_Found]) -> Exported:
    messages: Messages = []
    for found in sorted(group, key=lambda found: found.piece.time):
        turn = found.piece.messages
        # A trace holds either all that was said before, or its own turn only.
        messages = turn if turn[: len(messages)] == messages else [*messages, *turn]
    last = group[-1]
    scenario = next(
        (found.piece.scenario for found in reversed(group) if found.piece.scenario), last.piece.id
    )
    return Exported(
        last.file, last.where, last.number, messages, last.piece.id, scenario, last.piece.assistant
    )
