"""Reads the TOML files of a dataset into entries, with every problem that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import all_problems
from pytest_personalens.datasets.cached import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_Model = TypeVar("_Model", bound=BaseModel)


def examined_file(file: Path, model: type[_Model]) -> tuple[_Model | None, list[DataError]]:
    """Return the value in a file, or None, and every problem with its fields."""
    try:
        table = read_table(file)
    except DataError as error:
        return None, [error]
    return examined(file, table, model)


def examined(
    file: Path, table: Mapping[str, Any], model: type[_Model]
) -> tuple[_Model | None, list[DataError]]:
    """Return the value of a table of a file, or None, and every problem with its fields."""
    try:
        return model.model_validate(table), []
    except ValidationError as error:
        return None, [
            DataError(file, problem, field=field) for field, problem in all_problems(error, count_from=1)
        ]


def name_in(file: Path) -> str | None:
    """Return the name in a file, even if other fields of it are wrong.

    Return None if there is no readable name.
    """
    try:
        name = read_table(file).get("name")
    except DataError:
        return None
    return name if isinstance(name, str) else None


def read_table(file: Path) -> dict[str, Any]:
    """Return the content of a file. Raise `DataError` if it cannot be read."""
    try:
        return read_toml(file)
    except FileNotFoundError:
        raise DataError(file, "the file is missing") from None
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}") from None
    except RecursionError:
        raise DataError(file, "not valid TOML: nested too deeply") from None
    except ValueError as error:
        raise DataError(file, f"not valid TOML: {error}") from None
