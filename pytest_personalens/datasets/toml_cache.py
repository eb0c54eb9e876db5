"""A cache of parsed TOML files: the parser of the standard library would take a third of the start."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from pytest_personalens.core.files.atomic_write import write_atomically


def cache_folder() -> Path:
    """Return ``$PERSONALENS_CACHE_DIR`` or one in the user's cache; raise `RuntimeError` without a home."""
    return _folder(
        os.environ.get("PERSONALENS_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    )


@lru_cache(maxsize=8)
def _folder(own: str | None, shared: str | None, home: str | None) -> Path:
    if own:
        return Path(own)
    return (Path(shared) if shared else Path.home() / ".cache") / "pytest-personalens"


def write_cached(file: Path, content: bytes) -> None:
    """Write a file of the cache folder, which is created if it is missing; raise `OSError` if that fails."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)


def read_toml(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file; raise `OSError` or `ValueError` for a bad one.

    The cached content has a digest of the file and of itself, so it is never out of date or damaged.
    """
    source = file.read_bytes()
    stored = _stored(file)
    kept = _load(stored, source)
    if kept is not None:
        return kept
    import tomllib

    data = tomllib.loads(source.decode("utf-8"))
    with suppress(
        OSError, TypeError, ValueError, RecursionError
    ):  # the cache cannot be written, or the file holds a date, which JSON does not have
        if stored is not None:
            parsed = json.dumps(data).encode("ascii")
            write_cached(Path(stored), _seal(source, parsed) + parsed)
    return data


def _stored(file: Path) -> str | None:
    name = hashlib.sha256(os.fsencode(os.path.abspath(file))).hexdigest()[:16]  # noqa: PTH100
    try:
        return f"{cache_folder()}{os.sep}toml{os.sep}{name}.json"
    except RuntimeError:
        return None


def _load(stored: str | None, source: bytes) -> dict[str, Any] | None:
    try:
        content = Path(stored).read_bytes() if stored is not None else b""
    except OSError:
        return None
    seal, parsed = content[:32], content[32:]
    if seal != _seal(source, parsed):
        return None
    try:
        data: dict[str, Any] = from_json(parsed)
    except ValueError:  # nested deeper than it reads
        return None
    return data


def _seal(source: bytes, parsed: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(source).digest() + parsed).digest()
