"""The values of the suite: questions with their past, rows without it, and choices of an answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, get_args

from pydantic import Field

from pytest_personalens.agents.embedded.reader.text import stems
from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.frozen import Frozen, Text
from pytest_personalens.core.judging.measure import Measure, MeasureNames
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import BaseScenario, Context
from pytest_personalens.datasets.dataset import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

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


_OF_ROW: Final = ("user", "task", "kind", "domains", "item", "distance")


class Row(NamedTuple):
    """One question of a dataset without its history; `place` is where its reader finds it.

    `reason` says why it gives no item, if it gives none. `needs_model` is true if no value of its right
    answer can be looked for.
    """

    user: str
    task: str
    kind: Kind
    domains: tuple[str, ...]
    place: Any
    item: str
    reason: str = ""
    needs_model: bool = False
    distance: int | None = None

    def question(self, dataset: str, **fields: Any) -> Question:
        """Return the whole question; `fields` are those that a row does not have."""
        id_ = slug(f"{self.task}-{self.user}")
        own = {"id": id_, "dataset": dataset, **{name: getattr(self, name) for name in _OF_ROW}}
        return Question(**own, **fields)


_LETTERS: Final = "ABCDEFGHIJ"
#: Where a reply names a letter, the plainest form first. An "A" that begins a sentence is a word.
_NAMED: Final = (
    re.compile(r"^\W*([A-Ja-j])\W*$"),
    re.compile(r"\\boxed\{\W*([A-J])\W*\}"),
    re.compile(
        r"(?i:\b(?:answer|option|choice|letter|choose|pick|select|go with))\b(?i:\W+(?:is|would be|option))?"
        r"[\W_]*\b([A-J])\b(?!\s[a-z])"
    ),
    re.compile(r"\b([A-J])(?=\s*[):]|\*\*|\.\s|\.?\s*$)"),
)  # fmt: skip


def offer(question: str, options: Sequence[str], key: str) -> tuple[str, Expected]:
    """Return the user's whole request, and what is right: the first of the `options`.

    Their order is that of a digest of `key` and the option, the same in every process.
    """
    order = sorted(options, key=lambda option: digest(key, option))
    lines = [f"{letter}) {option}" for letter, option in zip(_LETTERS, order, strict=False)]
    asks = "\n".join([question, "", "Which of these is right for me? Reply with one letter.", *lines])
    right = _LETTERS[order.index(options[0])]
    return asks, Expected(answer=options[0], options=tuple(order), letter=right)


def read_letter(reply: str, options: Sequence[str]) -> str:
    """Return the letter of the one option that a reply names, by letter or by its text; else nothing."""
    letters = _LETTERS[: len(options)]
    for pattern in _NAMED:
        named = {letter.upper() for letter in pattern.findall(reply)} & set(letters)
        if named:
            return named.pop() if len(named) == 1 else ""
    said = f" {' '.join(stems(reply))} "
    texts = [
        letter
        for letter, option in zip(letters, options, strict=True)
        if f" {' '.join(stems(option))} " in said
    ]
    return texts[0] if len(texts) == 1 else ""
