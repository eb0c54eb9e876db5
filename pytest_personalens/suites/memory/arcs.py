"""The values of the suite: an arc of several sessions with one user, and what its last session tests."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, ClassVar, Final, Literal, get_args

from pydantic import Field, field_validator

from pytest_personalens.core.facts import Day, StoredValue, StoreLook
from pytest_personalens.core.frozen import Frozen, Text
from pytest_personalens.core.judging.measure import Dimension
from pytest_personalens.core.scenario import (
    BaseScenario,
    Context,
    DomainWords,
    GoalPart,
    PreferenceWords,
    Scenario,
    Task,
)
from pytest_personalens.suites.memory.words import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What an arc tests. recall: told once, needed later. revise: the old value is wrong now. forget: must not be
#: used or told again. whose: somebody else's, not the user's. apart: another user's. restraint: a question
#: that memory has no part in. belief: a false belief of the user, by which the reply must not go. audience:
#: told in private, and not to be said before others. abstain: never said, so not to be invented.
Kind = Literal["recall", "revise", "forget", "whose", "apart", "restraint", "belief", "audience", "abstain"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: The kinds whose last session may be a task.
WITH_TASK: Final[tuple[Kind, ...]] = ("recall", "revise", "whose")
#: The most rounds of a user about a task, after the written messages.
_ROUNDS: Final = 8
_INTENT: Final = "You want to "
_TO_BE_TOLD: Final = ("know", "learn")


class ArcSession(Frozen):
    """What one person says on one day, message by message; in a file, without a `person` it is the arc's."""

    person: str = ""
    date: Day
    says: tuple[Text, ...] = Field(min_length=1)

    def id_for(self, user: str) -> str:
        """Return the name of the session in an arc of `user`: its day, and whose it is if not the user's."""
        return self.date if self.person == user else f"{self.date} {self.person}"


class ArcTask(Frozen):
    """The task of a last session, for the agents of the first suite.

    `intent` is a sentence that begins with "You want to". `preference` names what the right value is, and
    `ask` has the words with which an assistant asks for it.
    """

    intent: Text
    preference: Text
    ask: tuple[Text, ...] = ()

    @field_validator("intent")
    @classmethod
    def _is_wish(cls, intent: str) -> str:
        if not intent.startswith(_INTENT):
            raise ValueError(f"expected a sentence that begins with {_INTENT!r}, not {intent!r}")
        return intent


