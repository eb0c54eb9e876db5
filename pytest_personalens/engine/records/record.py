"""The record of an evaluation, and the digests that say whether it still fits."""

from __future__ import annotations

import hashlib
import json
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import Field, ValidationError

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import number_call_ids
from pytest_personalens.core.dialogue.tool_calls import call_lines
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.measure import Measure
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.judging.verdict import MeasureField, Verdict
from pytest_personalens.core.scenario import BaseScenario
from pytest_personalens.core.suite.suite_field import SuiteField
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.results.values.item import Earlier, codes_in, scores_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message, Role
    from pytest_personalens.core.judging.evaluation import Evaluation

RECORD_VERSION: Final = 1


#: The advice to a user about a record that does not fit.
ADVICE: Final = "record it with --personalens-record new"


class StoredVerdict(Frozen):
    """A verdict with the digest of everything that its judge saw."""

    evidence_digest: str
    verdict: Verdict


class StoredGap(Frozen):
    """A reading that the judge did not give, with the digest of everything that it saw, and why."""

    evidence_digest: str
    dimension: MeasureField
    why: str


class Record(Frozen):
    """One evaluation on disk: the dialogue, its agents, the verdicts, and their cost.

    `user_digest` covers the user agent and the scenario. By `integrity`, an edit by hand is noticed.
    """

    record: int = RECORD_VERSION
    suite: SuiteField = FIRST_SUITE
    scenario: str
    dataset: str
    user_agent: str
    judge: str
    assistant: str = ""
    user_digest: str
    dialogue: Dialogue
    verdicts: tuple[StoredVerdict, ...] = ()
    unread: tuple[StoredGap, ...] = ()
    not_judged: tuple[StoredGap, ...] = ()
    usage: dict[str, Usage] = Field(default_factory=dict)
    integrity: str = ""

    def seal(self) -> Record:
        """Return the same record with `integrity` set."""
        return self.model_copy(update={"integrity": _integrity_of(self.data())})

    def with_ids_of(self, other: Record) -> Record:
        """Return the record with the other's ids of tool calls, if the dialogues are otherwise equal."""
        if self.dialogue == other.dialogue or _seen(self.dialogue) != _seen(other.dialogue):
            return self
        return self.model_copy(update={"dialogue": other.dialogue}).seal()

    def data(self) -> dict[str, Any]:
        """Return plain data for JSON, without a suite or missing readings that say nothing."""
        data = self.model_dump(mode="json")
        if self.suite == FIRST_SUITE:
            del data["suite"]
        for gaps in ("unread", "not_judged"):
            if not data[gaps]:
                del data[gaps]
        return data

    def restore_texts(self, scenario: BaseScenario) -> Record:
        """Return the record with the texts that it holds as digests, where they are still the same."""
        texts = {_text_digest(text): text for text in scenario.unrecorded}
        return self.model_copy(update={"dialogue": _replace_texts(self.dialogue, texts)}) if texts else self


def record_of(evaluation: Evaluation, scenario: BaseScenario) -> Record:
    """Return the record of an evaluation, finished or not."""
    dialogue, evidence = evaluation.dialogue, EvidenceDigests(scenario)

    def stored(gaps: Mapping[Measure, str]) -> tuple[StoredGap, ...]:
        digests = {d: evidence.of_reading(evaluation.judge, dialogue, d) for d in gaps}
        return tuple(StoredGap(evidence_digest=digests[d], dimension=d, why=gaps[d]) for d in gaps)

    return Record(
        suite=scenario.suite,
        scenario=evaluation.scenario,
        dataset=evaluation.dataset,
        user_agent=evaluation.user_agent,
        judge=evaluation.judge,
        assistant=evaluation.assistant,
        user_digest=evidence.of_user(evaluation.user_agent),
        dialogue=_replace_texts(dialogue, {t: _text_digest(t) for t in scenario.unrecorded}),
        verdicts=tuple(
            StoredVerdict(
                evidence_digest=evidence.of_reading(evaluation.judge, dialogue, v.dimension), verdict=v
            )
            for v in evaluation.verdicts
        ),
        unread=stored(evaluation.unread),
        not_judged=stored(evaluation.not_judged),
        usage=evaluation.usage,
    ).seal()


def _replace_texts(dialogue: Dialogue, texts: Mapping[str, str]) -> Dialogue:
    """Return the dialogue with other texts of the user."""
    if not texts:
        return dialogue
    messages = tuple(
        m.model_copy(update={"content": texts.get(m.content, m.content)}) if m.role == "user" else m
        for m in dialogue.messages
    )
    return dialogue.model_copy(update={"messages": messages})


