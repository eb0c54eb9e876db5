"""Versioned JSON files of this package, which one run writes and another reads.

If a file cannot be used, the error says so in one line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.devices import no_device

if TYPE_CHECKING:
    from pathlib import Path

_Model = TypeVar("_Model", bound=BaseModel)


def read_versioned(path: Path, model: type[_Model], schema: str, *, what: str, advice: str) -> _Model:
    """Return the value in the file, whose field ``schema`` must be `schema`.

    Raise `DataError` with a text of one line. In that text, `what` names such a file ("a results file"), and
    `advice` says what to do about a bad one.
    """
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}; {advice}") from None
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(path, f"not valid JSON ({problem}); {advice}") from None
    stated = data.get("schema") if isinstance(data, dict) else None
    if stated != schema:
        raise DataError(
            path, f"not {what} of this version: its schema is {str(stated)[:60]!r}, not {schema!r}; {advice}"
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, f"{problem}; {advice}", field=field) from None


def first_problem(error: ValidationError, *, count_from: int = 0) -> tuple[str, str]:
    """Return the first problem: the field, with dots, and what is wrong; lists count from `count_from`."""
    return all_problems(error, count_from=count_from)[0]


def all_problems(error: ValidationError, *, count_from: int = 0) -> list[tuple[str, str]]:
    """Return all problems, each in the form of `first_problem`."""
    problems = []
    for problem in error.errors(include_url=False):
        field = ".".join(str(part + count_from if isinstance(part, int) else part) for part in problem["loc"])
        message = problem["msg"]
        text = message.removeprefix("Value error, ")
        problems.append((field, message[0].lower() + message[1:] if text == message else text))
    return problems


def to_json(value: BaseModel, *, indent: int = 1, sort_keys: bool = False) -> str:
    """Return the content of the file for a value; equal values give equal files."""
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
    """Return the schema that the file states; empty if it cannot be read."""
    try:
        data = json.loads(no_device(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(data.get("schema", "")) if isinstance(data, dict) else ""
