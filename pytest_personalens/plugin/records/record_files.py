"""The files of records: syrupy's names and JSON, without its plugin and its count of snapshots."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.devices import no_device
from pytest_personalens.engine.records.other_records import FOLDER

if TYPE_CHECKING:
    import pytest

#: The folder of this plugin, in which the built-in suite lies.
_PLUGIN = Path(__file__).parents[1]


class _RecordExtension(JSONSnapshotExtension):
    """The syrupy extension for records.

    A record is ``__personalens__/<test module>/<item>.json`` next to the test file, or in the root folder for
    the built-in suite. The folder is not that of syrupy. The scenarios of a run depend on its sample, so a
    record that today's sample leaves out is neither unused nor to be deleted.
    """

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return _folder(test_location.filepath, test_location.item.config.rootpath)


def record_path(item: pytest.Item) -> Path:
    """Return the file of the record of an item."""
    return Path(_RecordExtension.get_location(test_location=PyTestLocation(item), index=0))


def record_text(data: dict[str, object]) -> str:
    """Return the content of a record's file."""
    return str(_RecordExtension().serialize(data))


def write_record(path: Path, text: str) -> None:
    """Write a record and the folders above it.

    Raise `OSError` if that is not possible.
    """
    if path.exists():
        no_device(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


@lru_cache(maxsize=64)
def _folder(test_file: str, root: Path) -> str:
    """Return the folder of the records of a test file.

    The records of the built-in suite are in the root folder.
    """
    file = Path(test_file)
    return str((root if _PLUGIN in file.parents else file.parent) / FOLDER / file.stem)
