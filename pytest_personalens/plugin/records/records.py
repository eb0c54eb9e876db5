"""Records on disk: one JSON file for each item, next to the tests."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.devices import no_device
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.engine.records.record import ADVICE, Record, StoredVerdict, read_record, record_of
from pytest_personalens.plugin.records.record_files import record_path, record_text, write_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.job import JobResult, Keep


class Journal(NamedTuple):
    """The paid results of an item that are in no record yet.

    `this_run` says if this run paid for them. `votes` are those on verdicts that were not decided. `spent` is
    the usage of that run for the item, by purpose. The usage in the record is the cost of its content,
    whenever it was paid.
    """

    record: Record | None = None
    this_run: bool = False
    votes: tuple[StoredVerdict, ...] = ()
    spent: Mapping[str, Usage] = MappingProxyType({})


class RecordStore:
    """The record of one item: its place, its content, and the permission to write it.

    `mode` is the value of ``--personalens-record``. `journal_folder` is outside the repository. It keeps paid
    results of a run that breaks off, or that does not update its records (``--personalens-record live``). It
    is None if the run pays for nothing. `run` is the id of this run, or of the run that it resumes.
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
        self._nodeid, self._journal_folder = item.nodeid, journal_folder
        self._run = run
        self._text: str | None = None
        #: The record in the file.
        self.stored: Record | None = None

    @cached_property
    def _journal(self) -> Path | None:
        return journal_file(self._journal_folder, self._nodeid) if self._journal_folder else None

    def load(self) -> tuple[Record, ...]:
        """Return the item's record if it may be replayed.

        Raise `RecordError` for a record that is corrupt, edited, or of another scenario, unless this run
        replaces it.
        """
        try:
            self._text = _read(self.path)
            record = read_record(self._text, str(self.path)) if self._text is not None else None
            if record is not None and record.suite != self.scenario.suite:
                raise RecordError(
                    f"{self.path}: the record is of the suite {record.suite!r}, this run of"
                    f" {self.scenario.suite!r}; {ADVICE}"
                )
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
        """Return the paid results of an earlier run that are not in the record.

        The journal is empty if there are none, or if they cannot be read. It says if this run paid for them.
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
        """Return `keep`, or None if there is nothing to keep."""
        return self.keep if self._journal_folder else None

    def keep(
        self, evaluation: Evaluation, spent: Mapping[str, Usage], votes: Sequence[StoredVerdict] = ()
    ) -> None:
        """Save an evaluation, finished or not, so that a crash cannot lose it.

        The usage of this run for it (`spent`) and the votes on undecided verdicts are saved too. Raise
        `RecordError` if nothing can be written.
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

    def settle(self, done: JobResult) -> Literal["none", "replayed", "stale", "written"]:
        """Update the record if this run may, with the whole cost of its content.

        Return what happened to the record. Raise `RecordError` if it could not be written; the paid results
        then stay in the journal.
        """
        if done.evaluation.scored and self.writes:
            record = record_of(done.evaluation.model_copy(update={"usage": done.cost}), self.scenario)
            if self.stored is not None:
                record = _with_other_verdicts(record.with_ids_of(self.stored), self.stored)
            self._write(record_text(record.data()))
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
    have = {v.verdict.dimension for v in new.verdicts} | {fault.dimension for fault in new.unread}
    kept = tuple(v for v in old.verdicts if v.verdict.dimension not in have)
    unread = (*new.unread, *(fault for fault in old.unread if fault.dimension not in have))
    order = [v.verdict.dimension for v in old.verdicts]
    merged = sorted(
        (*new.verdicts, *kept),
        key=lambda v: order.index(v.verdict.dimension) if v.verdict.dimension in order else len(order),
    )
    return new.model_copy(update={"verdicts": tuple(merged), "unread": unread}).seal()


def _read(path: Path) -> str | None:
    """Return the content of a record's file, or None if there is none.

    Raise `RecordError` for a folder, a loop of links, and similar problems.
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
