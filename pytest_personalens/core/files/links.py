"""Refuses symbolic links where this package reads and writes files, and keeps other processes out of them."""

from __future__ import annotations

import errno
import os
import re
import time
import uuid
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def read_own(path: Path, root: Path) -> bytes:
    """Return the content of a file that this package keeps below `root`; raise `OSError` for a link too."""
    refuse_links(path, root)
    return path.read_bytes()


def refuse_links(path: Path, root: Path) -> None:
    """Raise `OSError` if the path is a symbolic link, or goes through one below `root`.

    A pull request can bring a link; what is read or written there would be a file of somebody else.
    """
    whole = root / path
    if path.is_symlink() or _goes_through_link(str(whole.parent), str(root)):
        raise OSError(errno.ELOOP, "a symbolic link, which is not followed", str(path))


def leads_out(path: Path, root: Path) -> bool:
    """True if a path below `root` leads out of it, by a symbolic link."""
    whole = root / path
    below = root in Path(os.path.normpath(whole)).parents  # what begins with ".." lies beside it
    inside = Path(os.path.realpath(root)) in Path(os.path.realpath(whole)).parents
    return below and not inside


@lru_cache(maxsize=256)
def _goes_through_link(folder: str, root: str) -> bool:
    """True for a folder in or below `root` that a link below `root` leads to."""
    here, top = Path(folder), Path(root)
    ways = [way for way in (here, *here.parents) if top in way.parents]
    return any(way.is_symlink() for way in ways)


_DRAFT: Final = re.compile(r"(?P<stem>\..+)\.[0-9a-z_]+\.tmp")
#: Age in seconds after which no process can still be writing a draft.
_OLD: Final = 3600
#: Windows' numbers for "access denied" and "in use by another process".
_IN_USE: Final = (5, 32)
#: Seconds between tries to replace a file that is in use.
_PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.3)
#: The longest path in characters that Windows takes by default. It says of a longer one that it is not found.
_LONGEST: Final = 259
#: Folder -> beginning of a draft's name -> old drafts. It holds the folders that this process wrote to.
_DRAFTS: Final[dict[Path, dict[str, list[Path]]]] = {}


def write_atomically(path: Path, content: str | bytes | Iterable[str], *, durable: bool = False) -> None:
    """Write the whole file, so that nobody ever sees half of it; a large one may come in parts.

    After a crash, and for a reader at any time, the file has either its old or its new content. The folder
    must exist. If two processes write the same file, the last one wins. A `durable` file is on disk when the
    function returns, and a power cut after it loses nothing.

    Raise `OSError` if the path is a symbolic link, because the file behind it may be somebody else's, or if
    it exists and is no file, such as a folder or a device. Root could otherwise replace a device for the
    whole machine.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a symbolic link, which is not followed", str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "a folder" if path.is_dir() else "a device, and no file", str(path))
    # The name does not use the process id, because two containers on one volume may both have the number 1.
    stem = f".{path.name[:80]}"
    draft = path.with_name(f"{stem}.{uuid.uuid4().hex[:12]}.tmp")
    _remove_old_drafts(path.parent, stem)
    try:
        # Characters that cannot be encoded are replaced, so that no paid result is lost because of one.
        with draft.open("wb") as file:
            for part in (content,) if isinstance(content, (str, bytes)) else content:
                file.write(part if isinstance(part, bytes) else part.encode("utf-8", errors="replace"))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        _replace(draft, path)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        if isinstance(error, FileNotFoundError) and len(str(draft)) > _LONGEST:
            many = f"the path has {len(str(draft))} characters, and Windows takes {_LONGEST} by default"
            raise OSError(errno.ENAMETOOLONG, many, str(path)) from None
        raise


def _replace(draft: Path, path: Path) -> None:
    """Move the draft to the path.

    Windows refuses this while another process has the file open, such as a reader or a virus scanner. They
    close it soon, so the move is tried again for a second.
    """
    for pause in (*_PAUSES, None):
        try:
            draft.replace(path)
            return
        except PermissionError as error:
            if pause is None or getattr(error, "winerror", None) not in _IN_USE:
                raise
            time.sleep(pause)


def _remove_old_drafts(folder: Path, stem: str) -> None:
    """Remove drafts left by killed processes; a folder is searched once, not at every write."""
    if folder not in _DRAFTS:
        _DRAFTS[folder] = {}
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                draft = _DRAFT.fullmatch(entry.name)
                if draft and entry.stat(follow_symlinks=False).st_mtime < time.time() - _OLD:
                    _DRAFTS[folder].setdefault(draft["stem"], []).append(Path(entry.path))
    for draft_of_it in _DRAFTS[folder].pop(stem, ()):
        with suppress(OSError):
            draft_of_it.unlink()


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
