"""Records of finished evaluations, and the agents that play them back instead of asking again."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import Field, ValidationError

from pytest_personalens.core.dialogue import Dialogue, Message, UserAgent, UserTurn
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.jsonfile import first_problem
from pytest_personalens.core.scenario import Frozen, Scenario
from pytest_personalens.core.usage import Usage
from pytest_personalens.core.verdict import Dimension, Judge, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_personalens.agents.by_model.model_assistant import ModelAssistant
    from pytest_personalens.core.dialogue import AssistantMessages, Role
    from pytest_personalens.core.evaluation import Evaluation

RECORD_VERSION: Final = 1
#: What a user can do about a record that does not fit.
ADVICE: Final = "record it with --personalens-record new"
Found = TypeVar("Found")


class StoredVerdict(Frozen):
    """A verdict with the digest of all that its judge saw."""

    evidence_digest: str
    verdict: Verdict


class Record(Frozen):
    """One evaluation as it is kept on disk: the dialogue, whose user agent it was, the verdicts, and what buying them cost.

    `user_digest` covers the user agent and the scenario; `integrity` covers the rest of the record, so that an
    edit by hand is seen.
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

    def data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return self.model_dump(mode="json")


def record_of(evaluation: Evaluation, scenario: Scenario) -> Record:
    """The record of an evaluation, finished or not."""
    dialogue, evidence = evaluation.dialogue, Evidence(scenario)
    return Record(
        scenario=evaluation.scenario,
        dataset=evaluation.dataset,
        user_agent=evaluation.user_agent,
        judge=evaluation.judge,
        assistant=evaluation.assistant,
        user_digest=evidence.of_user(evaluation.user_agent),
        dialogue=dialogue,
        verdicts=tuple(
            StoredVerdict(evidence_digest=evidence.of_reading(evaluation.judge, dialogue, v.dimension), verdict=v)
            for v in evaluation.verdicts
        ),
        usage=evaluation.usage,
    ).sealed()


def read_record(text: str, where: str) -> Record:
    """The record in `text`, read from the file `where`. Raises `RecordError` if it is corrupt or was edited."""
    advice = "restore it from version control, or write it anew with --personalens-record new"
    try:
        data = json.loads(text)
        record = Record.model_validate(data)
    except (ValueError, RecursionError) as error:
        problem = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{where}: the record cannot be read ({problem}); {advice}") from None
    # What was sealed stands in the file as it was, unless somebody wrote the same content otherwise: only then is it made anew.
    if _digest({k: v for k, v in data.items() if k != "integrity"}) != record.integrity != record.seal():
        raise RecordError(f"{where}: the record was edited by hand (its integrity digest does not match); {advice}")
    return record


class Difference(NamedTuple):
    """The first turn of a dialogue that is not what it was, who said it, and both texts; `before` is empty where the record had ended."""

    turn: int
    role: Role
    before: str
    now: str

    def __str__(self) -> str:
        return (
            f"the {self.role}'s turn {self.turn} differs"
            if self.before
            else f"the dialogue ended before the {self.role}'s turn {self.turn}"
        )


def first_difference(before: Sequence[Message], now: Sequence[Message]) -> Difference | None:
    """Where a dialogue, or as much of it as there is, first departs from what it was; None if it does not."""
    for turn, message in enumerate(now):
        stored = before[turn] if turn < len(before) else None
        if stored != message:
            return Difference(turn, message.role, stored.content if stored is not None else "", message.content)
    return None


