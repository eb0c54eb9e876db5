"""Runs cases, each in a fork of this process, which has imported beforehand what they import."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import stat
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, TextIO

from tests.project.fuzz.case import DEVICES, Case

#: How many seconds a case may take; one takes less than two where the machine has nothing else to do.
PATIENCE: Final = 200
#: The same for a run of pytest without the plugin, which does nothing that takes long.
PLAIN_PATIENCE: Final = 40
_MEMORY: Final = 3 << 30
#: What pytest says of plugins that this process had imported before.
_ALREADY_IMPORTED: Final = "-Wignore:Module already imported:pytest.PytestAssertRewriteWarning"
#: The plugin of hypothesis imports all of it at the end of every run.
_WITHOUT: Final = ("-p", "no:hypothesispytest")


class Outcome(NamedTuple):
    """How a case ended: exit status (below 0 for a signal), output, and files it touched or left."""

    status: int
    out: str
    err: str
    hung: bool
    touched: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def text(self) -> str:
        """All that it wrote."""
        return f"{self.out}\n{self.err}"


class Runner:
    """Runs cases one by one."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment

    def run(self, case: Case, folder: Path, *, good: bool, patience: float | None = None) -> Outcome:
        """Run the case in its folder, for so many seconds at most."""
        before = digests(folder)
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if not process:
            self._child(case, folder, good=good)
        status, hung = _wait(process, PATIENCE if patience is None else patience)
        if not all(stat.S_ISCHR(Path("/dev", name).stat().st_mode) for name in DEVICES):
            raise SystemExit(f"a device of this machine was replaced by {case.module} {case.arguments}")
        out, err = (_read(folder / name) for name in ("stdout", "stderr"))
        after = {path: digest for path, digest in digests(folder).items() if path not in ("stdout", "stderr")}
        touched = sorted(p for p, digest in before.items() if after.get(p) != digest and not _is_ours(p))
        made = sorted(p for p in after.keys() - before.keys() if not _is_ours(p))
        return Outcome(status, out, err, hung, tuple(touched), tuple(made))

    def _child(self, case: Case, folder: Path, *, good: bool) -> NoReturn:
        status = 70
        try:
            os.setsid()
            # What reads without end fails, and takes no machine with it.
            resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            streams = [_redirect(number, folder / name) for number, name in ((1, "stdout"), (2, "stderr"))]
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc, assignment]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.environ.clear()
            around = {
                "HOME": str(folder / "home"),
                "FUZZ": "good" if good else "bad",
                **dict(case.environment),
            }
            os.environ |= self._environment | around
            os.chdir(folder / "repo")
            sys.path[:0] = [""]
            status = command(case)
            for thread in threading.enumerate():  # which the end of a process of its own would wait for, too
                if not thread.daemon and thread is not threading.current_thread():
                    thread.join()
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status & 0xFF)


def _wait(process: int, patience: float) -> tuple[int, bool]:
    """Return the exit status of a process, and True if it had to be ended."""
    late = time.monotonic() + patience
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), False
        if time.monotonic() > late:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return -signal.SIGKILL, True
        time.sleep(0.005)


def command(case: Case) -> int:
    """Run the case's command in this process, as Python would; returns its exit status."""
    sys.argv = ["personalens", case.module, *case.arguments]
    try:
        if case.module == "pytest":
            import pytest

            return int(pytest.main([_ALREADY_IMPORTED, *_WITHOUT, *case.arguments]))
        from pytest_personalens.cli.command import main, run

        run(main)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)


def _redirect(number: int, path: Path) -> TextIO:
    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    errors = "strict" if number == 1 else "backslashreplace"
    return open(number, "w", encoding="utf-8", errors=errors, closefd=False)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def digests(folder: Path) -> dict[str, str]:
    """Every file, folder and link below a folder, with a digest of what it is and holds."""
    found: dict[str, str] = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            stat = path.lstat()
            held = b""
            if path.is_symlink():
                held = os.fsencode(path.readlink())
            elif path.is_file():
                with suppress(OSError):
                    held = path.read_bytes()
            found[str(path.relative_to(folder))] = f"{stat.st_mode:o} {hashlib.sha256(held).hexdigest()}"
    return found


def _is_ours(path: str) -> bool:
    """True for what pytest, Python and records may write at any time, except a draft that was left."""
    places = {".pytest_cache", "__pycache__", "__personalens__"}
    return not places.isdisjoint(Path(path).parts) and not path.endswith(".tmp")
