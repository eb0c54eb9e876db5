"""OpenAI-shaped messages, and values as the texts that stand in them."""

from __future__ import annotations

import json
from typing import Any

ReplyMessages = list[dict[str, Any]]


def text_message(text: str) -> dict[str, Any]:
    """What the assistant says."""
    return {"role": "assistant", "content": text}


def call_message(*calls: tuple[object, object, object]) -> dict[str, Any]:
    """Calls of tools, each as id, name, and arguments as text or data."""
    made = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": as_text(arguments)}}
        for id_, name, arguments in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": made}


def result_message(id_: object, content: object) -> dict[str, Any]:
    """The result of the call with this id."""
    return {"role": "tool", "tool_call_id": id_, "content": as_text(content)}


def as_text(value: object) -> str:
    """A text as it is, and data as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=_data)


def with_text(messages: ReplyMessages, output: object) -> ReplyMessages:
    """The messages, with the framework's output said at their end where they end otherwise: with a call of
    the tool by which some frameworks have a model fill in a form.
    """
    spoken = bool(messages) and messages[-1]["role"] == "assistant" and bool(messages[-1]["content"].strip())
    return messages if spoken else [*messages, text_message(as_text(output))]


def _data(value: object) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else str(value)
