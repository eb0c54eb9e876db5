"""The roles of user agent and judge: one asks, and the other scores."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.core.judging.evaluation import Answer
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.results.wording import count
from pytest_personalens.suites.personaconv.protocols.templates import words_of
from pytest_personalens.suites.personaconv.scoring.figures import OTHER, log_error
from pytest_personalens.suites.personaconv.scoring.measures import FIGURES
from pytest_personalens.suites.personaconv.scoring.reading import read_answer
from pytest_personalens.suites.personaconv.values import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.suites.personaconv.scoring.reading import Reading
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer
    from pytest_personalens.suites.personaconv.values import Prediction, ProtocolName

#: Raise this number if the same reply would be read or scored in another way.
_VERSION: Final = 1
_CORRECT: Final = Fraction(1)
_TEXTS: Final = ", texts/"


class Asker:
    """Sends the request of an item, and is then done."""

    paid = False

    def __init__(self, protocol: ProtocolName = "fixed") -> None:
        self.identity = f"personaconv/{protocol} ({words_of(protocol).digest})"

    def turn(self, scenario: Prediction, transcript: Sequence[Message]) -> UserTurn:
        """Return the only message that the assistant gets."""
        return UserTurn(scenario.asked.text, done=True)


class Scored(NamedTuple):
    """The answer in a reply, and its values by measure.

    There are no values if nothing was read, except for a class.
    """

    answer: Reading
    values: dict[str, Fraction]


class Scorer:
    """Returns the values of a reply, each on the grid of its measure.

    The steps are 1 for classes, 0.001 for texts and 0.01 for log errors. `texts` makes the scorer of texts;
    it is called for items of the kind next-text alone.

    `identity` names everything that the values of a `kind` depend on, except the reply. If it changes,
    replies are scored again.
    """

    paid = False

    def __init__(
        self, texts: Callable[[], TextScorer], protocol: ProtocolName = "fixed", kind: str = ""
    ) -> None:
        self._texts, self._protocol = texts, protocol
        self.identity = f"personaconv-scorer/{_VERSION} {protocol}"
        if kind == "next-text":
            self.identity += f", {texts().identity}"
        self._last: tuple[tuple[str, str], Scored] | None = None

    def answer(self, scenario: Prediction, dialogue: Dialogue) -> Answer:
        """Return what was answered, with the truth and the leaks of the request.

        A class that cannot be read has the value that it counts as: the wrong class. In the protocol
        ``official`` it does not count. Nothing is scored here: a record may have the verdicts.
        """
        read = read_answer(dialogue.messages[-1].content, scenario.kind, self._protocol)
        truth = scenario.truth
        value: str | float | None = read.value
        if scenario.kind == "next-text":
            truth, value = digest_of(truth), None if value is None else digest_of(value)
        elif value is None and scenario.kind == "sentiment" and self._protocol == "fixed":
            value = OTHER[str(truth)]
        return Answer(read=read.read, value=value, truth=truth, leaks=scenario.asked.leaks)

    def verdict(self, scenario: Prediction, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the score of a reply on one measure.

        Raise `AssistantFault` for an answer that cannot be read and has no score.
        """
        answer, values = self._scored(scenario, dialogue)
        if dimension.value not in values:
            raise AssistantFault(answer.reason)
        why = answer.reason or _sentence(scenario, answer)
        return Verdict(dimension=dimension, score=float(values[dimension.value]), justification=why)

    def score(self, prediction: Prediction, reply: object) -> Scored:
        """Return the values of a reply.

        A class that cannot be read is wrong in the protocol ``fixed``. Any other unreadable answer has no
        values.
        """
        answer, truth = read_answer(reply, prediction.kind, self._protocol), prediction.truth
        if answer.value is None and not (prediction.kind == "sentiment" and self._protocol == "fixed"):
            return Scored(answer, {})
        if prediction.kind == "sentiment":
            return Scored(answer, {"correct": _CORRECT * (answer.value == truth)})
        if prediction.kind == "impact":
            return Scored(answer, _on_grid({"log-error": log_error(float(truth), float(answer.value or 0))}))
        return Scored(answer, _on_grid(self._texts().values(str(truth), str(answer.value))))

    def _scored(self, scenario: Prediction, dialogue: Dialogue) -> Scored:
        """Return the values of the last message, scored once for all measures."""
        reply = dialogue.messages[-1].content
        key = (scenario.id, reply)
        if self._last is None or self._last[0] != key:
            self._last = key, self.score(scenario, reply)
        return self._last[1]


def of_run(identity: str) -> str:
    """Return the part of a scorer's identity that all kinds share."""
    return identity.partition(_TEXTS)[0]


def _sentence(scenario: Prediction, answer: Reading) -> str:
    """Return what was read, without any text of the data."""
    if scenario.kind == "next-text":
        return f"read as a text of {count(len(str(answer.value).split()), 'word')}"
    return f"read as {answer.value if isinstance(answer.value, str) else f'{answer.value:g}'}"


def _on_grid(values: dict[str, float]) -> dict[str, Fraction]:
    """Return each value as the nearest multiple of its measure's step.

    Exact tests count in steps.
    """
    steps = {name: Fraction(str(FIGURES[name].step)) for name in values}
    return {name: round(Fraction(value) / steps[name]) * steps[name] for name, value in values.items()}
