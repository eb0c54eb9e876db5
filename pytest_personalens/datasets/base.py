"""What a dataset must offer, and how one is opened by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import Scenario, ScenarioRef


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
        """The scenarios of one user, in a fixed order. Raises `DataError` for an unknown user or a bad file."""
        ...

    def load(self, ref: ScenarioRef) -> Scenario:
        """The whole scenario. Raises `DataError` naming file and field."""
        ...


def readable_name(folder: Path, name: str) -> str:
    """The name of a user's file or folder, which is their id. Raises `DataError` for one that cannot be written anywhere."""
    if name.isprintable() or clean(name) == name:
        return name
    raise DataError(folder, f"the name {name!r} in it is no UTF-8; rename it")


def open_dataset(spec: str, *, base: Path | None = None) -> Dataset:
    """The dataset named by `spec`: ``embedded``, the path of an official checkout or of its ``data`` folder, or of a folder
    in the embedded layout (one with a ``dataset.toml``).

    A relative path counts from `base` (default: the working directory). Raises `DataError` if it is neither.
    """
    from pytest_personalens.datasets.embedded import EmbeddedDataset
    from pytest_personalens.datasets.official import OfficialDataset

    if spec == "embedded":
        return EmbeddedDataset()
    try:
        path = (base or Path()) / Path(spec).expanduser()
        if not path.exists():
            raise DataError(path, "no such folder; give 'embedded' or the path of a PersonaLens checkout or its data folder")
        for root in (path, path / "data"):
            if (root / "profile").is_dir():
                return OfficialDataset(root)
            if (root / "dataset.toml").is_file():
                return EmbeddedDataset(root)
    except (OSError, RuntimeError) as error:  # a name that is too long, a loop of links, a folder that is not ours, the home of nobody
        raise DataError(spec[:200], f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    raise DataError(path, "not a data folder: it has neither a profile/ folder (official layout) nor a dataset.toml (ours) in it")
