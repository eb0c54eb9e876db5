"""The files of records, which syrupy keeps beside the tests."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syrupy.data import SnapshotCollections
from syrupy.extensions.base import AbstractSyrupyExtension
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.devices import no_device
from pytest_personalens.engine.other_records import FOLDER

if TYPE_CHECKING:
    import pytest
    from syrupy.data import SnapshotCollection
    from syrupy.types import SerializableData, SerializedData, SnapshotIndex

#: syrupy does not change a name of this form.
_PLAIN: Final = re.compile(r"[\w\[\] .,=@()+-]{1,200}", re.ASCII)


class Verbatim(str):
    """The stored text of a record, which needs no further serialization."""


class RecordExtension(JSONSnapshotExtension):
    """The syrupy extension for records.

    A record is ``__personalens__/<test module>/<item>.json`` next to the test file, or in the root folder for
    the built-in suite. The folder is not that of syrupy. The scenarios of a run depend on its sample, so a
    record that today's sample leaves out is neither unused nor to be deleted.
    """

    _latest: tuple[pytest.Item | None, SnapshotIndex, str] = (None, 0, "")
    #: The text of the record if it was just read.
    known: str | None = None

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        # syrupy asks six times for each item.
        if cls._latest[:2] != (test_location.item, index):
            cls._latest = (
                test_location.item,
                index,
                super().get_location(test_location=test_location, index=index),
            )
        return cls._latest[2]

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        # syrupy looks up every character of a name in Unicode's tables, and asks three times for each item.
        name = AbstractSyrupyExtension.get_snapshot_name(test_location=test_location, index=index)
        return (
            name
            if _PLAIN.fullmatch(name)
            else super().get_snapshot_name(test_location=test_location, index=index)
        )

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> SerializableData | None:
        if self.known is not None:
            return self.known
        with suppress(FileNotFoundError):
            no_device(Path(snapshot_location))
        return super().read_snapshot_data_from_location(
            snapshot_location=snapshot_location, snapshot_name=snapshot_name, session_id=session_id
        )

    def serialize(self, data: SerializableData, **options: Any) -> SerializedData:
        return str(data) if isinstance(data, Verbatim) else super().serialize(data, **options)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return _folder(test_location.filepath, test_location.item.config.rootpath)

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        return cls.dirname(test_location=test_location)  # no snapshots are discovered there

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        return SnapshotCollections()

    def delete_snapshots(self, *, snapshot_location: str, snapshot_names: set[str]) -> None:
        """Do nothing, because records are only ever replaced."""

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        snapshot = next(iter(snapshot_collection))
        write_atomically(Path(snapshot_collection.location), str(snapshot.data))


@lru_cache(maxsize=64)
def _folder(test_file: str, root: Path) -> str:
    """Return the folder of the records of a test file.

    The records of the built-in suite are in the root folder.
    """
    file = Path(test_file)
    return str((root if file.parent == Path(__file__).parent else file.parent) / FOLDER / file.stem)
