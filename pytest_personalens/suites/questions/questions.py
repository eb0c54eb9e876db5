"""Questions with their past, rows without it, and who asks and judges them without a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, get_args

from pydantic import Field

from pytest_personalens.agents.embedded.reader.text import fold, mentions, sentences, stems
from pytest_personalens.agents.embedded.reader.typed_values import NUMBER_WORD, number
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.frozen import Frozen, Text
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.measure import Measure, MeasureNames
from pytest_personalens.core.judging.verdict import Evidence, Verdict
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import BaseScenario, Context
from pytest_personalens.datasets.dataset import digest
from pytest_personalens.suites.admitted_unknown import admits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message

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


#: The most words of a right answer whose value is looked for.
_SHORT: Final = 5
#: A sentence with one of these may name a value that is not its answer, such as the one before.
_NOT_NOW: Final = re.compile(
    r"\b(?:not|never|no longer|any ?more|\w+n't|instead of|rather than|used to|before|earlier|formerly"
    r"|previously|once|until|from|old|first|changed|switched|swapped|moved|gave up|stopped|refused|dropped"
    r"|was|were|had)\b"
)


class Asker:
    """Asks the question of an item, and is then done."""

    identity, paid = "questions 1", False

    def turn(self, scenario: Question, transcript: Sequence[Message]) -> UserTurn:
        return UserTurn(scenario.asks, done=True)


class ChoiceReader:
    """The part of a judge that reads which option a reply names; a reply that names none is wrong."""

    def answer(self, scenario: Question, dialogue: Dialogue) -> Answer:
        """Return the letter that was read, beside the right one; any other reply counts as read."""
        if scenario.kind != "choice":
            right = scenario.expected.answer
            named = scenario.kind == "answer" and is_short(right) and mentions(right, scenario.asks)
            return Answer(read=True, leaks=("names-answer",) if named else ())
        letter = read_letter(dialogue.messages[-1].content, scenario.expected.options)
        return Answer(read=bool(letter), value=letter or None, truth=scenario.expected.letter)

    def choice(self, scenario: Question, dialogue: Dialogue) -> Verdict:
        read = self.answer(scenario, dialogue)
        why = f"it chooses {read.value}" if read.read else "it names no option, or several"
        return Verdict(dimension=CHOICE, score=int(read.value == read.truth), justification=why)


class EmbeddedJudge(ChoiceReader):
    """Reads a choice by letter or text, and an answer by the values in it.

    It gives no reading of preferences, of rubrics or of answers of more than five words.
    """

    identity, paid = "questions embedded 2", False

    def verdict(self, scenario: Question, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the reading. Raise `JudgeFault` for what only a model can read."""
        if dimension == CHOICE:
            return self.choice(scenario, dialogue)
        expected, reply = scenario.expected, dialogue.messages[-1].content
        abstains, ways = ABSTAIN in scenario.domains, expected.ways or (expected.answer,)
        if (
            dimension == PREF
            or expected.rubric
            or not (abstains or expected.ways or is_short(expected.answer))
        ):
            raise JudgeFault("only a model can read this; name one with --personalens-judge-model")
        right, quote, why = _abstained(reply) if abstains else _answered(reply, ways, expected.wrong)
        evidence = (Evidence.of(len(dialogue.messages) - 1, quote),) if quote else ()
        return Verdict(dimension=dimension, score=int(right), justification=why, evidence=evidence)


def is_short(answer: str) -> bool:
    """True if the value of an answer can be looked for in a reply."""
    return len(stems(answer)) <= _SHORT


def _abstained(reply: str) -> tuple[bool, str, str]:
    said = next((s for s in sentences(reply) if admits(s)), "")
    return bool(said), said, "it says that it does not know" if said else "it answers what nobody told it"


def _answered(reply: str, ways: Sequence[str], wrong: Sequence[str]) -> tuple[bool, str, str]:
    right = other = ""
    for sentence in sentences(reply):
        text = _in_digits(sentence)
        here = any(mentions(_in_digits(way), text) for way in ways)
        right = right or (sentence if here else "")
        if not other and not _NOT_NOW.search(fold(sentence)):
            other = next((sentence for value in wrong if mentions(_in_digits(value), text)), "")
    if other:
        return False, other, "it gives another answer"
    return bool(right), right, "it gives the right answer" if right else "the right answer is not in it"


_NUMBER: Final = re.compile(rf"\b(?:{NUMBER_WORD})\b")


def _in_digits(text: str) -> str:
    return _NUMBER.sub(lambda match: str(number(match[0])), fold(text))
