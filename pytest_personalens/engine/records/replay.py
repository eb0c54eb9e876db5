"""Agents that replay the records of finished evaluations instead of asking again."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal, TypeVar

from pytest_personalens.core.dialogue.dialogue import Dialogue, UserAgent, UserTurn
from pytest_personalens.core.dialogue.message import Message, strip_tool_calls
from pytest_personalens.core.dialogue.reply import spoken_turns
from pytest_personalens.core.dialogue.state import state_difference
from pytest_personalens.core.errors import JudgeFault, NotJudged, RecordError
from pytest_personalens.core.judging.measure import Measure
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.judging.verdict import Judge, Verdict
from pytest_personalens.core.scenario import BaseScenario
from pytest_personalens.engine.records.record import (
    ADVICE,
    EvidenceDigests,
    Record,
    StoredVerdict,
    first_difference,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_personalens.agents.by_model.model_assistant import ModelAssistant
    from pytest_personalens.agents.by_model.official.agents import OfficialAssistant
    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.judging.evaluation import Evaluation

Found = TypeVar("Found")


class Replay:
    """The records that a run may reuse for an item, and the permission to ask when they hold no answer.

    The item's own `records` come first, then those `elsewhere`. `questions` counts the questions that its own
    records did not answer. `news` is true once anybody, also the assistant under test, says something that no
    record has. `before` runs ahead of each question to an agent and may refuse it with a `PersonalensError`.
    `voted` runs after each further vote.
    """

    def __init__(
        self,
        scenario: BaseScenario,
        records: Sequence[Record],
        *,
        may_spend: bool,
        where: str,
        elsewhere: Callable[[], Iterable[Record]] | None = None,
        votes: Sequence[StoredVerdict] = (),
        before: Callable[[], None] = lambda: None,
        voted: Callable[[], None] = lambda: None,
    ) -> None:
        self.evidence = EvidenceDigests(scenario)
        self._scenario, self.may_spend, self.where = scenario, may_spend, where
        self.records = [record.restore_texts(scenario) for record in records]
        self._elsewhere, self._before = elsewhere, before
        #: Votes on verdicts that are not decided yet, first those of the run that was broken off.
        self.votes = list(votes)
        self._voted = voted
        self._went_on: set[str] = set()
        self.questions = 0
        self.news = False
        self._lock = threading.Lock()

    def stored(self, find: Callable[[Record], Found | None], *, paid: bool) -> Found | None:
        """Return what `find` finds in the item's own records, or for a paid answer in those elsewhere."""
        for record in self.records:
            if (answer := find(record)) is not None:
                return answer
        for record in self._elsewhere() if self._elsewhere is not None and paid else ():
            if (answer := find(record.restore_texts(self._scenario))) is not None:
                with self._lock:
                    self.questions += 1
                return answer
        return None

    def admit(self, *, paid: bool, what: str) -> None:
        """Let a question through to an agent, or raise `RecordError` if the run may not spend on it."""
        if paid and not self.may_spend:
            state = f"is stale ({what})" if self.records else "is missing"
            raise RecordError(f"{self.where}: the record {state}; {ADVICE}")
        self._before()
        with self._lock:
            self.questions += 1
        self.news = True

    def votes_on(self, digest: str, dimension: Measure) -> list[Verdict]:
        """Return the earlier votes on a reading, by the digest of its evidence."""
        cast = [vote.verdict for vote in self.votes if vote.evidence_digest == digest]
        if cast:
            self._went_on.add(f"judge {dimension.short}")
        return cast

    def vote(self, digest: str, verdict: Verdict) -> None:
        """Add a vote that was just paid for."""
        with self._lock:
            self.votes.append(StoredVerdict(evidence_digest=digest, verdict=verdict))
        self._voted()

    def why_unknown(self, role: Literal["user_agent", "judge"], identity: str) -> str:
        """Return why no record holds anything of the agent that plays `role` now."""
        others = [before for r in self.records if (before := getattr(r, role)) != identity]
        if not others:
            return "its scenario has changed"
        return f"the {role.replace('_', ' ')} was {others[-1]}, and is {identity} now"

    def cost(self, evaluation: Evaluation, spent: dict[str, Usage]) -> dict[str, Usage]:
        """Return the cost of all of `evaluation`: what was `spent` now, and what its records cost.

        A dialogue continues where its record breaks off, so its costs add up. A reading is paid for anew or
        not at all, unless a run before has voted on it.
        """
        digest = self.evidence.of_user(evaluation.user_agent)
        before = next((r.usage for r in reversed(self.records) if r.user_digest == digest), {})
        anew = {p for p in spent if p.startswith("judge ") and p not in self._went_on}
        added = {p: u if p in anew else before.get(p, Usage()) + u for p, u in spent.items()}
        return dict(sorted({**before, **added}.items()))


