"""The folder of the user's cache, for what takes long to make and can be made again."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_personalens.core.files.links import write_atomically


def cache_folder() -> Path:
    """Return ``$PERSONALENS_CACHE_DIR`` or one in the user's cache; raise `RuntimeError` without a home."""
    if own := os.environ.get("PERSONALENS_CACHE_DIR"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "pytest-personalens"


def write_cached(file: Path, content: bytes) -> None:
    """Write a file of the cache folder, which is created if it is missing; raise `OSError` if that fails."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)