class Arc(BaseScenario):
    """An arc of one user: sessions in order of date, of which the last holds the test.

    In the last session, the assistant must say all values in `right` and none in `wrong`. With a
    `last_task`, the user goes on until it is done, and P is read, too.
    """

    suite: ClassVar[str] = "memory"

    kind: Kind
    task: str
    sessions: tuple[ArcSession, ...] = Field(min_length=1)
    right: tuple[Value, ...] = ()
    wrong: tuple[Value, ...] = ()
    last_task: ArcTask | None = None

    @property
    def task_id(self) -> str:
        """Return the kind with the name of the arc."""
        return self.task

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Return the messages of the users, each as (session, text)."""
        return [(s.id_for(self.user), text) for s in self.sessions for text in s.says]

    @property
    def last_session(self) -> str:
        """Return the name of the session with the test."""
        return self.sessions[-1].id_for(self.user)

    @property
    def rounds(self) -> int:
        """Return the number of written messages, and with a task that of a dialogue about it."""
        return len(self.turns) + (_ROUNDS if self.last_task is not None else 0)

    @property
    def wish(self) -> str:
        """Return what the user says in the last session."""
        return " ".join(self.sessions[-1].says)

    @property
    def told(self) -> str:
        """Return what the users say before the last session."""
        return " ".join(text for session in self.sessions[:-1] for text in session.says)

    @property
    def days(self) -> str:
        """Return the days of the sessions in words: ``Friday 6 March 2026``."""
        return " ".join(f"{_day(session):%A {_day(session).day} %B %Y}" for session in self.sessions)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return the kind, and the values that must be and must not be said."""
        right, wrong = ("; ".join(map(str, values)) for values in (self.right, self.wrong))
        told = (("kind", self.kind), ("right", right), ("wrong", wrong))
        return tuple((word, text) for word, text in told if text)

    def is_read_on(self, measure: str) -> bool:
        """True for P only if the last session has a task."""
        return self.last_task is not None or measure != Dimension.PERSONALIZATION

    def last_scenario(self, *, all_ways: bool = False) -> Scenario:
        """Return the last session as a scenario of the first suite; it needs a task.

        The right values are the user's preference, and what the user said before sums up the past. A user
        says a value in its first way only, and a judge reads it in `all_ways`.
        """
        assert self.last_task is not None, "only an arc with a task"
        # A replay needs no turn, and this import would slow it down.
        from pytest_personalens.agents.embedded.user.voice import first_person

        (domain,), name = self.domains, self.last_task.preference
        goal = self.last_task.intent.removeprefix(_INTENT).rstrip(".")
        part = GoalPart(
            text=goal, kind="told" if goal.startswith(_TO_BE_TOLD) else "done", ask=first_person(goal)
        )
        values = tuple(way for value in self.right for way in value.ways[: None if all_ways else 1])
        known = PreferenceWords(ask=self.last_task.ask, values=(*values, *map(str, self.wrong)))
        return Scenario(
            id=self.id,
            user=self.user,
            name=self.name,
            dataset=self.dataset,
            kind="single",
            domains=self.domains,
            demographics={},
            preferences={domain: {name: values}},
            summaries={domain: self.told},
            task=Task(
                id=self.task,
                description=self.wish,
                intent=self.last_task.intent,
                goal=goal,
                relevant=((domain, name),),
                parts=(part,),
            ),
            words={domain: DomainWords(types={name: known})},
        )

    def in_session(self, context: Context, session: str) -> Context:
        """Return the context of a session, whose conversation has an id of its own."""
        date, _, person = session.partition(" ")
        return context.model_copy(
            update={
                "user": f"{context.user}+{person}" if person else context.user,
                "dialogue": f"{context.dialogue}-{session.replace(' ', '-')}",
                "session": session,
                "date": date,
            }
        )

    def questions_to_store(self, session: str) -> tuple[str, ...]:
        """Return the messages of the last session, before it."""
        return self.sessions[-1].says if session == self.last_session else ()

    def look_into_store(self, entries: Sequence[str] | None, found: Sequence[str] | None) -> StoreLook:
        """Return in how many entries each value of the test is, and if it is found."""
        # A run without a store needs no words.
        from pytest_personalens.suites.memory.words import first_way

        def holding(texts: Sequence[str], *values: Value) -> int:
            return sum(any(first_way(value, text) for value in values) for text in texts)

        return StoreLook(
            entries=None if entries is None else len(entries),
            residue=None if entries is None or self.kind != "forget" else holding(entries, *self.wrong),
            values=tuple(
                StoredValue(
                    value=str(value),
                    entries=None if entries is None else holding(entries, value),
                    found=None if found is None else holding(found, value) > 0,
                )
                for value in (*self.right, *self.wrong)
            ),
        )

    def alone(self) -> Arc:
        """Return the arc without the sessions before the last."""
        return self.model_copy(update={"sessions": self.sessions[-1:]})

    def after(self, other: Arc) -> Arc:
        """Return the last session after the earlier ones of another arc, as if this user had said them."""
        shift = _day(self.sessions[-1]) - _day(other.sessions[-1])
        people = {other.user: self.user, self.user: other.user}
        earlier = tuple(
            session.model_copy(
                update={
                    "person": people.get(session.person, session.person),
                    "date": (_day(session) + shift).isoformat(),
                }
            )
            for session in other.sessions[:-1]
        )
        return self.model_copy(update={"sessions": (*earlier, self.sessions[-1])})


def _day(session: ArcSession) -> dt.date:
    return dt.date.fromisoformat(session.date)
