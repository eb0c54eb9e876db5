"""Microsoft's agent-framework."""

from __future__ import annotations

from typing import Any

from pytest_personalens.adapters.shape import (
    ReplyMessages,
    call_message,
    result_message,
    text_message,
    with_text,
)


def from_agent_framework(response: Any) -> ReplyMessages:
    """OpenAI-shaped messages from the response of `agent.run`."""
    turn: ReplyMessages = []
    for content in (content for message in response.messages for content in message.contents):
        if content.type == "function_call":
            turn.append(call_message((content.call_id, content.name, content.arguments)))
        elif content.type == "function_result":
            turn.append(result_message(content.call_id, content.result))
        elif content.type == "text" and content.text:
            turn.append(text_message(content.text))
    return with_text(turn, response.text)
