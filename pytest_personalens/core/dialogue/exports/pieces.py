"""A piece of an export: a dialogue or a part of one; and how its messages and metadata are found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from pytest_personalens.core.dialogue.exports.messages import sides

Messages = list[dict[str, Any]]
_METADATA: Final = (
    "metadata",
    "requestMetadata",
    "additional_metadata",
    "additionalMetadata",
    "extra",
    "vars",
)
_CONVERSATIONS: Final = ("conversation_id", "thread_id", "session_id", "sessionId")


class Piece(NamedTuple):
    """A dialogue of an export, or a part of one: one half of a batch, or the turn of one trace.

    Pieces of one `group` belong together, in the order of `time`. `scenario` is what the metadata says of it.
    """

    messages: Messages
    id: str = ""
    scenario: object = None
    assistant: str = ""
    group: str = ""
    time: str = ""
    half: Literal["", "request", "result"] = ""


def get(value: object, *path: str | int) -> Any:
    """Return what stands at a path of keys and places, or None."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def metadata_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an object says of itself under any name for metadata, also one inside another."""
    found: dict[str, Any] = {}
    for name in _METADATA:
        inner = get(value, name)
        deeper = get(inner, "metadata")
        for one in (deeper, inner):
            found = {**(one if isinstance(one, Mapping) else {}), **found}
    return found


def reply_of(body: object) -> Messages | None:
    """Return the reply of a server of any protocol, or None if the object has none."""
    if (message := get(body, "choices", 0, "message")) is not None:
        return sides(message)
    if (message := get(body, "output", "message")) is not None:  # Converse
        return sides(message)
    output = get(body, "output")
    if isinstance(output, list):  # the Responses API
        return sides([item for item in output if get(item, "type") in ("message", "function_call")])
    if isinstance(get(body, "content"), list) and get(body, "role") == "assistant":  # Anthropic
        return sides(body)
    return None


def asked_of(body: object) -> Messages | None:
    """Return the messages of a request of any protocol, or None if the object has none."""
    for name in ("messages", "input"):
        value = get(body, name)
        if isinstance(value, (list, str)) and value:
            return sides(value)
    return None


def whole(asked: Messages | None, reply: Messages | None) -> Messages:
    """Return what was asked and answered; raise ValueError for a side that is missing."""
    if not asked:
        raise ValueError('the user\'s side is missing; add what was sent, as "input", beside it')
    if not reply:
        raise ValueError("it has no reply; remove it")
    return [*asked, *reply]


def piece_of(
    value: Mapping[str, Any], messages: Messages, name: str, assistant: object = None, time: object = None
) -> Piece:
    """Return the piece of a call or a trace, with the group that its metadata or its session name."""
    metadata = metadata_of(value)
    group = next((str(found[k]) for k in _CONVERSATIONS for found in (metadata, value) if found.get(k)), "")
    return Piece(
        messages, group or name, metadata.get("scenario"), str(assistant or ""), group, str(time or "")
    )


def decoded(value: object) -> Any:
    """Return what an export holds as a text of JSON, or the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def said_in(value: object, *, reply: bool) -> Messages:
    """Return the messages of the input or the output of a trace, wherever frameworks put them."""
    value = decoded(value)
    if isinstance(value, str):
        return [{"role": "assistant" if reply else "user", "content": value}]
    if isinstance(value, list):
        return sides(value)
    for name in (
        "messages",
        "message",
        "generations",
        "input",
        "question",
        "query",
        "output",
        "answer",
        "content",
    ):
        inner = get(value, name)
        if name == "generations":  # LangChain: a list of lists, each with a message
            inner = get(inner, 0, 0, "message") or get(inner, 0, "message")
        if name == "content" and get(value, "role"):
            return sides(value)
        if inner:
            return sides(inner) if isinstance(inner, Mapping) else said_in(inner, reply=reply)
    return (reply_of(value) or []) if reply else []


def turn_of(value: Mapping[str, Any], asked: object, answer: object) -> Messages:
    """Return the messages of a trace's input and output; an output may repeat the input."""
    before, after = said_in(asked, reply=False), said_in(answer, reply=True)
    return after if before and after[: len(before)] == before else [*before, *after]


def has_both_sides(messages: Messages) -> bool:
    return {"user", "assistant"} <= {m.get("role") for m in messages}
