"""One mutated input: the command that is run on it, and what may come of it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

#: Device -> its minor number.
DEVICES: Final = {"null": 3, "full": 7}


def make_device(path: Path, name: str) -> None:
    """A device that a case may do anything to; for root, one of its own where that can be made."""
    if os.geteuid():
        path.symlink_to(f"/dev/{name}")
        return
    with suppress(OSError):
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, DEVICES[name]))


def never(text: str) -> bool:
    """No output makes a pass of the case right."""
    return False


class Case(NamedTuple):
    """The command of a case, and when its exit code 0 is right.

    `passes` is asked with the output of a case that ended green. `writes`: files may be there afterwards that
    were not there before. `good`: everybody does well, so that only what was asked for and did not come makes
    a pass wrong. `plain`: the words for pytest and xdist among the arguments, where what surrounds the run may
    break any run of pytest, and `hook` is what was added to its conftest.
    """

    what: str
    arguments: tuple[str, ...]
    module: str = "pytest"
    passes: Callable[[str], bool] = never
    writes: bool = False
    good: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    plain: tuple[str, ...] | None = None
    hook: str = ""


class Setup:
    """The folder of one case, and what its maker draws from. Without `mutates` the case is a control, which
    nothing is wrong with.

    `good`: the assistant, and everybody else, does well, so that the control passes; else they do so badly
    that each gate fails.
    """

    def __init__(
        self, base: Path, folder: Path, rng: Random, *, good: bool = False, mutates: bool = True
    ) -> None:
        self.base, self.folder, self.rng, self.good, self.mutates = base, folder, rng, good, mutates
        self.like = "good" if good else "bad"  # the base's folder of what runs left in which all did as here
        self.repo = folder / "repo"
        shutil.copytree(base / "repo", self.repo, symlinks=True)
        for name in DEVICES:
            make_device(self.repo / f"device-{name}", name)
        # What is nobody's of ours: a run that changes it, by whatever path, has touched a file of the user's.
        for place in ("elsewhere", "home"):
            (folder / place).mkdir()
            (folder / place / "notes.txt").write_text("what I know about cats\n", encoding="utf-8")

    def take(self, name: str, to: str = "") -> Path:
        """Copy a file or folder of the base into the repository of the case."""
        source, target = self.base / name, self.repo / (to or Path(name).name)
        copied = (
            shutil.copytree(source, target, symlinks=True)
            if source.is_dir()
            else shutil.copy2(source, target)
        )
        return Path(copied)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the repository."""
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


Maker = Callable[[Setup], Case]
