"""The interface of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.frozen import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import ScenarioRef

_Value = TypeVar("_Value")


class Dataset(Protocol):
    """A source of scenarios.

    Everything that it returns must be the same on every machine and in every process. `users` must be cheap
    (names only): sampling calls `refs` only for the users that it draws.
    """

    name: str
    version: str

    def domains(self) -> Sequence[str]:
        """Return every domain of the dataset, in a fixed order."""
        ...

    def users(self) -> Sequence[str]:
        """Return the ids of all users, in a fixed order, without reading their files."""
        ...

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the scenarios of one user, in a fixed order.

        Raise `DataError` for an unknown user or a bad file.
        """
        ...

    def load(self, ref: ScenarioRef) -> Any:
        """Return the whole scenario: a `Scenario`, or the value of its suite in its place.

        Raise `DataError`, which names the file and the field.
        """
        ...


def check_user_name(folder: Path, name: str) -> str:
    """Return the name of a user's file or folder, which is the user's id.

    Raise `DataError` for a name that cannot be written in UTF-8.
    """
    if name.isprintable() or clean(name) == name:
        return name
    raise DataError(folder, f"the name {name!r} in it is no UTF-8; rename it")


def value_or_raise(value: _Value | None, errors: Sequence[DataError]) -> _Value:
    """Return the value that was read.

    Raise the first of its errors if there is one.
    """
    if errors or value is None:
        raise errors[0]
    return value
