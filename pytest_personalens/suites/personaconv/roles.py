"""Who stands in the places of the user agent and of the judge: what asks, and what scores."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.suites.personaconv.figures import log_error
from pytest_personalens.suites.personaconv.measures import FIGURES
from pytest_personalens.suites.personaconv.reading import read_answer
from pytest_personalens.suites.personaconv.templates import words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.suites.personaconv.reading import Answer
    from pytest_personalens.suites.personaconv.texts import TextScorer
    from pytest_personalens.suites.personaconv.values import Kind, Prediction, ProtocolName, Setting

#: To be raised when the same reply would be read or scored otherwise.
_VERSION: Final = 1
_CORRECT: Final = Fraction(1)


class Asker:
    """Says the request of an item in one setting, and is done."""

    def __init__(self, setting: Setting, protocol: ProtocolName = "fixed") -> None:
        self.setting = setting
        self.identity = f"personaconv/{protocol} {setting} ({words_of(protocol).digest})"

    def request(self, prediction: Prediction) -> str:
        """The one message that the assistant is sent. Raises KeyError for a setting that was not loaded."""
        return prediction.requests[self.setting].text


class Scored(NamedTuple):
    """What was read in a reply, and its values by measure; none where nothing was read but a class."""

    answer: Answer
    values: dict[str, Fraction]


class Scorer:
    """Gives the values of a reply, each on the grid of its measure: 1, 0.001 for texts, 0.01 for log errors.

    `texts` makes the scorer of texts when the first one is scored.
    """

    def __init__(self, texts: Callable[[], TextScorer], protocol: ProtocolName = "fixed") -> None:
        self._make, self._protocol = texts, protocol

    def identity(self, kind: Kind) -> str:
        """All that the values of a kind depend on beside the reply: one that has changed scores it anew."""
        named = f"personaconv-scorer/{_VERSION} {self._protocol} {kind}"
        return f"{named}, {self._texts.identity}" if kind == "next-text" else named

    def measures(self, kind: Kind) -> tuple[str, ...]:
        """The names of the measures of a kind, the one that two runs are compared by first."""
        if kind == "next-text":
            return self._texts.measures
        return ("correct",) if kind == "sentiment" else ("log-error",)

    def score(self, prediction: Prediction, reply: object) -> Scored:
        """The values of a reply. A class that cannot be read is wrong; what else cannot has no values."""
        answer, truth = read_answer(reply, prediction.kind, self._protocol), prediction.truth
        if prediction.kind == "sentiment":
            return Scored(answer, {"correct": _CORRECT * (answer.value == truth)})
        if answer.value is None:
            return Scored(answer, {})
        if prediction.kind == "impact":
            return Scored(answer, _on_grid({"log-error": log_error(float(truth), float(answer.value))}))
        return Scored(answer, _on_grid(self._texts.values(str(truth), str(answer.value))))

    @cached_property
    def _texts(self) -> TextScorer:
        return self._make()


def _on_grid(values: dict[str, float]) -> dict[str, Fraction]:
    """Each value as the nearest whole number of its measure's steps: exact tests count in steps."""
    steps = {name: Fraction(str(FIGURES[name].step)) for name in values}
    return {name: round(Fraction(value) / steps[name]) * steps[name] for name, value in values.items()}
