"""Finds the form that a model was asked to fill in: in its tool calls, or as JSON in its text."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelError
from pytest_personalens.core.text.thoughts import without_thoughts
from pytest_personalens.models.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A text may hold line breaks within JSON texts, which small models write.
_JSON: Final = json.JSONDecoder(strict=False)
#: Places in a text at which an object is looked for, and how deep a form may lie in wrappers such as
#: ``{"name": "answer", "arguments": {...}}``.
_MOST_PLACES, _DEEPEST = 400, 4
_WRAPPERS: Final = (
    "arguments",
    "parameters",
    "input",
    "answer",
    "function",
    "properties",
    "result",
    "verdict",
)


def finished(answer: Answer, form: Mapping[str, Any] | None) -> Answer:
    """Return the answer without thoughts in its text, and with the `form` filled in as `data`.

    `form` is a JSON schema. Two forms that differ are no answer: `data` is None, and the text shows both.
    """
    if not isinstance(answer, Answer):  # a model of the team's own may return anything
        raise ModelError(f"the model returned {type(answer).__name__}; it must return an Answer")
    text = without_thoughts(answer.text)
    if text != answer.text:
        answer = answer.model_copy(update={"text": text, "thinks": True})
    if form is None or answer.data is not None:
        return answer
    called = [(call, read_object(call.function.arguments, form)) for call in answer.calls]
    found = [filled for _, filled in called if filled is not None] or list(_in_text(text, form))
    if not found:
        return answer
    others = tuple(call for call, filled in called if filled is None)
    if all(filled == found[0] for filled in found):
        return answer.model_copy(update={"data": found[0], "calls": others})
    shown = text if text.strip() else "\n".join(json.dumps(each, ensure_ascii=False) for each in found)
    return answer.model_copy(update={"text": shown})


def read_object(text: str, form: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the form in the arguments of a call, which may be JSON in JSON or Python, or None."""
    try:
        return _unwrapped(_JSON.decode(text), form)
    except (ValueError, RecursionError):
        pass
    try:
        return _unwrapped(ast.literal_eval(text), form)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return next(_in_text(text, form), None)


def _in_text(text: str, form: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each form in a text: bare, in a fence, in tags, or among words."""
    place = text.find("{")
    for _ in range(_MOST_PLACES):
        if place < 0:
            return
        try:
            value, end = _JSON.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if (filled := _unwrapped(value, form)) is not None:
                yield filled
        place = text.find("{", end)


def _unwrapped(value: Any, form: Mapping[str, Any], depth: int = 0) -> dict[str, Any] | None:
    """Return the object that has at least half of the form's fields, from the wrappers around it."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, str) and "{" in value:
        try:
            return _unwrapped(_JSON.decode(value), form, depth + 1)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list) and len(value) == 1:
        return _unwrapped(value[0], form, depth + 1)
    if not isinstance(value, dict):
        return None
    fields = form.get("properties", {})
    if fields and 2 * len(fields.keys() & value.keys()) >= len(fields):
        return {str(key): part for key, part in value.items()}
    inner = (_unwrapped(value[name], form, depth + 1) for name in _WRAPPERS if name in value)
    return next((filled for filled in inner if filled is not None), None)
