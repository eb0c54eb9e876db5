"""Finds what other tests of the repository have on record of the same case, which is not bought again."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.links import read_own
from pytest_personalens.core.text.node_ids import holds_case
from pytest_personalens.engine.records.record import OtherVersion, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.models.tape import Row

#: The folder of records next to a test file.
FOLDER: Final = "__personalens__"
#: The beginning of the name of a folder with records of dialogues that existed already.
STORED: Final = "stored-"
#: Folders of installed packages, or of other snapshots.
_APART: Final = frozenset({"node_modules", "site-packages", "__pycache__", "__snapshots__"})


class OtherRecords(NamedTuple):
    """The places where other tests may have records of the same case; all fields can be pickled.

    `record_file` is the path of the item's own record. `case` is the id of a scenario with its control and
    its trial: none of them uses the answers of another.
    """

    root: str
    record_file: str
    case: str

    def rows(self, scenario: BaseScenario) -> Iterator[Row]:
        """Yield the answers in readable records, searched anew, because a test may have just written one."""
        here = Path(self.record_file).parent.parent
        for folder in dict.fromkeys((here, *map(Path, record_folders(self.root)))):
            for file in sorted(folder.glob(f"*/*{self.case}*.json")):
                # The name of a record is the end of its item's node id.
                if str(file) == self.record_file or not holds_case(file.stem, self.case):
                    continue
                try:
                    record = read_record(read_own(file, Path(self.root)).decode("utf-8"), str(file))
                except (RecordError, OSError, ValueError):
                    continue  # its own test reports the problem
                if record.case == self.case:
                    yield from record.restored(scenario).rows


def refuse_old(root: Path) -> None:
    """Raise the `RecordError` of the first record below `root` that is of version 0.2 or a newer one.

    One file of each folder is read: a folder is written by one version.
    """
    for folder in map(Path, record_folders(str(root))):
        for below in sorted(folder.iterdir()):
            file = next(iter(sorted(below.glob("*.json"))), None)
            try:
                if file is not None:
                    read_record(read_own(file, root).decode("utf-8", "replace"), str(file.relative_to(root)))
            except OtherVersion:
                raise
            except (RecordError, OSError):
                continue  # its own test reports the problem


@lru_cache(maxsize=8)
def record_folders(root: str) -> tuple[str, ...]:
    """Return the folders below `root` that hold records, without those of installed packages."""
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
            and not Path(folder, name, "pyvenv.cfg").exists()
        ]
    return tuple(sorted(folders))
