"""Gathers the pieces of exports over files, and joins those that belong to one dialogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.core.dialogue.exports.layouts import layout_of
from pytest_personalens.core.dialogue.exports.pieces import Messages, Piece
from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


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
            self._found += [_Found(file, where, number, layout.name, piece) for piece in layout.read(value)]
        except ValueError as error:
            raise DataError(file, f"{layout.name}: {error}", field=where) from None
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
            problem = f"it looks like {layout.name}, and is not as its format has it ({error})"
            raise DataError(file, problem, field=where) from None
        return True

    def dialogues(self) -> list[Exported]:
        """Return the dialogues in the order of the files; raise `DataError` for half of a batch."""
        groups: dict[object, list[_Found]] = {}
        for n, found in enumerate(self._found):
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


def _joined(group: list[_Found]) -> Exported:
    messages: Messages = []
    for found in sorted(group, key=lambda found: found.piece.time):
        turn = [message for message in found.piece.messages if message.get("role") != "system"]
        # A trace holds either all that was said before, or its own turn only.
        messages = turn if turn[: len(messages)] == messages else [*messages, *turn]
    last = group[-1]
    scenario = next(
        (found.piece.scenario for found in reversed(group) if found.piece.scenario), last.piece.id
    )
    return Exported(
        last.file, last.where, last.number, messages, last.piece.id, scenario, last.piece.assistant
    )
