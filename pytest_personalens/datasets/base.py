"""The interface of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.frozen import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        """Return the scenarios of one user, in a fixed order; raise `DataError` for a bad user or file."""
        ...

    def load(self, ref: ScenarioRef) -> Any:
        """Return the whole scenario, or the value of its suite; `DataError` names the file and the field."""
        ...


def parse_file(file: Path, kind: str, parse: Callable[[Path], _Value]) -> _Value:
    """Return what `parse` makes of a file of a `kind` such as JSON; raise `DataError` for a bad file."""
    try:
        return parse(file)
    except FileNotFoundError:
        raise DataError(file, "the file is missing", code="PL201") from None
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None
    except RecursionError:
        raise DataError(file, f"not valid {kind}: nested too deeply", code="PL205") from None
    except ValueError as error:  # not of this kind, no UTF-8, or a number with thousands of digits
        raise DataError(file, f"not valid {kind}: {error}", code="PL205") from None


def read_toml(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file; raise `DataError` for a bad one."""
    import tomllib  # no run with the data of the package needs it

    return parse_file(file, "TOML", lambda path: tomllib.loads(path.read_bytes().decode("utf-8")))


def check_user_name(folder: Path, name: str) -> str:
    """Return the name of a user's file or folder; raise `DataError` for one that is no UTF-8."""
    if name.isprintable() or clean(name) == name:
        return name
    raise DataError(folder, f"the name {name!r} in it is no UTF-8; rename it", code="PL205")


def value_or_raise(value: _Value | None, errors: Sequence[DataError]) -> _Value:
    """Return the value that was read, or raise the first of its errors."""
    if errors or value is None:
        raise errors[0]
    return value
