"""The user's cache folder, and parsed TOML in it: the standard library's parser, all in Python, would take a
third of a start.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.devices import no_device


def cache_folder() -> Path:
    """``$PERSONALENS_CACHE_DIR``, or a folder of ours in the user's cache.

    Raises `RuntimeError` if the user has no home.
    """
    if own := os.environ.get("PERSONALENS_CACHE_DIR"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "pytest-personalens"


def write_cached(file: Path, content: bytes) -> None:
    """Write a file of the cache folder, and the folder where it is missing. Raises `OSError`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)


def read_toml(file: Path) -> dict[str, Any]:
    """What stands in a TOML file. Raises `OSError`, or `ValueError` if it is none.

    What was parsed before is kept with a digest of the file and of itself: nothing rests on the cache, and it
    cannot be stale.
    """
    source = no_device(file).read_bytes()
    stored = _stored(file)
    kept = _load(stored, source)
    if kept is not None:
        return kept
    import tomllib

    data = tomllib.loads(source.decode("utf-8"))
    with suppress(
        OSError, TypeError, ValueError, RecursionError
    ):  # no place for it; a date, which JSON has not
        if stored is not None:
            parsed = json.dumps(data).encode("ascii")
            write_cached(stored, _seal(source, parsed) + parsed)
    return data


def _stored(file: Path) -> Path | None:
    name = hashlib.sha256(os.fsencode(file.absolute())).hexdigest()[:16]
    try:
        return cache_folder() / "toml" / f"{name}.json"
    except RuntimeError:
        return None


def _load(stored: Path | None, source: bytes) -> dict[str, Any] | None:
    try:
        content = stored.read_bytes() if stored is not None else b""
    except OSError:
        return None
    seal, parsed = content[:32], content[32:]
    if seal != _seal(source, parsed):
        return None
    data: dict[str, Any] = json.loads(parsed)
    return data


def _seal(source: bytes, parsed: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(source).digest() + parsed).digest()
