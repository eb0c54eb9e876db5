"""Strands Agents, and whatever else keeps messages as Bedrock's Converse API writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_personalens.adapters.shape import (
    ReplyMessages,
    as_text,
    call_message,
    result_message,
    text_message,
)


def from_strands(messages: Iterable[Mapping[str, Any]]) -> ReplyMessages:
    """OpenAI-shaped messages from `agent.messages`, whose last user message begins the turn."""
    turn: ReplyMessages = []
    for message in messages:
        blocks = message["content"]
        text = "".join(block["text"] for block in blocks if "text" in block)
        uses = [block["toolUse"] for block in blocks if "toolUse" in block]
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        turn += [result_message(result["toolUseId"], _content(result)) for result in results]
        if uses:
            calls = call_message(*((use["toolUseId"], use["name"], use["input"]) for use in uses))
            turn.append({**calls, "content": text})
        elif message["role"] == "user" and not results:
            turn.append({"role": "user", "content": text})
        elif text:
            turn.append(text_message(text))
    return turn


def _content(result: Mapping[str, Any]) -> str:
    """The texts and data of a result; one that is a failure says so at its head."""
    text = "\n".join(block["text"] if "text" in block else as_text(block) for block in result["content"])
    return f"Error: {text}" if result.get("status") == "error" and not _says_error(text) else text


def _says_error(text: str) -> bool:
    return text.lower().startswith("error")
