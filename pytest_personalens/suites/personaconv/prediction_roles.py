"""Who asks, answers and scores in a prediction."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.safe_text import count
from pytest_personalens.models import Model, Request
from pytest_personalens.suites.personaconv.metrics import MEASURES, OTHER, log_error, read_answer
from pytest_personalens.suites.personaconv.predictions import digest_of, template_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.measure import Exact, Measure
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.suites.personaconv.metrics import Reading
    from pytest_personalens.suites.personaconv.predictions import Prediction
    from pytest_personalens.suites.personaconv.texts import TextScorer

#: Raise this number if the same reply would be read or scored in another way.
_VERSION: Final = 1
_TEXTS: Final = ", texts/"
_MEASURES: Final = {measure.value: measure for measure in MEASURES}
_ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "sentiment": {"type": "string", "enum": ["positive", "negative"]},
    "impact": {"type": "number"},
    "next-text": {"type": "string"},
}
#: The parameters of the official scripts: temperature, and the limit of tokens (for Claude, if it differs).
_OFFICIAL: Final = {"sentiment": (0.0, 10, 10), "impact": (0.0, 25, 7), "next-text": (0.7, 256, 256)}


class Asker:
    """Sends the request of an item, and is then done."""

    paid = False

    def __init__(self, protocol: str = "fixed") -> None:
        self.identity = f"personaconv/{protocol} ({template_of(protocol).digest})"

    def turn(self, scenario: Prediction, transcript: Sequence[Message]) -> UserTurn:
        """Return the only message that the assistant gets."""
        return UserTurn(scenario.single_request.text, done=True)


class Scorer:
    """Returns the values of a reply, each on the grid of its measure.

    `texts` makes the scorer of texts; it is called for items of the kind next-text alone. `identity` names
    everything that the values of a `kind` depend on, except the reply. If it changes, replies are scored
    again.
    """

    paid = False

    def __init__(self, texts: Callable[[], TextScorer], protocol: str = "fixed", kind: str = "") -> None:
        self._texts, self._protocol = texts, protocol
        self.identity = f"personaconv-scorer/{_VERSION} {protocol}"
        if kind == "next-text":
            self.identity += f", {texts().identity}"
        self._last: tuple[tuple[str, str], tuple[Reading, dict[str, Exact]]] | None = None

    def answer(self, scenario: Prediction, dialogue: Dialogue) -> Answer:
        """Return what was answered, with the truth and the leaks of the request.

        A class that cannot be read has the value that it counts as: the wrong class. In the protocol
        ``official`` it does not count. Nothing is scored here: a record may have the verdicts.
        """
        read = read_answer(dialogue.messages[-1].content, scenario.kind, self._protocol)
        truth, value = scenario.truth, read.value
        if scenario.kind == "next-text":
            truth, value = digest_of(truth), None if value is None else digest_of(value)
        elif value is None and self._counts_unread(scenario):
            value = OTHER[str(truth)]
        return Answer(read=read.read, value=value, truth=truth, leaks=scenario.single_request.leaks)

    def verdict(self, scenario: Prediction, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the score on one measure. Raise `AssistantFault` for an answer that has no score."""
        reply = dialogue.messages[-1].content
        key = (scenario.id, reply)
        if self._last is None or self._last[0] != key:  # scored once for all measures
            self._last = key, self.score(scenario, reply)
        answer, values = self._last[1]
        if dimension.value not in values:
            raise AssistantFault(answer.reason)
        why = answer.reason  # without any text of the data
        if not why and scenario.kind == "next-text":
            why = f"read as a text of {count(len(str(answer.value).split()), 'word')}"
        elif not why:
            why = f"read as {answer.value if isinstance(answer.value, str) else f'{answer.value:g}'}"
        return Verdict(dimension=dimension, score=float(values[dimension.value]), justification=why)

    def score(self, prediction: Prediction, reply: object) -> tuple[Reading, dict[str, Exact]]:
        """Return the answer in a reply, and its values by measure.

        An answer that cannot be read has none, except as a wrong class in ``fixed``.
        """
        answer, truth = read_answer(reply, prediction.kind, self._protocol), prediction.truth
        if answer.value is None and not self._counts_unread(prediction):
            return answer, {}
        if prediction.kind == "sentiment":
            return answer, {"correct": Fraction(answer.value == truth)}
        if prediction.kind == "impact":
            values = {"log-error": log_error(float(truth), float(answer.value or 0))}
        else:
            values = self._texts().values(str(truth), str(answer.value))
        # Exact tests count in steps of the measure.
        return answer, {name: _MEASURES[name].exact(value) for name, value in values.items()}

    def _counts_unread(self, prediction: Prediction) -> bool:
        return prediction.kind == "sentiment" and self._protocol == "fixed"


def run_identity(identity: str) -> str:
    """Return the part of a scorer's identity that all kinds share."""
    return identity.partition(_TEXTS)[0]


class ModelPredictor:
    """An assistant that answers a request with one call of a language model.

    In the protocol ``fixed``, a model that offers it is bound to a JSON schema of the answer. In ``official``
    it has the parameters of the official scripts, and writes plain text. There is no system text, except the
    user's past where the context holds it.
    """

    def __init__(
        self, model: Model, meter: Meter, context: Context, *, kind: str, official: bool = False
    ) -> None:
        self._model, self._meter, self._official = model, meter, official
        self._kind, self._known = kind or "sentiment", context.text()
        digest = hashlib.sha256(self._known.encode()).hexdigest()[:8] if self._known else "no context"
        self.identity = f"{model.name} personaconv {'official' if official else 'fixed'} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the answer as text or as a JSON object. Raise `AssistantFault` if the model gives none."""
        request = Request(self._known, messages[-1]["content"])
        if self._official:
            temperature, most, of_claude = _OFFICIAL[self._kind]
            most = of_claude if "claude" in self._model.name.lower() else most
            request = request._replace(temperature=temperature, max_tokens=most)
        else:
            schema = {
                "type": "object",
                "properties": {"answer": _ANSWERS[self._kind]},
                "required": ["answer"],
                "additionalProperties": False,
            }
            request = request._replace(answer=schema)
        answer = self._meter.complete(self._model, request, "assistant", fault=AssistantFault, partial=True)
        if answer.is_empty:
            raise AssistantFault(f"{self._model.name}: {answer.problem}")
        reply = answer.text if answer.data is None else json.dumps(answer.data, ensure_ascii=False)
        # The limits of the official scripts cut most texts, which is how those are meant.
        return Cut(reply, answer.cut) if answer.cut and not self._official else reply
