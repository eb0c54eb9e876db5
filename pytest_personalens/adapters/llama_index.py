"""LlamaIndex's agents."""

from __future__ import annotations

from typing import Any

from pytest_personalens.adapters.shape import ReplyMessages, called, found, said


def from_llama_index(output: Any) -> ReplyMessages:
    """OpenAI-shaped messages from the output of `await agent.run(...)`."""
    turn: ReplyMessages = []
    for call in output.tool_calls:
        turn.append(called((call.tool_id, call.tool_name, call.tool_kwargs)))
        result = getattr(call, "tool_output", None)
        if result is not None:
            turn.append(found(call.tool_id, f"{'Error: ' if result.is_error else ''}{result.content}"))
    return [*turn, said(output.response.content or "")]
