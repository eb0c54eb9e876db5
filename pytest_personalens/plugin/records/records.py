"""Records on disk: one JSON file for each item, next to the tests."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.engine.records.other_records import FOLDER, STORED
from pytest_personalens.engine.records.record import ADVICE, Record, StoredVerdict, read_record, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.job import JobResult, Keep

#: The folder of this plugin, in which the built-in suite lies.
_PLUGIN = Path(__file__).parents[1]


class Journal(NamedTuple):
    """The paid results of an item that are in no record yet.

    `this_run` says if this run paid for them. `votes` are those on undecided verdicts. `spent` is the usage
    of that run for the item, by purpose; a record has the cost of its content, whenever it was paid.
    """

    record: Record | None = None
    this_run: bool = False
    votes: tuple[StoredVerdict, ...] = ()
    spent: Mapping[str, Usage] = MappingProxyType({})


class RecordStore:
    """The record of one item: its place, its content, and the permission to write it.

    `mode` is the value of ``--personalens-record``. `journal_folder` is outside the repository. It keeps paid
    results of a run that breaks off or updates no records, and is None if the run pays for nothing. `run` is
    the id of this run, or of the one that it resumes.
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
        self.path = record_path(item)
        # syrupy's own options are only for the team's snapshots. A user who accepts those has not agreed to
        # pay for dialogues, and the other way round.
        self.writes, self._all = mode in ("new", "all"), mode == "all"
        self._journal = journal_file(journal_folder, item.nodeid) if journal_folder else None
        self._run = run
        self._text: str | None = None
        #: The record in the file.
        self.stored: Record | None = None

    def load(self) -> tuple[Record, ...]:
        """Return the item's record if it may be replayed.

        Raise `RecordError` for a record that is corrupt, edited, or of another scenario, unless this run
        replaces it.
        """
        try:
            self._text = _read(self.path)
            if self._text is not None:
                record, suite = read_record(self._text, str(self.path)), self.scenario.suite
                if record.suite != suite:
                    raise RecordError(
                        f"{self.path}: the record is of the suite {record.suite!r}, this run of {suite!r};"
                        f" {ADVICE}"
                    )
                if record.scenario != self.scenario.id:
                    raise RecordError(
                        f"{self.path}: the record belongs to scenario {record.scenario!r}; {ADVICE}"
                    )
                self.stored = record
        except RecordError:
            if not self.writes:
                raise
        return () if self.stored is None or self._all else (self.stored,)

    def load_journal(self) -> Journal:
        """Return the paid results that are not in the record; empty if there are none, or none to be read."""
        if self._journal is None:
            return Journal()
        try:
            kept = json.loads(_read(self._journal) or "null")
            this_run = kept.pop("run") == self._run
            votes = tuple(map(StoredVerdict.model_validate, kept.pop("votes", ())))
            spent = {purpose: Usage.model_validate(used) for purpose, used in kept.pop("spent", {}).items()}
            return Journal(read_record(json.dumps(kept), str(self._journal)), this_run, votes, spent)
        except (RecordError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            return Journal()

    @property
    def keeper(self) -> Keep | None:
        """Return the function that saves paid results in the journal, or None if there are none."""
        return self._keep if self._journal is not None else None

    def _keep(
        self, evaluation: Evaluation, spent: Mapping[str, Usage], votes: Sequence[StoredVerdict] = ()
    ) -> None:
        assert self._journal is not None
        try:
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            kept = {
                "run": self._run,
                "spent": {purpose: usage.model_dump() for purpose, usage in spent.items()},
                "votes": [vote.model_dump(mode="json") for vote in votes],
                **record_of(evaluation, self.scenario).data(),
            }
            write_atomically(self._journal, json.dumps(kept))
        except OSError as error:
            why = f"{self._journal}: what was bought cannot be kept: {error.strerror}"
            raise RecordError(f"{why}; make room or remove it, and run again") from None

    def settle(self, done: JobResult) -> Literal["none", "replayed", "stale", "written"]:
        """Update the record if this run may, with the whole cost of its content, and return what happened.

        Raise `RecordError` if it could not be written; the paid results then stay in the journal.
        """
        if done.evaluation.scored and self.writes:
            record = record_of(done.evaluation.model_copy(update={"usage": done.cost}), self.scenario)
            if self.stored is not None:
                record = _with_other_verdicts(record.with_ids_of(self.stored), self.stored)
            self._write(str(_RecordExtension().serialize(record.data())))
            return "written" if self._all or record != self.stored else "replayed"
        if self.stored is None:
            return "none"
        return "stale" if done.questions or not done.evaluation.scored else "replayed"

    def _write(self, text: str) -> None:
        if text == self._text:
            return
        try:
            write_record(self.path, text)
        except OSError as error:
            raise RecordError(
                f"{self.path}: the record cannot be written: {error.strerror or error}; make it writable and"
                " run again, what was bought is kept"
            ) from None


def journal_file(folder: Path, nodeid: str) -> Path:
    """Return the file for the paid results of an item until its record holds them."""
    return folder / f"{slug(nodeid)}.json"


def _with_other_verdicts(new: Record, old: Record) -> Record:
    # A run that reads fewer dimensions must keep the verdicts on the others.
    if (new.dialogue, new.user_digest, new.judge) != (old.dialogue, old.user_digest, old.judge):
        return new
    have = {v.verdict.dimension for v in new.verdicts}
    have |= {gap.dimension for gap in (*new.unread, *new.not_judged)}
    kept = tuple(v for v in old.verdicts if v.verdict.dimension not in have)
    unread = (*new.unread, *(gap for gap in old.unread if gap.dimension not in have))
    not_judged = (*new.not_judged, *(gap for gap in old.not_judged if gap.dimension not in have))
    order = {v.verdict.dimension: place for place, v in enumerate(old.verdicts)}
    merged = sorted((*new.verdicts, *kept), key=lambda v: order.get(v.verdict.dimension, len(order)))
    return new.model_copy(
        update={"verdicts": tuple(merged), "unread": unread, "not_judged": not_judged}
    ).seal()


def _read(path: Path) -> str | None:
    """Return the content of a record's file, if there is one; `RecordError` for a folder and such."""
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        raise RecordError(
            f"{path}: the record cannot be read: {error.strerror}; remove it, or restore it from version"
            " control"
        ) from None


class _RecordExtension(JSONSnapshotExtension):
    """Syrupy's names and JSON, for ``__personalens__/<test module>/<item>.json`` next to the test file.

    The folder is not that of syrupy: a record that today's sample leaves out is not to be deleted.
    """

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        config = test_location.item.config
        # The record of a test's own dialogue must not give way to that of a stored one.
        begin = STORED if config.getoption("personalens_dialogues", None) else ""
        return _folder(test_location.filepath, config.rootpath, begin)


def record_path(item: pytest.Item) -> Path:
    return Path(_RecordExtension.get_location(test_location=PyTestLocation(item), index=0))


def write_record(path: Path, text: str) -> None:
    """Write a record and the folders above it, or raise `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


@lru_cache(maxsize=64)
def _folder(test_file: str, root: Path, begin: str) -> str:
    file = Path(test_file)  # the built-in suite has its records in the root folder
    return str((root if _PLUGIN in file.parents else file.parent) / FOLDER / f"{begin}{file.stem}")
