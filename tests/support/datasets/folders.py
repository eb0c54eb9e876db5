"""Folders in the embedded layout: parts of the embedded data, and two domains that the benchmark has not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.support.repository import ROOT

_HERE: Final = Path(__file__).parent


def copy_data(root: Path, *people: str) -> Path:
    """Copy the data that people edit, with these people only: the whole has more than 2,000 files."""

    def others(folder: str, names: list[str]) -> list[str]:
        if Path(folder).name not in {"histories", "profiles"}:
            return ["agreement"]
        return [name for name in names if name.removesuffix(".toml") not in people]

    return Path(shutil.copytree(ROOT / "data", root, ignore=others))


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