class Evidence:
    """Digests of all that an agent sees of a scenario and its dialogue: what is equal may be replayed."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = _json(scenario.model_dump(mode="json"))
        self._users: dict[str, str] = {}
        # A judge is asked for several readings of one dialogue.
        self._last: tuple[Dialogue | None, str] = (None, "")

    def of_user(self, identity: str) -> str:
        """All that shapes a simulated user apart from the transcript."""
        if identity not in self._users:
            self._users[identity] = _hash(f'{{"scenario": {self._scenario}, "user_agent": {_json(identity)}}}')
        return self._users[identity]

    def of_reading(self, judge: str, dialogue: Dialogue, dimension: Dimension) -> str:
        """All that a judge sees: who judges by which rubric, the scenario, the transcript, the dimension."""
        last = self._last
        if last[0] is not dialogue:
            last = self._last = dialogue, _json(dialogue.model_dump(mode="json"))
        seen = f'"dialogue": {last[1]}, "dimension": {_json(dimension.value)}'
        return _hash(f'{{{seen}, "judge": {_json(judge)}, "scenario": {self._scenario}}}')


def _digest(data: Any) -> str:
    return _hash(_json(data))


#: `json.dumps` would make one at every call.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True)


def _json(data: Any) -> str:
    return _ENCODER.encode(data)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Replay:
    """What a run may reuse of an item's own `records` and of those `elsewhere`, and whether it may ask an agent where they have nothing.

    `asked` counts the questions that the item's own records did not answer; 0 at the end means that all was replayed from them. `news`
    is set when somebody said something that no record has, be it the assistant under test. `before` is called ahead of each question to
    an agent, and may refuse it by raising a `PersonalensError`.
    """

    def __init__(
        self,
        scenario: Scenario,
        records: Sequence[Record],
        *,
        may_spend: bool,
        where: str,
        elsewhere: Callable[[], Iterable[Record]] | None = None,
        votes: Sequence[StoredVerdict] = (),
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self.evidence = Evidence(scenario)
        self.records, self.may_spend, self.where = records, may_spend, where
        self._elsewhere, self._before = elsewhere, before
        #: Votes on verdicts that are not decided yet, those of the run that was broken off first; and who is told of a further one.
        self.votes = list(votes)
        self.voted: Callable[[], None] = lambda: None
        self._went_on: set[str] = set()
        self.asked = 0
        self.news = False
        self._lock = threading.Lock()

    def stored(self, find: Callable[[Record], Found | None], *, paid: bool) -> Found | None:
        """What `find` finds in the item's own records, else in those of other tests, where it would have to be paid for."""
        for record in self.records:
            if (found := find(record)) is not None:
                return found
        for record in self._elsewhere() if self._elsewhere is not None and paid else ():
            if (found := find(record)) is not None:
                with self._lock:
                    self.asked += 1
                return found
        return None

    def admit(self, *, paid: bool, what: str) -> None:
        """Let a question through to an agent. Raises `RecordError` if it would cost money that the run may not spend."""
        if paid and not self.may_spend:
            state = f"is stale ({what})" if self.records else "is missing"
            raise RecordError(f"{self.where}: the record {state}; {ADVICE}")
        self._before()
        with self._lock:
            self.asked += 1
        self.news = True

    def votes_on(self, digest: str, dimension: Dimension) -> list[Verdict]:
        """The votes cast before on a reading, by the digest of its evidence."""
        cast = [vote.verdict for vote in self.votes if vote.evidence_digest == digest]
        if cast:
            self._went_on.add(f"judge {dimension.short}")
        return cast

    def vote(self, digest: str, verdict: Verdict) -> None:
        """Take in a vote that was just bought."""
        with self._lock:
            self.votes.append(StoredVerdict(evidence_digest=digest, verdict=verdict))
        self.voted()

    def changed(self, role: Literal["user_agent", "judge"], identity: str) -> str:
        """Why no record holds anything of the agent that plays `role` now."""
        others = [before for before in (getattr(record, role) for record in self.records) if before != identity]
        return f"the {role.replace('_', ' ')} was {others[-1]}, and is {identity} now" if others else "its scenario has changed"

    def cost(self, evaluation: Evaluation, spent: dict[str, Usage]) -> dict[str, Usage]:
        """What the content of `evaluation` cost in all: what was `spent` now, and what the records it goes on from had cost.

        A dialogue goes on where its record breaks off, so its costs add up; a reading is bought anew or not at all, unless votes on it
        were cast before.
        """
        digest = self.evidence.of_user(evaluation.user_agent)
        before = next((r.usage for r in reversed(self.records) if r.user_digest == digest), {})
        anew = {p for p in spent if p.startswith("judge ") and p not in self._went_on}
        added = {p: u if p in anew else before.get(p, Usage()) + u for p, u in spent.items()}
        return dict(sorted({**before, **added}.items()))


class ReplayUserAgent:
    """A user agent that says what it said in the record while the transcript so far equals the record's."""

    def __init__(self, agent: UserAgent, replay: Replay) -> None:
        self.identity, self.paid = agent.identity, agent.paid
        self._agent, self._replay = agent, replay

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """The stored turn if the evidence is equal, else the agent's."""
        digest = self._replay.evidence.of_user(self.identity)

        def find(record: Record) -> UserTurn | None:
            return _stored_turn(record.dialogue, tuple(transcript)) if record.user_digest == digest else None

        stored = self._replay.stored(find, paid=self.paid)
        if stored is not None:
            return stored
        known = next((record for record in self._replay.records if record.user_digest == digest), None)
        if known is None:
            what = self._replay.changed("user_agent", self.identity)
        else:
            difference = first_difference(known.dialogue.messages, transcript)
            what = str(difference) if difference else f"it ends before turn {len(transcript)}"
        self._replay.admit(paid=self.paid, what=what)
        return self._agent.turn(scenario, transcript)


