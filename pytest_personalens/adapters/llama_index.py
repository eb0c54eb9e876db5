"""LlamaIndex's agents."""

from __future__ import annotations

from typing import Any

from pytest_personalens.adapters.shape import ReplyMessages, call_message, result_message, text_message


def from_llama_index(output: Any) -> ReplyMessages:
    """OpenAI-shaped messages from the output of `await agent.run(...)`."""
    turn: ReplyMessages = []
    for call in output.tool_calls:
        turn.append(call_message((call.tool_id, call.tool_name, call.tool_kwargs)))
        result = getattr(call, "tool_output", None)
        if result is not None:
            turn.append(
                result_message(call.tool_id, f"{'Error: ' if result.is_error else ''}{result.content}")
            )
    return [*turn, text_message(output.response.content or "")]
