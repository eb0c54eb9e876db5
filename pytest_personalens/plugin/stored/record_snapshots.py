"""Records on disk: snapshots of syrupy, one JSON file for each item, next to the tests."""

from __future__ import annotations

import json
from collections import OrderedDict
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from syrupy.data import SnapshotCollections
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.links import refuse_links, write_atomically
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.engine.record import (
    FOLDER,
    STORED,
    ForeignRecord,
    Record,
    open_record,
    plain,
    read_record,
    record_of,
)
from pytest_personalens.models.tape import ADVICE

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from syrupy.data import SnapshotCollection

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.job import JobResult

#: The folder of this plugin, in which the built-in suite lies.
_PLUGIN = Path(__file__).parents[1]
#: What two snapshots of one evaluation may differ in: the calls that bought it, and what depends on them.
_NOT_COMPARED = ("record", "calls", "integrity", "case", "content", "suite", "audit")


class RecordExtension(JSONSnapshotExtension):
    """A syrupy extension for evaluations: verdicts, transcript and calls, readable by people.

    The snapshot of a test is ``__personalens__/<test module>/<item>.json`` next to the test file, the same
    file as the record of its item: ``assert evaluation == snapshot(extension_class=RecordExtension)``. It is
    never unused and never deleted: what today's sample leaves out was paid for. A snapshot that is written
    anew keeps the calls of the old one.
    """

    #: The evaluation of the item that ran last in this process, and what makes its record.
    latest: tuple[Evaluation, Callable[[], Record]] | None = None

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        config = test_location.item.config
        # The record of a test's own dialogue must not give way to that of a stored one.
        begin = STORED if config.getoption("personalens_dialogues", None) else ""
        return _folder(test_location.filepath, config.rootpath, begin)

    def serialize(self, data: Any, **options: Any) -> str:
        if isinstance(data, Evaluation):
            latest = RecordExtension.latest
            text = latest[1]().text if latest and latest[0] is data else json.dumps(plain(data))
            data = json.loads(text, object_pairs_hook=OrderedDict)  # other keys would be sorted
        return str(super().serialize(data, **options))

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        return bool(_compared(serialized_data) == _compared(snapshot_data))

    def discover_snapshots(self, **_: Any) -> SnapshotCollections:
        return SnapshotCollections()

    def delete_snapshots(self, **_: Any) -> None:
        """Delete nothing."""

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection: SnapshotCollection, **_: Any) -> None:
        path, text = Path(snapshot_collection.location), str(next(iter(snapshot_collection)).data)
        root = path.parents[2]
        try:
            text = read_record(text, str(path)).with_calls_of(open_record(path, root)).text
        except ForeignRecord:
            raise
        except (OSError, ValueError, RecordError):
            pass  # there is no record, or none that anything could be taken from
        write_record(path, text, root)


def _compared(text: Any) -> Any:
    try:
        data = json.loads(text)
        return {name: value for name, value in data.items() if name not in _NOT_COMPARED}
    except (ValueError, TypeError, AttributeError):
        return text


class RecordStore:
    """The record of one item: its place, its content, and the permission to write it.

    `mode` is the value of ``--personalens-record``, and `case` the scenario with its control and trial.
    """

    def __init__(
        self,
        item: pytest.Item,
        scenario: BaseScenario,
        case: str,
        mode: Literal["none", "live", "new", "all"],
    ) -> None:
        self.scenario, self.case, self._root = scenario, case, item.config.rootpath
        self.path = Path(RecordExtension.get_location(test_location=PyTestLocation(item), index=0))
        # syrupy's own options are only for the team's snapshots. A user who accepts those has not agreed to
        # pay for dialogues, and the other way round.
        self.writes, self._all = mode in ("new", "all"), mode == "all"
        #: The record in the file.
        self.stored: Record | None = None

    def load(self) -> Record | None:
        """Return the item's record, if there is one.

        Raise `RecordError` for a record that is damaged, edited, or of another case, unless this run replaces
        it; and for a file that is no record of this version, or not this test's, in every run.
        """
        where = str(self.path)
        try:
            with suppress(FileNotFoundError, NotADirectoryError):
                record, suite = open_record(self.path, self._root), self.scenario.suite
                if record.suite != suite:
                    raise RecordError(
                        f"{where}: the record is of the suite {record.suite!r}, this run of {suite!r};"
                        f" {ADVICE}"
                    )
                if record.case != self.case:
                    raise RecordError(f"{where}: the record belongs to scenario {record.case!r}; {ADVICE}")
                self.stored = record
        except RecordError as error:
            if isinstance(error, ForeignRecord) or not self.writes:
                raise
        except OSError as error:  # a folder and such
            raise ForeignRecord(
                f"{where}: the record cannot be read: {error.strerror}; remove it, or restore it from version"
                " control"
            ) from None
        return self.stored

    def settle(self, done: JobResult) -> Literal["none", "replayed", "stale", "written"]:
        """Update the record if this run may, and return what happened.

        Raise `RecordError` if it could not be written; what was paid for then stays in the log of calls.
        """
        if done.replayed:
            return "replayed"
        stored, record = self.stored, self.record_of(done)
        if self.writes and done.evaluation.scored:
            if stored is None or record.data != stored.data:
                self._write(record.text, durable=any(row.tokens is not None for row in done.rows))
                return "written"
            return "written" if self._all else "replayed"
        if stored is None:
            return "none"
        return "replayed" if done.evaluation.scored and record.repeats(stored) else "stale"

    def record_of(self, done: JobResult) -> Record:
        """Return the record of a result, with what the one in the file knows of the same dialogue."""
        if self.stored is not None and done.replayed:
            return self.stored
        record = record_of(done.evaluation, self.scenario, self.case, done.rows, str(self.path))
        return record if self.stored is None else record.keeping(self.stored)

    def _write(self, text: str, *, durable: bool) -> None:
        try:
            write_record(self.path, text, self._root, durable=durable)
        except OSError as error:
            raise RecordError(
                f"{self.path}: the record cannot be written: {error.strerror or error}; make it writable and"
                " run again, what was bought is kept"
            ) from None


def write_record(path: Path, text: str, root: Path | str, *, durable: bool = True) -> None:
    """Write a record and the folders above it, or raise `OSError`; of a link too, below `root`."""
    refuse_links(path, Path(root))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text, durable=durable)


@lru_cache(maxsize=64)
def _folder(test_file: str, root: Path, begin: str) -> str:
    file = Path(test_file)  # the built-in suite has its records in the root folder
    return str((root if _PLUGIN in file.parents else file.parent) / FOLDER / f"{begin}{file.stem}")
