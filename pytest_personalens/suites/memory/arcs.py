"""The values of the suite: an arc of several sessions with one user, and what its last session tests."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Final, Literal, get_args

from pydantic import Field, model_validator

from pytest_personalens.core.facts import Day
from pytest_personalens.core.frozen import Frozen, Text
from pytest_personalens.core.scenario import BaseScenario, Context

#: What an arc tests. recall: told once, needed later. revise: the old value is wrong now. forget: must not be
#: used or told again. whose: somebody else's, not the user's. apart: another user's. restraint: a question
#: that memory has no part in. abstain: never said, so not to be invented.
Kind = Literal["recall", "revise", "forget", "whose", "apart", "restraint", "abstain"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: Between the ways to write a value.
_OR: Final = "|"


class Value(Frozen):
    """A value in all the ways in which it may be written; a file has ``oat milk | oatmilk``."""

    ways: tuple[Text, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        ways = tuple(way.strip() for way in data.split(_OR))
        if not all(ways):
            raise ValueError(f"expected a value, such as 'oat milk {_OR} oatmilk', not {data!r}")
        return {"ways": ways}

    def __str__(self) -> str:
        return self.ways[0]


class ArcSession(Frozen):
    """What one person says on one day, message by message."""

    person: str
    date: Day
    says: tuple[Text, ...] = Field(min_length=1)

    def id_for(self, user: str) -> str:
        """Return the name of the session in an arc of `user`: its day, and whose it is if not the user's."""
        return self.date if self.person == user else f"{self.date} {self.person}"


class Arc(BaseScenario):
    """An arc of one user: sessions in order of date, of which the last holds the test.

    In the last session, the assistant must say all values in `right` and none in `wrong`.
    """

    suite: ClassVar[str] = "memory"

    kind: Kind
    task: str
    sessions: tuple[ArcSession, ...] = Field(min_length=1)
    right: tuple[Value, ...] = ()
    wrong: tuple[Value, ...] = ()

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
        """Return the number of messages: an arc never ends before its test."""
        return len(self.turns)

    @property
    def wish(self) -> str:
        """Return what the user says in the last session."""
        return " ".join(self.sessions[-1].says)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return the kind, and the values that must be and must not be said."""
        right, wrong = ("; ".join(map(str, values)) for values in (self.right, self.wrong))
        told = (("kind", self.kind), ("right", right), ("wrong", wrong))
        return tuple((word, text) for word, text in told if text)

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
