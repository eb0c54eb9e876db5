"""Records on disk: one JSON file an item, kept by syrupy beside the tests."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.base import AbstractSyrupyExtension
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.devices import no_device
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.scenario import slug
from pytest_personalens.core.usage import Usage
from pytest_personalens.engine.other_records import FOLDER
from pytest_personalens.engine.record import ADVICE, Record, StoredVerdict, read_record, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest
    from syrupy.data import SnapshotCollection
    from syrupy.session import SnapshotSession
    from syrupy.types import SerializableData, SerializedData, SnapshotIndex

    from pytest_personalens.core.evaluation import Evaluation
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.job import JobResult, Keep

#: What syrupy makes of such a name is the name itself.
_PLAIN: Final = re.compile(r"[\w\[\] .,=@()+-]{1,200}", re.ASCII)


class Verbatim(str):
    """The text of a record as it is stored, which nobody needs to serialize again."""


class RecordExtension(JSONSnapshotExtension):
    """``__personalens__/<test module>/<item>.json`` beside the test file; the root folder for the built-in
    suite.

    The folder is our own and not syrupy's: which scenarios a run uses depends on its sample, so a record that
    today's sample leaves out is neither unused nor to be deleted.
    """

    _latest: tuple[pytest.Item | None, SnapshotIndex, str] = (None, 0, "")
    #: The text of the record, where it was just read.
    known: str | None = None

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        # syrupy asks six times an item.
        if cls._latest[:2] != (test_location.item, index):
            cls._latest = (
                test_location.item,
                index,
                super().get_location(test_location=test_location, index=index),
            )
        return cls._latest[2]

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        # syrupy looks up every character of a name in Unicode's tables, and asks three times an item.
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
        return cls.dirname(test_location=test_location)  # where nothing is discovered

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        return SnapshotCollections()

    def delete_snapshots(self, *, snapshot_location: str, snapshot_names: set[str]) -> None:
        """Records are only ever replaced."""

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        snapshot = next(iter(snapshot_collection))
        write_atomically(Path(snapshot_collection.location), str(snapshot.data))


@lru_cache(maxsize=64)
def _folder(test_file: str, root: Path) -> str:
    """Where the records of a test file are; those of the built-in suite are in the root folder."""
    file = Path(test_file)
    return str((root if file.parent == Path(__file__).parent else file.parent) / FOLDER / file.stem)


class Journal(NamedTuple):
    """What was bought and is in no record yet: of this run or not, with the votes on verdicts that were not
    decided.

    `spent` is what that run had used for it, by purpose; the record's usage is what its content cost,
    whenever that was.
    """

    record: Record | None = None
    this_run: bool = False
    votes: tuple[StoredVerdict, ...] = ()
    spent: Mapping[str, Usage] = MappingProxyType({})


class RecordStore:
    """The record of one item: where it is, what is in it, and whether it may be written (`mode`, of
    ``--personalens-record``).

    `journal_folder` is outside the repository and keeps what was paid for in a run that does not update its
    records (``--personalens-record live``), or that breaks off halfway; None where nothing is bought. `run`
    is the id of this run, or of the one that it resumes.
    """

    def __init__(
        self,
        item: pytest.Item,
        scenario: BaseScenario,
        journal_folder: Path | None,
        run: str,
        mode: Literal["none", "live", "new", "all"],
    ) -> None:
        self.scenario = scenario
        self._location = PyTestLocation(item)
        self.path = Path(RecordExtension.get_location(test_location=self._location, index=0))
        # syrupy's own options are for the team's snapshots alone: who accepts those has not asked to pay for
        # dialogues, nor the reverse.
        self.writes, self._all = mode in ("new", "all"), mode == "all"
        self._nodeid, self._journal_folder = item.nodeid, journal_folder
        self._run = run
        self._text: str | None = None
        #: What is in the file.
        self.stored: Record | None = None

    @cached_property
    def _journal(self) -> Path | None:
        return journal_file(self._journal_folder, self._nodeid) if self._journal_folder else None

    def load(self) -> tuple[Record, ...]:
        """What may be replayed of the item's record. Raises `RecordError` for one that is corrupt, edited, or
        of another scenario, unless it is being replaced."""
        try:
            self._text = _read(self.path)
            record = read_record(self._text, str(self.path)) if self._text is not None else None
            if record is not None and record.scenario != self.scenario.id:
                raise RecordError(
                    f"{self.path}: the record belongs to scenario {record.scenario!r}; {ADVICE}"
                )
            self.stored = record
        except RecordError:
            if not self.writes:
                raise
        return () if self.stored is None or self._all else (self.stored,)

    def load_journal(self) -> Journal:
        """What an earlier run paid for and did not put into the record, if there is something readable, and
        whether that was this run.
        """
        try:
            kept = json.loads((_read(self._journal) if self._journal else None) or "null")
            run, votes = (
                kept.pop("run"),
                tuple(StoredVerdict.model_validate(vote) for vote in kept.pop("votes", ())),
            )
            spent = {purpose: Usage.model_validate(used) for purpose, used in kept.pop("spent", {}).items()}
            return Journal(read_record(json.dumps(kept), str(self._journal)), run == self._run, votes, spent)
        except (RecordError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            return Journal()

    @property
    def keeper(self) -> Keep | None:
        """`keep`, where anything is bought that is to be kept."""
        return self.keep if self._journal_folder else None

    def keep(
        self, evaluation: Evaluation, spent: Mapping[str, Usage], votes: Sequence[StoredVerdict] = ()
    ) -> None:
        """Put an evaluation, finished or not, where a crash cannot reach it, with what this run has `spent`
        on it so far and the votes on what is not decided yet.

        Raises `RecordError` where nothing can be written.
        """
        if self._journal:
            try:
                self._journal.parent.mkdir(parents=True, exist_ok=True)
                cast = {"votes": [vote.model_dump(mode="json") for vote in votes]} if votes else {}
                used = {purpose: usage.model_dump() for purpose, usage in spent.items()}
                kept = {
                    "run": self._run,
                    "spent": used,
                    **cast,
                    **record_of(evaluation, self.scenario).data(),
                }
                write_atomically(self._journal, json.dumps(kept))
            except OSError as error:
                why = f"{self._journal}: what was bought cannot be kept: {error.strerror}"
                raise RecordError(f"{why}; make room or remove it, and run again") from None

    def settle(
        self, syrupy: SnapshotSession, done: JobResult
    ) -> Literal["none", "replayed", "stale", "written"]:
        """Bring the record up to date where this run may, with what its content cost in all; says what became
        of it.

        Raises `RecordError` where the record could not be written: what was bought then stays in the journal.
        """
        if done.evaluation.scored and self.writes:
            record = record_of(done.evaluation.model_copy(update={"usage": done.cost}), self.scenario)
            if self.stored is not None:
                record = _with_other_verdicts(record.with_ids_of(self.stored), self.stored)
            changed = self._all or record != self.stored
            self._compare(self._snapshot(syrupy), record.data())
            return "written" if changed else "replayed"
        if self.stored is None:
            return "none"
        if done.questions or not done.evaluation.scored:
            return "stale"
        # The comparison only tells syrupy's summary that the snapshot was used: a reformatted file is still
        # our record.
        snapshot = self._snapshot(syrupy)
        snapshot.extension.known = self._text  # type: ignore[attr-defined]  # a `RecordExtension`, as `_snapshot` asks for
        self._compare(snapshot, Verbatim(self._text))
        return "replayed"

    def _compare(self, snapshot: SnapshotAssertion, data: SerializableData) -> None:
        # syrupy writes where it compares. So this must never be an `assert`: Python may run without them.
        if snapshot != data:
            error = list(snapshot.executions.values())[-1].exception
            reason = (
                error.strerror if isinstance(error, OSError) else None
            ) or f"{type(error).__name__}: {error}"
            raise RecordError(
                f"{self.path}: the record cannot be written: {reason}; make it writable and run again, what"
                " was bought is kept"
            )

    def _snapshot(self, syrupy: SnapshotSession) -> SnapshotAssertion:
        # What syrupy's fixture gives, but for the default extension's part in it: that took as long as the
        # rest of a record.
        return SnapshotAssertion(
            session=syrupy,
            extension_class=RecordExtension,
            test_location=self._location,
            update_snapshots=self.writes,
        )


def journal_file(folder: Path, nodeid: str) -> Path:
    """Where what was bought for an item is kept until its record holds it."""
    return folder / f"{slug(nodeid)}.json"


def _with_other_verdicts(new: Record, old: Record) -> Record:
    # A run that reads fewer dimensions must not throw away the verdicts on the others.
    if (new.dialogue, new.user_digest, new.judge) != (old.dialogue, old.user_digest, old.judge):
        return new
    have = {v.verdict.dimension for v in new.verdicts}
    kept = tuple(v for v in old.verdicts if v.verdict.dimension not in have)
    order = [v.verdict.dimension for v in old.verdicts]
    merged = sorted(
        (*new.verdicts, *kept),
        key=lambda v: order.index(v.verdict.dimension) if v.verdict.dimension in order else len(order),
    )
    return new.model_copy(update={"verdicts": tuple(merged)}).sealed()


def _read(path: Path) -> str | None:
    """What stands in a record's file; None where there is none.

    Raises `RecordError` for a folder, a loop of links, ...
    """
    try:
        return no_device(path).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        raise RecordError(
            f"{path}: the record cannot be read: {error.strerror}; remove it, or restore it from version"
            " control"
        ) from None
