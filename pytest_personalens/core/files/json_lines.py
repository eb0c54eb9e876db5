"""Reads files with one JSON value a line, and appends numbered lines to a file that processes share."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class JsonLine(NamedTuple):
    """A line that is not blank; `number` counts from 1."""

    file: Path
    number: int
    text: str
    last: bool

    @property
    def where(self) -> str:
        return f"line {self.number}"

    def value(self) -> Any:
        """Return the value; raise `DataError` where the line is no JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise self.problem(error) from None

    def problem(self, error: Exception) -> DataError:
        """Return the error for a line that is no JSON."""
        cut = "; the last line is cut off: write it again, or remove it" if self.last else ""
        what = "nested too deeply" if isinstance(error, RecursionError) else f"{error}{cut}"
        return DataError(self.file, f"not valid JSON: {what}", field=self.where, code="PL205")


def read_text(file: Path) -> str:
    """Return the text of a file; raise `DataError` if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # the path itself may be invalid
        why = getattr(error, "strerror", None) or error
        raise DataError(file, f"cannot be read: {why}", code="PL201") from None


def read_json_lines(file: Path) -> list[JsonLine]:
    """Return the lines that are not blank; raise `DataError` for a file that cannot be read."""
    text = read_text(file)
    # Not `splitlines`: a message may hold a line separator of Unicode, which ends no line of such a file.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [JsonLine(file, number, line, last=number == lines[-1][0]) for number, line in lines]


try:
    import msvcrt as _windows
except ImportError:
    _windows = None  # type: ignore[assignment]
#: The module of Windows that locks files, or None on another system.
_LOCKS: Any = _windows

_WIDTH: Final = 32
#: The byte that is locked. It is far behind the end of the file, because a locked byte cannot be read.
_LOCKED: Final = 1 << 30
_PATIENCE: Final = 60.0
_PAUSE: Final = 0.002


def append_line(path: Path, text: str) -> int:
    """Append a line of 32 bytes to the file, and return its number, from 1.

    `text` has at most 31 ASCII characters. Two processes never get the same number. Raise `OSError` if the
    file cannot be written.
    """
    # Without the binary mode Windows writes a line end of two bytes.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o600)
    try:
        with _locked(file):
            os.write(file, text.ljust(_WIDTH - 1).encode("ascii") + b"\n")
            return os.lseek(file, 0, os.SEEK_CUR) // _WIDTH
    finally:
        os.close(file)


@contextmanager
def _locked(file: int) -> Iterator[None]:
    """Keep other processes out on Windows, where appending is a seek and a write.

    On other systems the kernel does both in one step, and nothing is locked.
    """
    if _LOCKS is None:
        yield
        return
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            _lock(file, _LOCKS.LK_NBLCK)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        place = os.lseek(file, 0, os.SEEK_CUR)
        _lock(file, _LOCKS.LK_UNLCK)
        os.lseek(file, place, os.SEEK_SET)


def _lock(file: int, mode: int) -> None:
    os.lseek(file, _LOCKED, os.SEEK_SET)
    _LOCKS.locking(file, mode, 1)
