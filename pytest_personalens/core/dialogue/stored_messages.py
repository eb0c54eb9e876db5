"""Reads stored messages in OpenAI's format; an error names the file and the field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from pytest_personalens.core.dialogue.exports.messages import plain_messages
from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.dialogue.message_fields import is_thought, text_of
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import first_problem

if TYPE_CHECKING:
    from pathlib import Path

#: What a message may hold beside its role and its text.
_MORE: Final = ("tool_calls", "tool_call_id", "steps", "left_out")
_TEXTS: Final = ("text", "input_text", "output_text", "refusal")


def read_messages(
    value: object, file: Path, where: str, *, lenient: bool = False
) -> list[tuple[int, Message]]:
    """Return the messages of user, assistant and tools, each with its place in the list.

    The messages may be those of any vendor: OpenAI, Anthropic, Bedrock, LangChain, ShareGPT or OpenTelemetry.
    System messages are left out. With `lenient`, so is all but the texts of user and assistant. Raise
    `DataError` for what is no text, such as an image, and for a side that is missing.
    """
    if not isinstance(value, list) or not value:
        problem = 'expected a list of messages, such as {"role": "user", "content": "..."}'
        raise DataError(file, problem, field=where)
    messages = list[tuple[int, Message]]()
    for n, raw in ((n, plain) for n, stored in enumerate(value) for plain in plain_messages(stored)):
        role = raw.get("role") if isinstance(raw, dict) else None
        if role in ("user", "assistant") or (role == "tool" and not lenient):
            message = _message(raw, file, f"{where}.{n}", () if lenient else _MORE)
            if message.content.strip() or not lenient:
                messages.append((n, message))
        elif role not in ("system", "developer") and not (lenient and role):
            problem = f"expected a message of user, assistant or tool, found {str(role or raw)[:40]!r}"
            raise DataError(file, problem, field=f"{where}.{n}")
    sides = {message.role for _, message in messages} - {"tool"}
    if len(sides) < 2:
        only = f"only messages of the {sides.pop()}" if sides else "no message of user or assistant"
        raise DataError(file, f"holds {only}; a dialogue has both sides", field=where)
    return messages


def _message(raw: dict[str, Any], file: Path, where: str, more: tuple[str, ...]) -> Message:
    content = raw.get("content")
    if raw["role"] == "tool" and isinstance(content, (dict, int, float)):
        content = json.dumps(content, ensure_ascii=False)  # some tools return data instead of text
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") or next(iter(part), None) if isinstance(part, dict) else "text"
        if kind not in _TEXTS and not is_thought(part):
            advice = "only text is read: say in words what it holds, or leave the dialogue out"
            raise DataError(file, f"a part of the type {kind!r}; {advice}", field=f"{where}.content")
    text = text_of(content)
    if text is None:
        raise DataError(file, f"expected a text, found {type(content).__name__}", field=f"{where}.content")
    fields = {name: raw[name] for name in more if raw.get(name) or (name == "steps" and raw.get(name) == [])}
    if isinstance(fields.get("tool_calls"), list):
        fields["tool_calls"] = [_call(call) for call in fields["tool_calls"]]
    try:
        return Message.model_validate({"role": raw["role"], "content": text, **fields})
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(file, problem, field=f"{where}.{field}") from None


def _call(call: Any) -> Any:
    """A tool call whose arguments are text, as OpenAI has them, and whose id may be missing."""
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        return call
    function = dict(call["function"])
    if "arguments" in function and not isinstance(function["arguments"], str):
        given = function["arguments"]
        function["arguments"] = "" if given is None else json.dumps(given, ensure_ascii=False)
    return {name: value for name, value in call.items() if name != "id" or value is not None} | {
        "function": function
    }
