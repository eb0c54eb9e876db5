"""Readings of existing dialogues, each kept in a record and repeated from it."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.jsonfile import to_json
from pytest_personalens.engine.records.record import EvidenceDigests, Record, StoredVerdict, read_record
from pytest_personalens.engine.records.replay import Replay, ReplayJudge

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario
from pytest_personalens.core.judging.verdict import Judge, Verdict

#: The name of the user agent of a dialogue that another run made.
_ELSEWHERE = "not of this run"


class RecordedJudge:
    """A judge that repeats its verdicts from the records in `folder`, one for each dialogue.

    Several threads may use it. If `strict`, a damaged record raises `RecordError`; otherwise it is not used.
    Without `may_spend`, the judge asks nothing that costs money. With `anew`, it replaces existing records.
    """

    def __init__(
        self, judge: Judge, folder: Path, *, may_spend: bool, strict: bool, anew: bool = False
    ) -> None:
        self.identity, self.paid = judge.identity, judge.paid
        self.parallel = getattr(judge, "parallel", False)
        self._judge, self._folder, self._may_spend, self._strict = judge, folder, may_spend, strict
        self._anew = anew
        self._records: dict[Path, Record | None] = {}
        self._lock = threading.Lock()

    def knows(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> bool:
        """True if the record holds this reading."""
        digest = EvidenceDigests(scenario).of_reading(self.identity, dialogue, dimension)
        record = self._record(self._file(scenario, dialogue))
        return record is not None and any(stored.evidence_digest == digest for stored in record.verdicts)

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the recorded verdict if all that the judge would see is equal, else ask it and record."""
        file = self._file(scenario, dialogue)
        record = self._record(file)
        replay = Replay(scenario, [record] if record else [], may_spend=self._may_spend, where=str(file))
        verdict = ReplayJudge(self._judge, replay).verdict(scenario, dialogue, dimension)
        if replay.news:
            self._keep(file, scenario, dialogue, verdict)
        return verdict

    def _file(self, scenario: BaseScenario, dialogue: Dialogue) -> Path:
        user, said = EvidenceDigests(scenario).of_user(self.identity), EvidenceDigests.of_dialogue(dialogue)
        return self._folder / f"{user[:16]}{said[:16]}.json"

    def _record(self, file: Path) -> Record | None:
        with self._lock:
            if file not in self._records:
                self._records[file] = None if self._anew else self._read(file)
            return self._records[file]

    def _read(self, file: Path) -> Record | None:
        try:
            return read_record(file.read_text(encoding="utf-8"), str(file))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecordError) as error:
            if self._strict:
                raise RecordError(
                    f"{file}: the record cannot be read; delete it to have the dialogue read anew ({error})"
                ) from None
            return None

    def _keep(self, file: Path, scenario: BaseScenario, dialogue: Dialogue, verdict: Verdict) -> None:
        evidence = EvidenceDigests(scenario)
        stored = StoredVerdict(
            evidence_digest=evidence.of_reading(self.identity, dialogue, verdict.dimension), verdict=verdict
        )
        with self._lock:
            before = self._records[file]
            record = Record(
                scenario=scenario.id,
                dataset=scenario.dataset,
                user_agent=_ELSEWHERE,
                judge=self.identity,
                user_digest=evidence.of_user(_ELSEWHERE),
                dialogue=dialogue,
                verdicts=(*(before.verdicts if before else ()), stored),
            ).seal()
            self._records[file] = record
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                write_atomically(file, to_json(record))
            except OSError as error:
                if self._strict:
                    raise RecordError(f"{file}: cannot be written: {error.strerror}") from None
                with suppress(OSError):
                    file.unlink(missing_ok=True)
