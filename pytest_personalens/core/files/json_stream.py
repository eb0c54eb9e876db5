"""Reads values one by one from a JSON file of any size.

The standard library's decoder reads one value at a time from a window of text. That is as fast as
``json.load``, and holds only one megabyte of a file of 200 megabytes. For this reason, no streaming library
is needed.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WINDOW: Final = 1 << 20
_SPACE: Final = re.compile(r"[ \t\n\r]*")
#: An error within this distance from the end of the window may be due to text that is not read yet.
_NEAR: Final = 32
_DECODER: Final = json.JSONDecoder()
CHANGED: Final = "has changed since this run began; run again"
_DEEP: Final = "an entry is nested too deeply to be read; take it out"


def read_at(path: Path, start: int, size: int) -> dict[str, Any]:
    """Return the object with these bytes. Raise `DataError` if the file has changed meanwhile."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            value = read_object(file.read(size))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    if value is None:
        raise DataError(path, CHANGED)
    return value


def read_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the object in a JSON text, or None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class JsonWindow:
    """A part of a file as text, which moves forward while it is read."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self.hash = path, hashlib.sha256()
        self._file, self._decoder = file, codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._ended = "", 0, False
        #: The number of bytes of the file before the character up to which bytes are counted.
        self._bytes, self._counted = 0, 0
        self._more(_WINDOW)
        if self._text.startswith("\ufeff"):
            self._at = 1

    def error(self, problem: str) -> DataError:
        """Return an error about the present place."""
        if not self.peek():
            return DataError(self.path, "ends too early: it was cut off; get it again", code="PL201")
        return DataError(self.path, f"{problem} (at byte {self._place() + 1:,})")

    def peek(self) -> str:
        """Return the next character that is no space, or an empty text at the end."""
        while True:
            self._at += len(_SPACE.match(self._text, self._at)[0])  # type: ignore[index]  # may be empty
            if self._at < len(self._text) or not self._more(_WINDOW):
                return self._text[self._at : self._at + 1]

    def names(self) -> Iterator[str]:
        """Yield the keys of an object; the caller reads the value of each."""
        for _ in self._between("{", "}"):
            _, _, key = self.value()
            if not isinstance(key, str):
                raise self.error("not valid JSON: expected a name in quotes")
            self._take(":")
            yield key

    def array(self) -> Iterator[tuple[int, int, object]]:
        """Yield the values of a list, each with the place and number of its bytes."""
        for _ in self._between("[", "]"):
            yield self.value()

    def value(self) -> tuple[int, int, object]:
        """Return the next value, with the place and number of its bytes."""
        self.peek()
        wanted = _WINDOW
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise self.error(_DEEP) from None
            except json.JSONDecodeError as error:
                within_text = error.msg.startswith("Unterminated")
                if self._ended or not (within_text or error.pos > len(self._text) - _NEAR):
                    self._at = len(self._text) if within_text else error.pos
                    raise self.error(f"not valid JSON: {error.msg}") from None
            except ValueError as error:  # a number has thousands of digits
                raise self.error(f"not valid JSON: {error}") from None
            else:
                if end < len(self._text) or self._ended:
                    start, self._at = self._place(), end
                    return start, self._place() - start, value
            self._more(wanted)
            wanted *= 2

    def _between(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self.peek() != closing:
            yield
            while self.peek() == ",":
                self._take(",")
                yield
        self._take(closing)

    def _take(self, character: str) -> None:
        if self.peek() != character:
            raise self.error(f"not valid JSON: expected {character}")
        self._at += 1

    def _place(self) -> int:
        """Return the number of bytes before the next character."""
        passed = self._text[self._counted : self._at]
        self._bytes += len(passed) if passed.isascii() else len(passed.encode())
        self._counted = self._at
        return self._bytes

    def _more(self, size: int) -> bool:
        """Read the next part of the file; return False at its end."""
        self._place()
        content = self._file.read(size)
        self.hash.update(content)
        self._ended = not content
        try:
            new = self._decoder.decode(content, final=self._ended)
        except UnicodeDecodeError:
            raise DataError(self.path, "is not UTF-8; save it as UTF-8", code="PL205") from None
        self._text, self._at, self._counted = self._text[self._at :] + new, 0, 0
        return not self._ended
