"""Versioned JSON files of ours: written by one run, read by another, and told in one line where they cannot be used."""

from __future__ import annotations

import errno
import json
import os
import uuid
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.errors import DataError
from pytest_personalens.reading import no_device

M = TypeVar("M", bound=BaseModel)


def read_versioned(path: Path, model: type[M], schema: str, *, what: str, advice: str) -> M:
    """The value in the file, whose field ``schema`` must be `schema`.

    Raises `DataError` in one line; `what` names such a file ("a results file"), `advice` says what to do about a bad one.
    """
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}; {advice}") from None
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(path, f"not valid JSON ({problem}); {advice}") from None
    found = data.get("schema") if isinstance(data, dict) else None
    if found != schema:
        raise DataError(path, f"not {what} of this version: its schema is {str(found)[:60]!r}, not {schema!r}; {advice}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, f"{problem}; {advice}", field=field) from None


def first_problem(error: ValidationError) -> tuple[str, str]:
    """The first thing that is wrong: the field, with dots, and what is wrong with it."""
    first = error.errors(include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, ")


def text_of(value: BaseModel, *, indent: int = 1, sort_keys: bool = False) -> str:
    """The content of the value's file; equal values give equal files."""
    return json.dumps(value.model_dump(mode="json", by_alias=True), indent=indent, sort_keys=sort_keys, ensure_ascii=False) + "\n"


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader or a crash sees the old file or the new one, never half of it. A link keeps pointing where it does.

    Raises `OSError` for what is there and no file: a device, which root would replace for the whole machine.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "a folder" if path.is_dir() else "a device, and no file", str(path))
    # Not named after this process alone: two containers on one volume may both have the number 1.
    draft = path.with_name(f".{path.name[:80]}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        # Nothing that was bought is lost for a character that cannot be written.
        draft.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def schema_of(path: Path) -> str:
    """What the file says that it is; empty if it cannot be read, which `read_versioned` tells best."""
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(data.get("schema", "")) if isinstance(data, dict) else ""
