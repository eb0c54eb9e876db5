"""A language model that foretells: one call an item."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.models import Model, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models.meter import Meter

_ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "sentiment": {"type": "string", "enum": ["positive", "negative"]},
    "impact": {"type": "number"},
    "next-text": {"type": "string"},
}
#: The parameters of the official scripts: temperature, and the limit of tokens (for Claude, if it differs).
_OFFICIAL: Final = {"sentiment": (0.0, 10, 10), "impact": (0.0, 25, 7), "next-text": (0.7, 256, 256)}


class ModelPredictor:
    """An assistant that answers a request with one call.

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

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return the answer, as text or as a JSON object.

        Raise `AssistantFault` if the model gives none.
        """
        request = Request(self._known, messages[-1]["content"])
        if self._official:
            temperature, most, of_claude = _OFFICIAL[self._kind]
            most = of_claude if "claude" in self._model.name.lower() else most
            request = request._replace(temperature=temperature, max_tokens=most)
        else:
            request = request._replace(answer=_schema(self._kind))
        completion = self._meter.complete(self._model, request, "assistant", fault=AssistantFault)
        return (
            completion.text
            if completion.data is None
            else json.dumps(dict(completion.data), ensure_ascii=False)
        )


def _schema(kind: str) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {"answer": _ANSWERS[kind]},
        "required": ["answer"],
        "additionalProperties": False,
    }
