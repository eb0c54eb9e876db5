"""The log of calls: what was paid for, on disk before it is used, for all processes of all runs."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.safe_text import slug
from pytest_personalens.models.tape import UNDER_TEST, Key, Row, read_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

#: Bytes that must be free before an answer is bought.
_ROOM: Final = 1 << 16
#: Seconds between tries to take a lock that another process has.
_PAUSE: Final = 0.02
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0)


#: What threads of this process are about to buy, by folder, case and question.
_BEING_BOUGHT: Final[set[tuple[str, str, Key]]] = set()
_CHANGED: Final = threading.Condition()
#: The last field of a line, by which a line that was edited is noticed.
_SUM: Final = b', "sum": "'


def _sum_of(line: bytes) -> bytes:
    return hashlib.sha256(line).hexdigest()[:12].encode()


class CallLog:
    """A folder with one file of JSON lines for each case; `run` is the id of this run.

    Every line is whole and on disk before its answer is used. Raise `OSError` if the folder cannot be
    written, or if it is a symbolic link.
    """

    def __init__(self, folder: Path, run: str = "") -> None:
        self.folder, self.run = folder, run
        folder.mkdir(parents=True, exist_ok=True)
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "a symbolic link", str(folder))
        # The file of locks stays open: to close any descriptor of it would give up all locks of the process.
        self._locks = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | _NO_LINK | _BINARY, 0o600)
        os.write(self._locks, b".")

    def case(self, case: str, *, anew: bool = False) -> CaseCalls:
        """Return the calls of a case; under `anew`, only those that this run bought."""
        return CaseCalls(self, case, anew=anew)

    def check_room(self, file: Path) -> None:
        """Raise `OSError` if the next answer would have no room on the disk, or in a file of that size."""
        disk = shutil.disk_usage(self.folder)
        if disk.total and disk.free < _ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0] if fcntl is not None else -1
        if 0 <= limit < _ROOM + (file.stat().st_size if file.exists() else 0):
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(file))

    @contextmanager
    def alone(self, case: str, key: Key, before: Callable[[], None]) -> Iterator[None]:
        """Wait until nobody else is about to buy the same; `before` may end the waiting with an error.

        A process that dies gives up its locks.
        """
        name = str(self.folder), case, key
        with _CHANGED:
            while name in _BEING_BOUGHT:
                _CHANGED.wait(_PAUSE)
                before()
            _BEING_BOUGHT.add(name)
        digest = hashlib.sha256(repr(name).encode("utf-8", "surrogatepass")).hexdigest()
        place = int(digest[:7], 16)
        try:
            while not self._lock(place, take=True):
                time.sleep(_PAUSE)
                before()
            yield
        finally:
            self._lock(place, take=False)
            with _CHANGED:
                _BEING_BOUGHT.discard(name)
                _CHANGED.notify_all()

    def _lock(self, place: int, *, take: bool) -> bool:
        """Take or give up the lock of one byte; False if another process has it."""
        try:
            if fcntl is not None:
                how = fcntl.LOCK_EX | fcntl.LOCK_NB if take else fcntl.LOCK_UN
                fcntl.lockf(self._locks, how, 1, place)
            else:  # pragma: no cover
                with _CHANGED:
                    os.lseek(self._locks, place + 1, os.SEEK_SET)
                    msvcrt.locking(self._locks, msvcrt.LK_NBLCK if take else msvcrt.LK_UNLCK, 1)
        except OSError as error:
            # Some network drives know no locks. Two runs at once then both pay, and that is all.
            return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
        return True


class FarCalls:
    """The calls of one case on another machine: those `known` when it was sent there, and those `added`."""

    file = "another machine"

    def __init__(self, known: Iterable[Row]) -> None:
        self._rows = {row.key: row for row in known}
        self.added: list[Row] = []

    def find(self, key: Key) -> Row | None:
        """Return the answer to a question, or None."""
        return self._rows.get(key)

    def append(self, row: Row) -> None:
        """Add a row, which the run's own machine keeps when the dialogue has ended."""
        self._rows[row.key] = row
        self.added.append(row)

    def check_room(self) -> None:
        """Do nothing: the machine of the run looks after the log."""

    def alone(self, key: Key, before: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context that keeps nobody out."""
        return nullcontext()


class CaseCalls:
    """The calls of one case in the log, read again when something may have been added."""

    def __init__(self, log: CallLog, case: str, *, anew: bool) -> None:
        self._log, self._case, self._anew = log, case, anew
        self.file: Path = log.folder / f"{slug(case)}.jsonl"
        self._rows: dict[Key, Row] = {}
        self._read = self._lines = 0
        #: The numbers of lines, from 1, that are cut off, edited or somebody else's.
        self.damaged: list[int] = []
        self._lock = threading.Lock()

    def check_room(self) -> None:
        """Raise `OSError` if the next answer could not be kept."""
        self._log.check_room(self.file)

    def alone(self, key: Key, before: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which nobody else buys the same."""
        return self._log.alone(self._case, key, before)

    def find(self, key: Key) -> Row | None:
        """Return the last answer to a question that may be used, or None."""
        with self._lock:
            self._read_on()
            return self._rows.get(key)

    def rows(self) -> list[Row]:
        """Return all answers that may be used."""
        with self._lock:
            self._read_on()
            return list(self._rows.values())

    def append(self, *rows: Row) -> None:
        """Add lines and wait until they are on disk; raise `OSError` if that fails."""
        lines = [
            json.dumps({"case": self._case, **row.data()}, ensure_ascii=False).encode("utf-8", "replace")
            for row in rows
        ]
        content = b"".join(b'%s%s%s"}\n' % (line[:-1], _SUM, _sum_of(line)) for line in lines)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NO_LINK | _BINARY
        file = os.open(self.file, flags, 0o600)
        try:
            size = os.fstat(file).st_size
            # What was read ends with a whole line; of what others added since, the last may be cut off.
            if size not in (0, self._read):
                os.lseek(file, size - 1, os.SEEK_SET)
                content = content if os.read(file, 1) == b"\n" else b"\n" + content
            if os.write(file, content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.file))
            os.fsync(file)
        finally:
            os.close(file)
        if not size:
            with suppress(OSError):  # Windows opens no folder
                folder = os.open(self._log.folder, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)

    def _read_on(self) -> None:
        """Read the lines that were added since; a line that is cut off or damaged is no answer."""
        try:
            if os.lstat(self.file).st_size == self._read:
                return  # each question asks twice, and most find nothing new
            file = os.open(self.file, os.O_RDONLY | _NO_LINK | _BINARY | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            return
        with os.fdopen(file, "rb") as lines:
            if os.fstat(lines.fileno()).st_size < self._read:
                self._read = self._lines = 0  # somebody cleared the log
            lines.seek(self._read)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._read, self._lines = self._read + len(line), self._lines + 1
                try:
                    before, _, checksum = line.rstrip().rpartition(_SUM)
                    whole = before + b"}"
                    data = json.loads(whole)
                    if checksum != _sum_of(whole) + b'"}' or data.pop("case") != self._case:
                        raise ValueError("another line")
                    row = read_row(data)
                except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
                    if line.strip():
                        self.damaged.append(self._lines)
                    continue
                # What the assistant under test said says nothing about it in another run.
                if row.run == self._log.run or not (self._anew or row.role == UNDER_TEST):
                    self._rows[row.key] = row
