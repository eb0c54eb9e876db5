"""Appends lines to a file that processes share, and numbers them."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
