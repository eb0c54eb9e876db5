"""The judge without a model: reads letters, and looks for the values of a right answer in a reply."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import fold, mentions, sentences, stems
from pytest_personalens.agents.embedded.reader.typed_values import NUMBER_WORD, number
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.verdict import Evidence, Verdict
from pytest_personalens.suites.admitted_unknown import admits
from pytest_personalens.suites.questions.questions import ABSTAIN, CHOICE, PREF, read_letter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.suites.questions.questions import Question

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
