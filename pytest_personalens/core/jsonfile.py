"""Versioned JSON files of ours: written by one run, read by another, and told in one line where they cannot be used."""

from __future__ import annotations

import errno
import json
import os
import re
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.devices import no_device
from pytest_personalens.core.errors import DataError

M = TypeVar("M", bound=BaseModel)
_DRAFT: Final = re.compile(r"(?P<stem>\..+)\.[0-9a-z_]+\.tmp")
#: Seconds after which nobody is writing a draft any more.
_OLD: Final = 3600
#: Folder -> beginning of a draft's name -> old drafts, of the folders that this process wrote to.
_DRAFTS: Final[dict[Path, dict[str, list[Path]]]] = {}


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
    stem = f".{path.name[:80]}"
    draft = path.with_name(f"{stem}.{uuid.uuid4().hex[:12]}.tmp")
    remove_old_drafts(path.parent, stem)
    try:
        # Nothing that was bought is lost for a character that cannot be written.
        draft.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def remove_old_drafts(folder: Path, stem: str) -> None:
    """Remove drafts of a file that processes left behind when they were killed. A folder is looked through once, not at every write."""
    if folder not in _DRAFTS:
        _DRAFTS[folder] = {}
        with suppress(OSError):
            for entry in os.scandir(folder):
                if (draft := _DRAFT.fullmatch(entry.name)) and entry.stat(follow_symlinks=False).st_mtime < time.time() - _OLD:
                    _DRAFTS[folder].setdefault(draft["stem"], []).append(Path(entry.path))
    for draft_of_it in _DRAFTS[folder].pop(stem, ()):
        with suppress(OSError):
            draft_of_it.unlink()


def schema_of(path: Path) -> str:
    """What the file says that it is; empty if it cannot be read, which `read_versioned` tells best."""
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(data.get("schema", "")) if isinstance(data, dict) else ""
