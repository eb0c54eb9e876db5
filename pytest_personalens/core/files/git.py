"""Runs git in a checkout and returns its output."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE: Final = 20.0


def git(root: Path, *words: str) -> str | None:
    """Return the output of a git command in `root`, or None if it fails or takes more than 20 seconds."""
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
