"""Versioned JSON files of ours: written by one run, read by another, and told in one line where they cannot
be used.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.devices import no_device
from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_Model = TypeVar("_Model", bound=BaseModel)


def read_versioned(
    path: Path,
    model: type[_Model],
    schema: str,
    *,
    what: str,
    advice: str,
    upgrade: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType({}),
) -> _Model:
    """The value in the file, whose field ``schema`` must be `schema`.

    A file with a schema in `upgrade` is read as what that makes of it. Raises `DataError` in one line; `what`
    names such a file ("a results file"), `advice` says what to do about a bad one.
    """
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}; {advice}") from None
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(path, f"not valid JSON ({problem}); {advice}") from None
    stated = data.get("schema") if isinstance(data, dict) else None
    if isinstance(stated, str) and stated in upgrade:
        data = {**upgrade[stated](data), "schema": schema}
    elif stated != schema:
        raise DataError(
            path, f"not {what} of this version: its schema is {str(stated)[:60]!r}, not {schema!r}; {advice}"
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, f"{problem}; {advice}", field=field) from None


def first_problem(error: ValidationError, *, count_from: int = 0) -> tuple[str, str]:
    """The first thing that is wrong: the field, with dots, and what is wrong with it.

    `count_from` is the place of a list's first.
    """
    return all_problems(error, count_from=count_from)[0]


def all_problems(error: ValidationError, *, count_from: int = 0) -> list[tuple[str, str]]:
    """All that is wrong, each as `first_problem` gives it."""
    problems = []
    for each in error.errors(include_url=False):
        field = ".".join(str(part + count_from if isinstance(part, int) else part) for part in each["loc"])
        message = each["msg"]
        text = message.removeprefix("Value error, ")
        problems.append((field, message[0].lower() + message[1:] if text == message else text))
    return problems


def text_of(value: BaseModel, *, indent: int = 1, sort_keys: bool = False) -> str:
    """The content of the value's file; equal values give equal files."""
    return (
        json.dumps(
            value.model_dump(mode="json", by_alias=True),
            indent=indent,
            sort_keys=sort_keys,
            ensure_ascii=False,
        )
        + "\n"
    )


def schema_of(path: Path) -> str:
    """What the file says that it is; empty if it cannot be read, which `read_versioned` tells best."""
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(data.get("schema", "")) if isinstance(data, dict) else ""
