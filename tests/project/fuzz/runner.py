"""Runs cases in forks of a process that has imported what they import."""

from __future__ import annotations

import hashlib
import os
import resource
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from tests.project.fuzz.case import DEVICES, Case
from tests.support.processes.fork_server import ForkServer

#: How many seconds a case may take; one takes less than two where the machine has nothing else to do.
PATIENCE: Final = 200
#: The same for a run of pytest without the plugin, which does nothing that takes long.
PLAIN_PATIENCE: Final = 40
_MEMORY: Final = 3 << 30
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
        os.environ["PYTHONHASHSEED"] = "0"
        # What reads without end fails, and takes no machine with it.
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        self._server = ForkServer()

    def close(self) -> None:
        """End the process."""
        self._server.close()

    def run(self, case: Case, folder: Path, *, good: bool, patience: float | None = None) -> Outcome:
        """Run the case in its folder, for so many seconds at most."""
        before, hung = digests(folder), False
        around = self._environment | {"HOME": str(folder / "home"), "FUZZ": "good" if good else "bad"}
        is_run = case.module == "pytest"
        given = [*(_WITHOUT if is_run else [case.module]), *case.arguments]
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            module, environment = (
                "pytest" if is_run else "pytest_personalens",
                around | dict(case.environment),
            )
            forked = self._server.run(module, given, folder / "repo", out, err, environment)  # type: ignore[arg-type]
        try:
            status = forked.wait(PATIENCE if patience is None else patience)
        except TimeoutError:
            hung = True
            forked.kill()
            status = forked.wait(PLAIN_PATIENCE)
        if not all(stat.S_ISCHR(Path("/dev", name).stat().st_mode) for name in DEVICES):
            raise SystemExit(f"a device of this machine was replaced by {case.module} {case.arguments}")
        out_text, err_text = (_read(folder / name) for name in ("stdout", "stderr"))
        after = {path: digest for path, digest in digests(folder).items() if path not in ("stdout", "stderr")}
        touched = sorted(p for p, digest in before.items() if after.get(p) != digest and not _is_ours(p))
        made = sorted(p for p in after.keys() - before.keys() if not _is_ours(p))
        return Outcome(status, out_text, err_text, hung, tuple(touched), tuple(made))


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
