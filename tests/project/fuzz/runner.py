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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, TextIO

from tests.project.fuzz.case import DEVICES, Case

#: So many times what a control takes, a case may take. Where it takes longer, the control is run once more
#: beside it, so that a busy machine makes no hang.
PATIENCE: Final = 100
#: The same for a run of pytest without the plugin, which does nothing that takes long.
PLAIN_PATIENCE: Final = 20
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
    """Runs cases one by one. `control` is the longest that a control has taken so far, in seconds."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self.control = 0.0
        #: Runs a control once more, while a case that takes long is still under way.
        self.measure: Callable[[], None] = lambda: None

    def run(self, case: Case, folder: Path, *, good: bool, patience: float | None = None) -> Outcome:
        """Run the case in its folder, for as many times as long as a control as `patience` says."""
        before = digests(folder)
        sys.stdout.flush()
        sys.stderr.flush()
        started, process = time.monotonic(), os.fork()
        if not process:
            self._child(case, folder, good=good)
        status, hung = self._wait(process, started, PATIENCE if patience is None else patience)
        if not all(stat.S_ISCHR(Path("/dev", name).stat().st_mode) for name in DEVICES):
            raise SystemExit(f"a device of this machine was replaced by {case.module} {case.arguments}")
        out, err = (_read(folder / name) for name in ("stdout", "stderr"))
        after = {path: digest for path, digest in digests(folder).items() if path not in ("stdout", "stderr")}
        touched = sorted(p for p, digest in before.items() if after.get(p) != digest and not _is_ours(p))
        made = sorted(p for p in after.keys() - before.keys() if not _is_ours(p))
        return Outcome(status, out, err, hung, tuple(touched), tuple(made))

    def _wait(self, process: int, started: float, patience: float) -> tuple[int, bool]:
        measured = False
        while True:
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status), False
            late = bool(self.control) and time.monotonic() - started > patience * self.control
            if late and measured:
                with suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return -signal.SIGKILL, True
            if late:
                measured = True
                self.measure()
            time.sleep(0.005)

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
