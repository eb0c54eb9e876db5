"""Opens the dataset that a spec names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets.base import Dataset

if TYPE_CHECKING:
    pass


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
