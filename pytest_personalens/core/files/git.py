"""What a checkout holds: the output of git, its sources, and where a run comes from."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PATIENCE: Final = 20.0


def git(root: Path, *words: str) -> str | None:
    """Return the output of a git command in `root`, or None if it fails or takes more than 20 seconds."""
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


#: Endings of files that may shape an assistant's replies, where no version control tells them from the output
#: of a run.
_SUFFIXES: Final = frozenset(
    (
        ".py", ".pyx", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".txt", ".md", ".prompt", ".j2", ".jinja",
        ".jinja2", ".tmpl", ".env",
    )
)  # fmt: skip
#: Folders that a run writes to, or that hold installed packages.
_APART: Final = frozenset(
    {"__personalens__", "__snapshots__", "__pycache__", "node_modules", "site-packages"}
)
#: Variables with a CI service's name of a run, which all its jobs share, also when some of them run again.
_RUNS: Final = (
    "PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "CIRCLE_WORKFLOW_ID", "BUILDKITE_BUILD_ID",
    "BUILD_BUILDID", "BUILD_TAG",
)  # fmt: skip


def sources(root: Path) -> dict[str, str]:
    """Return the digests of the sources, by name.

    With git, these are the commit and every file that differs from it; without, all source files below
    `root`.
    """
    commit, top = git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "--show-toplevel")
    status = git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    if commit is None or status is None or top is None:
        return {name: _digest(root / name) for name in sorted(_walk(root))}
    digests = {"the commit": commit.strip()}
    for entry in filter(None, status.split("\0")):
        state, name = entry[:2], entry[3:]
        if not _APART & set(Path(name).parts) and (state != "??" or Path(name).suffix in _SUFFIXES):
            digests[name] = _digest(Path(top.rstrip("\n")) / name)
    return digests


def origin(root: Path) -> dict[str, str]:
    """Return what all parts of one run share on any machine: the commit, and the run of the CI service."""
    commit = git(root, "rev-parse", "HEAD")
    facts = {"the commit": commit.strip()} if commit is not None else {}
    runs = {f"the run ({name})": os.environ[name] for name in _RUNS if os.environ.get(name)}
    return facts | dict(list(runs.items())[:1])


def first_changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the first source that differs, or an empty text."""
    return next((what for what in sorted({*before, *now}) if before.get(what) != now.get(what)), "")


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name
            for name in folders
            if name not in _APART and name[0] != "." and not (Path(folder) / name / "pyvenv.cfg").exists()
        ]
        yield from (
            os.path.relpath(Path(folder) / name, root) for name in files if Path(name).suffix in _SUFFIXES
        )


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    except OSError:
        return "not there"
