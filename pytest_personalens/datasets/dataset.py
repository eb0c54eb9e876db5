"""The interface of a dataset, draws by a digest, and another user for a control."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_personalens.core.errors import DataError, SpecError
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


def read_head(file: Path) -> tuple[str, str]:
    """Return the name and the version in a ``dataset.toml``; raise `DataError` if one is missing."""
    head = read_toml(file)
    for field in ("name", "version"):
        if not isinstance(head.get(field), str) or not head[field].strip():
            raise DataError(file, f'expected a text, such as {field} = "..."', field=field)
    return head["name"], head["version"]


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


_Drawn = TypeVar("_Drawn")


def digest(*key: str) -> bytes:
    """Return 32 bytes that depend on the key alone."""
    return hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()


def number(*key: str) -> int:
    """Return a large number that depends on the key alone."""
    return int.from_bytes(digest(*key)[:8], "big")


def pick(values: Sequence[_Drawn], *key: str) -> _Drawn:
    """Return one of the values."""
    return values[number(*key) % len(values)]


def reference(*key: str) -> str:
    """Return the reference of a booking: two letters and four digits."""
    drawn = number(*key)
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without I and O, which look like digits
    first, second = letters[drawn % 24], letters[drawn // 24 % 24]
    return f"{first}{second}{drawn // 576 % 9000 + 1000}"


def other_user_of(dataset: Dataset, seed: str, ref: ScenarioRef) -> ScenarioRef:
    """Return another user's scenario with the same task, or else in the same domains.

    Some datasets have no task that two users share; then the same domains and kind suffice. The choice is
    random, and always the same for one seed. Raise `SpecError` if nobody else has such a scenario.
    """
    alike: ScenarioRef | None = None
    others = (user for user in dataset.users() if user != ref.user)
    for user in sorted(others, key=lambda user: digest(seed, ref.user, ref.task, user)):
        for candidate in dataset.refs(user):
            if (candidate.domains, candidate.kind) == (ref.domains, ref.kind):
                if candidate.task == ref.task:
                    return candidate
                alike = alike or candidate
    if alike is None:
        raise SpecError(
            f"--personalens-control other-user: nobody else in dataset {dataset.name!r} has a task"
            f" like {ref.id}",
            code="PL106",
        )
    return alike


class OtherUsers:
    """A scenario of another user for each scenario, chosen once by the rule `of_suite`."""

    def __init__(
        self,
        dataset: Dataset,
        seed: str,
        of_suite: Callable[[Dataset, str, ScenarioRef], ScenarioRef] = other_user_of,
    ) -> None:
        self._dataset, self._seed, self._of_suite = dataset, seed, of_suite
        self._by_ref: dict[ScenarioRef, ScenarioRef] = {}

    def of(self, ref: ScenarioRef) -> ScenarioRef:
        """Return the other user's scenario; raise `SpecError` if there is none."""
        if ref not in self._by_ref:
            self._by_ref[ref] = self._of_suite(self._dataset, self._seed, ref)
        return self._by_ref[ref]
