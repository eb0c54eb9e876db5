"""The OpenAI Agents SDK, and the items of OpenAI's Responses API."""

from __future__ import annotations

from typing import Any

from pytest_personalens.adapters.shape import (
    ReplyMessages,
    call_message,
    result_message,
    text_message,
    with_text,
)


def from_openai_agents(result: Any) -> ReplyMessages:
    """OpenAI-shaped messages from the result of a run of `Runner`."""
    turn: ReplyMessages = []
    for item in (item.to_input_item() for item in result.new_items):
        kind = item.get("type", "message")
        if kind == "function_call":
            turn.append(call_message((item["call_id"], item["name"], item["arguments"])))
        elif kind == "function_call_output":
            turn.append(result_message(item["call_id"], _text(item["output"])))
        elif kind == "message" and item.get("role") == "assistant":
            turn.append(text_message(_text(item["content"])))
    return with_text(turn, result.final_output)


def _text(content: Any) -> Any:
    """The texts among the parts of a content."""
    if not isinstance(content, list):
        return content
    return "".join(part.get("text") or part.get("refusal") or "" for part in content)