def _text_digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def earlier_by(record: Record | None, evaluation: Evaluation) -> Earlier | None:
    """What the item was by its record; None where that holds the same dialogue, or there is none.

    Scores of another judge are no measure of these.
    """
    if record is None or number_call_ids(record.dialogue.messages) == number_call_ids(
        evaluation.dialogue.messages
    ):
        return None
    verdicts = [s.verdict for s in record.verdicts] if record.judge == evaluation.judge else []
    return Earlier(
        source="record",
        scores=scores_in(verdicts),
        reasons=codes_in(verdicts),
        messages=record.dialogue.messages,
    )


def read_record(text: str, where: str) -> Record:
    """Return the record in the text of the file `where`; raise `RecordError` if it is corrupt or edited."""
    advice = "restore it from version control, or write it anew with --personalens-record new"
    try:
        data = json.loads(text)
        record = Record.model_validate(data)
    except (ValueError, RecursionError) as error:
        problem = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{where}: the record cannot be read ({problem}); {advice}") from None
    # The digest of the file's own data usually matches, unless the same content was written in another form.
    if _integrity_of(data) != record.integrity != _integrity_of(record.data()):
        raise RecordError(
            f"{where}: the record was edited by hand (its integrity digest does not match); {advice}"
        )
    return record


class TurnDifference(NamedTuple):
    """The first turn of a dialogue that differs from its record, with both texts.

    `before` is empty if the record had ended. If only the tool calls differ, `calls` is true, and the texts
    are those of the calls.
    """

    turn: int
    role: Role
    before: str
    now: str
    calls: bool = False

    def __str__(self) -> str:
        if self.calls:
            return f"the tool calls of the {self.role}'s turn {self.turn} differ"
        turn = f"the {self.role}'s turn {self.turn}"
        return f"{turn} differs" if self.before else f"the dialogue ended before {turn}"


def first_difference(before: Sequence[Message], now: Sequence[Message]) -> TurnDifference | None:
    """Return the first turn that differs from the record, or None.

    `now` may be only the beginning of a dialogue. The ids of tool calls do not count.
    """
    for turn, (stored, message) in enumerate(zip_longest(number_call_ids(before), number_call_ids(now))):
        if stored == message or message is None:
            continue
        if stored is not None and stored.content == message.content:
            then, today = ("; ".join(call_lines(m)) or "no tool call" for m in (stored, message))
            return TurnDifference(turn, message.role, then, today, calls=True)
        return TurnDifference(turn, message.role, stored.content if stored else "", message.content)
    return None


class EvidenceDigests:
    """Digests of all that an agent sees of a scenario and its dialogue: if equal, its answer is replayed."""

    def __init__(self, scenario: BaseScenario) -> None:
        self._scenario = _json(scenario.model_dump(mode="json"))
        self._users: dict[str, str] = {}
        # A judge gives several readings of one dialogue, so the last dialogue is kept.
        self._last: tuple[Dialogue | None, str] = (None, "")

    def of_user(self, identity: str) -> str:
        """Return the digest of what shapes a simulated user, except the transcript."""
        if identity not in self._users:
            self._users[identity] = _hash(
                f'{{"scenario": {self._scenario}, "user_agent": {_json(identity)}}}'
            )
        return self._users[identity]

    @staticmethod
    def of_dialogue(dialogue: Dialogue) -> str:
        """Return the digest of the transcript and of its end."""
        return _hash(_seen(dialogue))

    def of_reading(self, judge: str, dialogue: Dialogue, dimension: Measure) -> str:
        """Return the digest of the judge with its rubric, the scenario, the transcript and the dimension."""
        last = self._last
        if last[0] is not dialogue:
            last = self._last = dialogue, _seen(dialogue)
        seen = f'"dialogue": {last[1]}, "dimension": {_json(dimension.value)}'
        return _hash(f'{{{seen}, "judge": {_json(judge)}, "scenario": {self._scenario}}}')


def _seen(dialogue: Dialogue) -> str:
    """Return everything that a judge can see of a dialogue, as JSON."""
    same = dialogue.model_copy(update={"messages": number_call_ids(dialogue.messages)})
    return _json(same.model_dump(mode="json"))


def _integrity_of(data: Mapping[str, Any]) -> str:
    return _hash(_json({key: value for key, value in data.items() if key != "integrity"}))


#: `json.dumps` would make a new encoder at every call.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True)


def _json(data: Any) -> str:
    return _ENCODER.encode(data)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