class ReplayUserAgent:
    """A user agent that repeats its recorded turns while the transcript so far equals that of the record."""

    def __init__(self, agent: UserAgent, replay: Replay) -> None:
        self.identity, self.paid = agent.identity, agent.paid
        self.keeps_empty = getattr(agent, "keeps_empty", False)
        self._agent, self._replay = agent, replay

    def turn(self, scenario: BaseScenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the stored turn if the evidence is equal, else the agent's."""
        digest = self._replay.evidence.of_user(self.identity)

        def find(record: Record) -> UserTurn | None:
            return _stored_turn(record.dialogue, tuple(transcript)) if record.user_digest == digest else None

        if (stored := self._replay.stored(find, paid=self.paid)) is not None:
            return stored
        same_user = next((record for record in self._replay.records if record.user_digest == digest), None)
        if same_user is None:
            what = self._replay.why_unknown("user_agent", self.identity)
        else:
            difference = first_difference(strip_tool_calls(same_user.dialogue.messages), transcript)
            what = str(difference) if difference else f"it ends before turn {len(transcript)}"
        self._replay.admit(paid=self.paid, what=what)
        return self._agent.turn(scenario, transcript)


def _stored_turn(dialogue: Dialogue, transcript: tuple[Message, ...]) -> UserTurn | None:
    messages, position = dialogue.messages, len(transcript)
    if strip_tool_calls(messages[:position]) != transcript:
        return None
    if position == len(messages):
        # Either the user left without a message, or the record breaks off here.
        return UserTurn("", done=True) if dialogue.end == "silence" else None
    # If the limit ended the dialogue, its last message has no answer. If the user ended it, the assistant
    # gave one last reply, unless the run was broken off before.
    message, last = messages[position], position >= len(messages) - 2
    # A silent end of an unserved user comes out with the same messages if its last one ends the dialogue.
    done = last and dialogue.end in ("user", "unserved")
    return UserTurn(message.content, done, message.session, dialogue.end != "unserved")


class ReplayJudge:
    """A judge that repeats a stored verdict if everything that it would see is equal."""

    def __init__(self, judge: Judge, replay: Replay) -> None:
        self.identity, self.paid = judge.identity, judge.paid
        # If the judge may not be asked, threads would save no time.
        self.parallel = getattr(judge, "parallel", False) and replay.may_spend
        self._judge, self._replay = judge, replay
        if answer := getattr(judge, "answer", None):
            self.answer = answer

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the stored verdict if all is equal, else the judge's; `NotJudged` is stored, too."""
        if dimension in getattr(self._judge, "unrecorded", ()):
            return self._judge.verdict(scenario, dialogue, dimension)
        digest = self._replay.evidence.of_reading(self.identity, dialogue, dimension)

        def find(record: Record) -> Verdict | None:
            fitting = (s.verdict for s in record.verdicts if s.evidence_digest == digest)
            return next((verdict for verdict in fitting if verdict.dimension == dimension), None)

        def find_not_judged(record: Record) -> str | None:
            return next((gap.why for gap in record.not_judged if gap.evidence_digest == digest), None)

        def find_fault(record: Record) -> str | None:
            return next((f.why for f in record.unread if f.evidence_digest == digest), None)

        if (stored := self._replay.stored(find, paid=self.paid)) is not None:
            return stored
        if why := self._replay.stored(find_not_judged, paid=self.paid):
            raise NotJudged(why)
        # A run that may spend asks again.
        if self.paid and not self._replay.may_spend and (why := self._replay.stored(find_fault, paid=False)):
            raise JudgeFault(why)
        same_judge = next((record for record in self._replay.records if record.judge == self.identity), None)
        if same_judge is None:
            what = self._replay.why_unknown("judge", self.identity)
        else:
            before = same_judge.dialogue
            difference = first_difference(before.messages, dialogue.messages)
            apart = state_difference(before.state, dialogue.state)
            what = str(difference or apart or f"no verdict on {dimension.short} for this dialogue")
        self._replay.admit(paid=self.paid, what=what)
        if (decide := getattr(self._judge, "decide", None)) is None:
            return self._judge.verdict(scenario, dialogue, dimension)
        # A judge with several votes, each of which costs money.
        cast = self._replay.votes_on(digest, dimension)
        verdict: Verdict = decide(
            scenario, dialogue, dimension, cast, lambda vote: self._replay.vote(digest, vote)
        )
        return verdict


class ReplayAssistant:
    """A model as the assistant that repeats its stored replies while the transcript equals the record's.

    Only an assistant of this package is replayed: a run exists to find out what the one under test says now.
    """

    def __init__(
        self, assistant: ModelAssistant | OfficialAssistant, replay: Replay, session: str = ""
    ) -> None:
        self.identity, self.paid = assistant.identity, assistant.paid
        self._assistant, self._replay, self._session = assistant, replay, session

    def __call__(self, messages: AssistantMessages) -> object:
        """Return the stored reply if all that the assistant saw is equal, else its reply."""

        def find(record: Record) -> Message | None:
            same = record.assistant == self.identity
            return _stored_reply(record.dialogue, messages, self._session) if same else None

        if (stored := self._replay.stored(find, paid=self.paid)) is not None:
            return stored.said.returned()
        self._replay.admit(paid=self.paid, what=f"the assistant's turn {len(messages)} is not in it")
        return self._assistant(messages)


class ResumedAssistant:
    """The assistant under test, asked only for what it did not say in the run that was broken off."""

    def __init__(
        self,
        assistant: Callable[[AssistantMessages], object],
        replay: Replay,
        broken_off: Record | None,
        session: str = "",
    ) -> None:
        self._assistant, self._replay, self._broken_off = assistant, replay, broken_off
        self._session = session

    def __call__(self, messages: AssistantMessages) -> object:
        """Return the reply from that run if the transcript is equal, else the assistant's."""
        stored = (
            _stored_reply(self._broken_off.dialogue, messages, self._session)
            if self._broken_off is not None
            else None
        )
        if stored is not None:
            return stored.returned()
        self._replay.news = True
        return self._assistant(messages)


def _stored_reply(dialogue: Dialogue, messages: AssistantMessages, session: str) -> Message | None:
    said = spoken_turns(messages)
    stored, position = [m for m in dialogue.messages if m.session == session], len(said)
    same = len(stored) > position and all(
        (m.role, m.content) == turn for m, turn in zip(stored, said, strict=False)
    )
    return stored[position] if same else None
