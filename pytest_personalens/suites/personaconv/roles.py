"""The roles of user agent and judge: one asks, and the other scores."""

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

#: Raise this number if the same reply would be read or scored in another way.
_VERSION: Final = 1
_CORRECT: Final = Fraction(1)


class Asker:
    """Sends the request of an item in one setting, and is then done."""

    def __init__(self, setting: Setting, protocol: ProtocolName = "fixed") -> None:
        self.setting = setting
        self.identity = f"personaconv/{protocol} {setting} ({words_of(protocol).digest})"

    def request(self, prediction: Prediction) -> str:
        """Return the only message that the assistant gets.

        Raise KeyError for a setting that was not loaded.
        """
        return prediction.requests[self.setting].text


class Scored(NamedTuple):
    """The answer in a reply, and its values by measure.

    There are no values if nothing was read, except for a class.
    """

    answer: Answer
    values: dict[str, Fraction]


class Scorer:
    """Returns the values of a reply, each on the grid of its measure.

    The steps are 1 for classes, 0.001 for texts and 0.01 for log errors. `texts` makes the scorer of texts
    when the first text is scored.
    """

    def __init__(self, texts: Callable[[], TextScorer], protocol: ProtocolName = "fixed") -> None:
        self._make, self._protocol = texts, protocol

    def identity(self, kind: Kind) -> str:
        """Return everything that the values of a kind depend on, except the reply.

        If it changes, replies are scored again.
        """
        named = f"personaconv-scorer/{_VERSION} {self._protocol} {kind}"
        return f"{named}, {self._texts.identity}" if kind == "next-text" else named

    def measures(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the measures of a kind.

        The first one is used to compare two runs.
        """
        if kind == "next-text":
            return self._texts.measures
        return ("correct",) if kind == "sentiment" else ("log-error",)

    def score(self, prediction: Prediction, reply: object) -> Scored:
        """Return the values of a reply.

        A class that cannot be read is wrong. Any other unreadable answer has no values.
        """
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
    """Return each value as the nearest multiple of its measure's step.

    Exact tests count in steps.
    """
    steps = {name: Fraction(str(FIGURES[name].step)) for name in values}
    return {name: round(Fraction(value) / steps[name]) * steps[name] for name, value in values.items()}
