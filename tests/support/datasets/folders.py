"""Folders in the embedded layout with two domains that the benchmark has not: a pharmacy and a library of tools."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent


def write_own_domains(root: Path) -> Path:
    """Write a folder with two domains and two people; returns it."""
    shutil.copytree(_HERE / "own_domains", root, dirs_exist_ok=True)
    # A file name of the repository has only ASCII letters.
    (root / "profiles" / "brid.toml").rename(root / "profiles" / "bríd.toml")
    return root


def write_own_world(root: Path) -> Path:
    """Write the same for one person, with all that a scenario can know: facts, a booking, a life, limits, dealings."""
    write_own_domains(root)
    (root / "profiles" / "bríd.toml").unlink()
    shutil.copytree(_HERE / "own_world", root, dirs_exist_ok=True)
    return root
