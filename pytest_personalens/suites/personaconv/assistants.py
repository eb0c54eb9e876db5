"""The assistants that a run of the suite may have in place of the user's: a model, or stored outputs."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault, DataError
from pytest_personalens.core.files.json_lines import read_json_lines
from pytest_personalens.core.files.json_stream import read_object
from pytest_personalens.models import Model, Request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models.meter import Meter

_ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "sentiment": {"type": "string", "enum": ["positive", "negative"]},
    "impact": {"type": "number"},
    "next-text": {"type": "string"},
}
#: The parameters of the official scripts: temperature, and the limit of tokens (for Claude, if it differs).
_OFFICIAL: Final = {"sentiment": (0.0, 10, 10), "impact": (0.0, 25, 7), "next-text": (0.7, 256, 256)}
#: The beginning of a value of --personalens-assistant that names a file of outputs.
OUTPUTS_PREFIX: Final = "outputs:"
_EXPECTED: Final = (
    'expected a line of JSON for each item, such as {"id": "impact-1f0c9a7e-u-nilu", "output": "12"}'
)


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


class StoredOutputs:
    """The outputs of a file, by the id of their item.

    Raise `DataError` for a file that cannot be read, and for a row that is wrong or there twice.
    """

    def __init__(self, file: Path) -> None:
        self._outputs = dict[str, Any]()
        for line in read_json_lines(file):
            row = read_object(line.text)
            if row is None or not isinstance(row.get("id"), str) or "output" not in row:
                raise DataError(file, _EXPECTED, field=line.where)
            if row["id"] in self._outputs:
                raise DataError(
                    file, f"the item {row['id']!r} is there twice; leave one out", field=line.where
                )
            self._outputs[row["id"]] = row["output"]
        if not self._outputs:
            raise DataError(file, f"holds no output; {_EXPECTED}")

    @property
    def items(self) -> frozenset[str]:
        """Return the ids of the items with an output."""
        return frozenset(self._outputs)

    def of_item(self, item: str) -> Callable[[object], object]:
        """Return an assistant that says the output of an item."""

        def reply(messages: object) -> object:
            if item not in self._outputs:
                raise AssistantFault("no output")
            output = self._outputs[item]
            return str(output) if isinstance(output, int | float) else output

        return reply
