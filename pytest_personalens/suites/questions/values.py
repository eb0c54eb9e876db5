"""The values of the suite: a question with its history and its right answer, and what is measured."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, get_args

from pydantic import Field

from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.frozen import Frozen, Text
from pytest_personalens.core.judging.measure import Measure, MeasureNames
from pytest_personalens.core.scenario import BaseScenario, Context

#: How a reply is read: by the letter of an option, against the right answer, or for a stated preference.
Kind = Literal["choice", "answer", "pref"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def _measure(kind: Kind, title: str, mean: str) -> Measure:
    return Measure(kind, MeasureNames(kind, title, mean, kind, kind, kind, kind), kinds=(kind,))


CHOICE: Final = _measure("choice", "Right choice", "share of right choices")
ANSWER: Final = _measure("answer", "Right answer", "share of right answers")
PREF: Final = _measure("pref", "Preference followed", "share of replies that follow the preference")
MEASURES: Final = (CHOICE, ANSWER, PREF)
#: The domain of questions whose answer was never said.
ABSTAIN: Final = "abstain"


class Expected(Frozen):
    """What a reply is held against, which no assistant is shown.

    `answer` is the right answer, a rubric or the stated preference. `ways` are the texts of which one must
    appear, and `wrong` those that must not be given as the answer; only questions of ours have them.
    `options` are in the order in which the user names them, and `letter` is that of the right one.
    """

    answer: Text = ""
    rubric: bool = False
    ways: tuple[Text, ...] = ()
    wrong: tuple[Text, ...] = ()
    options: tuple[Text, ...] = ()
    letter: str = ""


class Question(BaseScenario):
    """One question of a user, with the conversations before it.

    `asks` is all that the user says. `profile` is what the dataset tells an assistant of the user beside the
    `sessions`. `item` is the question's name in its file; it may tell the answer, so no id holds it.
    `distance` says how long before the question its answer was last said, in a unit of the dataset.
    """

    suite: ClassVar[str] = "questions"
    takes_answers: ClassVar[bool] = True
    undigested: ClassVar[set[str]] = {"dataset", "distance"}

    kind: Kind
    task: str
    item: Text
    asks: Text
    sessions: tuple[Session, ...] = ()
    profile: Text = ""
    now: Clock | None = None
    expected: Expected
    distance: int | None = None
    shipped: bool = Field(default=False, description="True if the texts are ours, so that records hold them.")

    @property
    def task_id(self) -> str:
        return self.task

    @property
    def unrecorded(self) -> tuple[str, ...]:
        return () if self.shipped else (self.asks.strip(),)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The question's name in its file, its type and its right answer."""
        right = (
            f"{self.expected.letter}) {self.expected.answer}"
            if self.kind == "choice"
            else self.expected.answer
        )
        return (("item", self.item), ("type", ", ".join(self.domains)), ("right", right))

    def in_results(self) -> Question:
        """Return the question; a history of others is left out, because it may have half a megabyte."""
        return self if self.shipped else self.model_copy(update={"sessions": ()})

    def context(self, given: str) -> Context:
        """Return what the assistant may know: the history for ``H``, and the day of the question always."""
        if given != "H":
            return Context(user=self.user, now=self.now)
        about = {"profile": self.profile} if self.profile else {}
        return Context(user=self.user, demographics=about, sessions=self.sessions, now=self.now)
