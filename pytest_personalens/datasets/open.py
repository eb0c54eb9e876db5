"""Opens the dataset that a spec names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.datasets.base import Dataset


def open_dataset(
    spec: str,
    *,
    base: Path | None = None,
    offered: Callable[[str], Dataset | None] = lambda spec: None,
    whole: bool = False,
) -> Dataset:
    """Return the dataset that `spec` names.

    `spec` is ``embedded``, or the path of an official checkout or of its ``data`` folder, or the path of a
    folder in the embedded layout (one with a ``dataset.toml``). For any other text the function returns the
    dataset that is `offered` under that name.

    With `whole`, its scenarios hold the user's past interactions of all domains, not of the task's alone. A
    dataset that is offered decides that itself. A relative path starts at `base` (default: the working
    directory). Raise `DataError` if `spec` names no dataset.
    """
    from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
    from pytest_personalens.datasets.official.official import OfficialDataset

    if spec == "embedded":
        return EmbeddedDataset(whole=whole)
    try:
        path = (base or Path()) / Path(spec).expanduser()
        for root in (path, path / "data"):
            if (root / "profile").is_dir():
                return OfficialDataset(root, whole=whole)
            if (root / "dataset.toml").is_file():
                return EmbeddedDataset(root, whole=whole)
        exists = path.exists()
    except (OSError, RuntimeError) as error:  # such as a loop of links, or an unknown home
        raise DataError(
            spec[:200], f"cannot be read: {getattr(error, 'strerror', None) or error}", code="PL201"
        ) from None
    if (dataset := offered(spec)) is not None:
        return dataset
    if not exists:
        known = "'embedded', a data folder, or a name that the hook pytest_personalens_dataset knows"
        raise DataError(path, f"no such folder; give {known}", code="PL201")
    lacks = "it has neither a profile/ folder (official layout) nor a dataset.toml (ours) in it"
    raise DataError(path, f"not a data folder: {lacks}", code="PL203")
