"""Pydantic AI."""

from __future__ import annotations

from typing import Any

from pytest_personalens.adapters.shape import (
    ReplyMessages,
    call_message,
    result_message,
    text_message,
    with_text,
)


def from_pydantic_ai(result: Any) -> ReplyMessages:
    """OpenAI-shaped messages from the result of `agent.run` or `agent.run_sync`: those that are new in it."""
    turn: ReplyMessages = []
    for part in (part for message in result.new_messages() for part in message.parts):
        kind = part.part_kind
        if kind == "tool-call":
            turn.append(call_message((part.tool_call_id, part.tool_name, part.args)))
        elif kind == "tool-return":
            turn.append(result_message(part.tool_call_id, part.model_response_str()))
        elif kind == "retry-prompt" and part.tool_name is not None:
            turn.append(result_message(part.tool_call_id, f"Error: {part.model_response()}"))
        elif kind == "text" and part.content:
            turn.append(text_message(part.content))
    return with_text(turn, result.output)
