"""What is kept of an evaluation, and the digests that tell whether it still holds."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import Field, ValidationError

from pytest_personalens.core.dialogue import Dialogue
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.jsonfile import first_problem
from pytest_personalens.core.measure import Measure
from pytest_personalens.core.message import numbered
from pytest_personalens.core.scenario import BaseScenario, Frozen
from pytest_personalens.core.usage import Usage
from pytest_personalens.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.evaluation import Evaluation
    from pytest_personalens.core.message import Message, Role

RECORD_VERSION: Final = 1


#: What a user can do about a record that does not fit.
ADVICE: Final = "record it with --personalens-record new"


class StoredVerdict(Frozen):
    """A verdict with the digest of all that its judge saw."""

    evidence_digest: str
    verdict: Verdict


class Record(Frozen):
    """One evaluation as it is kept on disk: the dialogue, whose user agent it was, the verdicts, and what
    buying them cost.

    `user_digest` covers the user agent and the scenario; `integrity` covers the rest of the record, so that
    an edit by hand is seen.
    """

    record: int = RECORD_VERSION
    scenario: str
    dataset: str
    user_agent: str
    judge: str
    assistant: str = ""
    user_digest: str
    dialogue: Dialogue
    verdicts: tuple[StoredVerdict, ...] = ()
    usage: dict[str, Usage] = Field(default_factory=dict)
    integrity: str = Field(default="")

    def sealed(self) -> Record:
        """The same record with `integrity` set."""
        return self.model_copy(update={"integrity": self.seal()})

    def seal(self) -> str:
        """The digest of all but `integrity`."""
        return _digest(self.model_dump(mode="json", exclude={"integrity"}))

    def with_ids_of(self, other: Record) -> Record:
        """The record with the other's ids of tool calls, where the dialogues differ in nothing else."""
        if self.dialogue == other.dialogue or _seen(self.dialogue) != _seen(other.dialogue):
            return self
        return self.model_copy(update={"dialogue": other.dialogue}).sealed()

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return self.model_dump(mode="json")


def record_of(evaluation: Evaluation, scenario: BaseScenario) -> Record:
    """The record of an evaluation, finished or not."""
    dialogue, evidence = evaluation.dialogue, EvidenceDigests(scenario)
    return Record(
        scenario=evaluation.scenario,
        dataset=evaluation.dataset,
        user_agent=evaluation.user_agent,
        judge=evaluation.judge,
        assistant=evaluation.assistant,
        user_digest=evidence.of_user(evaluation.user_agent),
        dialogue=dialogue,
        verdicts=tuple(
            StoredVerdict(
                evidence_digest=evidence.of_reading(evaluation.judge, dialogue, v.dimension), verdict=v
            )
            for v in evaluation.verdicts
        ),
        usage=evaluation.usage,
    ).sealed()


def read_record(text: str, where: str) -> Record:
    """The record in `text`, read from the file `where`.

    Raises `RecordError` if it is corrupt or was edited.
    """
    advice = "restore it from version control, or write it anew with --personalens-record new"
    try:
        data = json.loads(text)
        record = Record.model_validate(data)
    except (ValueError, RecursionError) as error:
        problem = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{where}: the record cannot be read ({problem}); {advice}") from None
    # What was sealed stands in the file as it was, unless somebody wrote the same content otherwise: only
    # then is it made anew.
    if _digest({k: v for k, v in data.items() if k != "integrity"}) != record.integrity != record.seal():
        raise RecordError(
            f"{where}: the record was edited by hand (its integrity digest does not match); {advice}"
        )
    return record


class TurnDifference(NamedTuple):
    """The first turn of a dialogue that is not what it was, who said it, and both texts; `before` is empty
    where the record had ended.
    """

    turn: int
    role: Role
    before: str
    now: str

    def __str__(self) -> str:
        if self.before == self.now:
            return f"the tool calls of the {self.role}'s turn {self.turn} differ"
        return (
            f"the {self.role}'s turn {self.turn} differs"
            if self.before
            else f"the dialogue ended before the {self.role}'s turn {self.turn}"
        )


def first_difference(before: Sequence[Message], now: Sequence[Message]) -> TurnDifference | None:
    """Where a dialogue, or as much of it as there is, first departs from what it was; None if it does not.

    The ids of tool calls make no difference.
    """
    before, now = numbered(before), numbered(now)
    for turn, message in enumerate(now):
        stored = before[turn] if turn < len(before) else None
        if stored != message:
            return TurnDifference(
                turn, message.role, stored.content if stored is not None else "", message.content
            )
    return None


class EvidenceDigests:
    """Digests of all that an agent sees of a scenario and its dialogue: what is equal may be replayed."""

    def __init__(self, scenario: BaseScenario) -> None:
        self._scenario = _json(scenario.model_dump(mode="json"))
        self._users: dict[str, str] = {}
        # A judge is asked for several readings of one dialogue.
        self._last: tuple[Dialogue | None, str] = (None, "")

    def of_user(self, identity: str) -> str:
        """All that shapes a simulated user apart from the transcript."""
        if identity not in self._users:
            self._users[identity] = _hash(
                f'{{"scenario": {self._scenario}, "user_agent": {_json(identity)}}}'
            )
        return self._users[identity]

    @staticmethod
    def of_dialogue(dialogue: Dialogue) -> str:
        """The transcript, and how it ended."""
        return _hash(_seen(dialogue))

    def of_reading(self, judge: str, dialogue: Dialogue, dimension: Measure) -> str:
        """All that a judge sees: who judges by which rubric, the scenario, the transcript, the dimension."""
        last = self._last
        if last[0] is not dialogue:
            last = self._last = dialogue, _seen(dialogue)
        seen = f'"dialogue": {last[1]}, "dimension": {_json(dimension.value)}'
        return _hash(f'{{{seen}, "judge": {_json(judge)}, "scenario": {self._scenario}}}')


def _seen(dialogue: Dialogue) -> str:
    """All of a dialogue that a judge can see."""
    same = dialogue.model_copy(update={"messages": numbered(dialogue.messages)})
    return _json(same.model_dump(mode="json"))


def _digest(data: Any) -> str:
    return _hash(_json(data))


#: `json.dumps` would make one at every call.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True)


def _json(data: Any) -> str:
    return _ENCODER.encode(data)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