def _stored_turn(dialogue: Dialogue, transcript: tuple[Message, ...]) -> UserTurn | None:
    messages, position = dialogue.messages, len(transcript)
    if messages[:position] != transcript:
        return None
    if position == len(messages):
        # The user left without a word, or the record breaks off here.
        return UserTurn("", done=True) if dialogue.end == "silence" else None
    # Nobody answers the last message of a dialogue that the limit cut; a user who ended got one last reply, if the run lived on.
    return UserTurn(messages[position].content, done=dialogue.end == "user" and position >= len(messages) - 2)


class ReplayJudge:
    """A judge that repeats a stored verdict when all that it would see is equal."""

    def __init__(self, judge: Judge, replay: Replay) -> None:
        self.identity, self.paid = judge.identity, judge.paid
        # Where nothing may be asked there is nothing to wait for.
        self.parallel = getattr(judge, "parallel", False) and replay.may_spend
        self._judge, self._replay = judge, replay

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """The stored verdict if the evidence is equal, else the judge's."""
        digest = self._replay.evidence.of_reading(self.identity, dialogue, dimension)

        def find(record: Record) -> Verdict | None:
            fitting = (s.verdict for s in record.verdicts if s.evidence_digest == digest and s.verdict.dimension is dimension)
            return next(fitting, None)

        stored = self._replay.stored(find, paid=self.paid)
        if stored is not None:
            return stored
        known = next((record for record in self._replay.records if record.judge == self.identity), None)
        if known is None:
            what = self._replay.changed("judge", self.identity)
        else:
            difference = first_difference(known.dialogue.messages, dialogue.messages)
            what = str(difference or f"no verdict on {dimension.short} for this dialogue")
        self._replay.admit(paid=self.paid, what=what)
        if (decide := getattr(self._judge, "decide", None)) is not None:  # a judge of several votes, each of which is paid for
            cast = self._replay.votes_on(digest, dimension)
            decided: Verdict = decide(scenario, dialogue, dimension, cast, lambda vote: self._replay.vote(digest, vote))
            return decided
        return self._judge.verdict(scenario, dialogue, dimension)


class ReplayAssistant:
    """A model as the assistant that repeats its stored reply while the transcript so far equals the record's.

    For assistants of ours only: what the assistant under test says today is the very thing that a run asks.
    """

    def __init__(self, assistant: ModelAssistant, replay: Replay) -> None:
        self.identity, self.paid = assistant.identity, assistant.paid
        self._assistant, self._replay = assistant, replay

    def __call__(self, messages: AssistantMessages) -> str:
        """The stored reply if all that the assistant saw is equal, else the assistant's."""

        def find(record: Record) -> str | None:
            return _stored_reply(record.dialogue, messages) if record.assistant == self.identity else None

        stored = self._replay.stored(find, paid=self.paid)
        if stored is not None:
            return stored
        self._replay.admit(paid=self.paid, what=f"the assistant's turn {len(messages)} is not in it")
        return self._assistant(messages)


class ResumedAssistant:
    """The assistant under test, asked only for what it has not said already in the run that was broken off."""

    def __init__(self, assistant: Callable[[AssistantMessages], object], replay: Replay, broken_off: Record | None) -> None:
        self._assistant, self._replay, self._broken_off = assistant, replay, broken_off

    def __call__(self, messages: AssistantMessages) -> object:
        """The reply heard in that run if the transcript so far is equal, else the assistant's."""
        stored = _stored_reply(self._broken_off.dialogue, messages) if self._broken_off is not None else None
        if stored is not None:
            return stored
        self._replay.news = True
        return self._assistant(messages)


def _stored_reply(dialogue: Dialogue, messages: AssistantMessages) -> str | None:
    stored, position = dialogue.messages, len(messages)
    same = len(stored) > position and all((m.role, m.content) == (n["role"], n["content"]) for m, n in zip(stored, messages, strict=False))
    return stored[position].content if same else None
