"""Finds records of a scenario in other tests of the repository, which need not be paid for again."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.text.node_ids import holds_case
from pytest_personalens.engine.records.record import read_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.engine.records.record import Record

#: The folder of records next to a test file.
FOLDER: Final = "__personalens__"
#: The beginning of the name of a folder with records of dialogues that existed already.
STORED: Final = "stored-"
#: Folders of installed packages, or of other snapshots.
_APART: Final = frozenset({"node_modules", "site-packages", "__pycache__", "__snapshots__"})


class OtherRecords(NamedTuple):
    """The places where other tests may have records of the same case; all fields can be pickled.

    `record_file` is the path of the item's own record. `case` is the id of a case with its control and its
    trial: these are compared, so none of them uses the messages or verdicts of another.
    """

    root: str
    record_file: str
    case: str
    scenario: str

    def records(self) -> Iterator[Record]:
        """Yield the readable records, searched anew, because a test of this run may have just written one."""
        here = Path(self.record_file).parent.parent
        for folder in dict.fromkeys((here, *map(Path, _folders(self.root)))):
            for file in sorted(folder.glob(f"*/*{self.case}*.json")):
                # The name of a record is the end of its item's node id.
                if str(file) == self.record_file or not holds_case(
                    file.name.removesuffix(".json"), self.case
                ):
                    continue
                try:
                    record = read_record(file.read_text(encoding="utf-8"), str(file))
                except (RecordError, OSError, ValueError):
                    continue  # its own test reports the problem
                if record.scenario == self.scenario:
                    yield record


@lru_cache(maxsize=8)
def _folders(root: str) -> tuple[str, ...]:
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
