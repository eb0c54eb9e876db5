"""What a dataset must offer, and how one is opened by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import ScenarioRef


class Dataset(Protocol):
    """A source of scenarios. Everything it returns must be the same on every machine and in every process.

    `users` must be cheap (names only): sampling calls `refs` for the users it draws and no others.
    """

    name: str
    version: str

    def domains(self) -> Sequence[str]:
        """Every domain there is, in a fixed order."""
        ...

    def users(self) -> Sequence[str]:
        """The ids of all users, in a fixed order, without reading their files."""
        ...

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """The scenarios of one user, in a fixed order.

        Raises `DataError` for an unknown user or a bad file.
        """
        ...

    def load(self, ref: ScenarioRef) -> Any:
        """The whole scenario, a `Scenario` or what its suite has in its place.

        Raises `DataError` naming file and field.
        """
        ...


def readable_name(folder: Path, name: str) -> str:
    """The name of a user's file or folder, which is their id.

    Raises `DataError` for one that cannot be written anywhere.
    """
    if name.isprintable() or clean(name) == name:
        return name
    raise DataError(folder, f"the name {name!r} in it is no UTF-8; rename it")
