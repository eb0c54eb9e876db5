"""Finds records of an item's scenario from other tests of the repository.

Their content need not be paid for again.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.devices import no_device
from pytest_personalens.core.text.node_ids import holds_case
from pytest_personalens.engine.records.record import read_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.engine.records.record import Record

#: The folder of records next to a test file.
FOLDER: Final = "__personalens__"
#: Folders of installed packages, or of other snapshots.
_APART: Final = frozenset({"node_modules", "site-packages", "__pycache__", "__snapshots__"})


class OtherRecords(NamedTuple):
    """The places where other tests may have records of the same case.

    `record_file` is the path of the item's own record. `case` is the id of a case with its control and its
    trial. Trials are repeated to measure how much they differ, and controls are compared. A trial or control
    therefore never uses the messages or verdicts of another. All fields can be pickled.
    """

    root: str
    record_file: str
    case: str
    scenario: str

    def records(self) -> Iterator[Record]:
        """Yield the readable records.

        The search starts again at each call, because another test of this run may have just written a record.
        """
        for file in self._files():
            try:
                record = read_record(no_device(Path(file)).read_text(encoding="utf-8"), file)
            except (RecordError, OSError, ValueError):
                continue  # its own test reports the problem
            if record.scenario == self.scenario:
                yield record

    def _files(self) -> Iterator[str]:
        here = str(Path(self.record_file).parent.parent)
        for folder in dict.fromkeys((here, *_folders(self.root))):
            tests = [entry.path for entry in _entries(folder) if entry.is_dir()]
            for entry in (entry for test in tests for entry in _entries(test)):
                if entry.path != self.record_file and self._same_case(entry.name):
                    yield entry.path

    def _same_case(self, name: str) -> bool:
        # The name of a record is the end of its item's node id.
        return name.endswith(".json") and holds_case(name.removesuffix(".json"), self.case)


@lru_cache(maxsize=8)
def _folders(root: str) -> tuple[str, ...]:
    """Return the folders of records below `root`."""
    folders = []
    for folder, below, _ in os.walk(root):
        if FOLDER in below:
            folders.append(str(Path(folder, FOLDER)))
        below[:] = [
            name
            for name in below
            if name not in _APART
            and name != FOLDER
            and name[0] != "."
            and not _is_environment(Path(folder, name))
        ]
    return tuple(sorted(folders))


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").exists()


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
