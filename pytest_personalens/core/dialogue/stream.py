"""Reads a reply in pieces: texts, or deltas in OpenAI's streaming format."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from typing import Any, Final

from pytest_personalens.core.dialogue.message_fields import field, has, is_message, text_of
from pytest_personalens.core.dialogue.reply import MAX_REPLY_CHARS
from pytest_personalens.core.errors import AssistantFault, PersonalensError, error_text

#: Highest number of characters of arguments in a stream; a longer stream is a fault.
_MOST_ARGUMENTS: Final = 10_000_000


def read_stream(reply: object) -> object:
    """Return the joined pieces of an iterator, or `reply` itself if it is none."""
    if not isinstance(reply, Iterator):
        return reply
    stream = Stream()
    for piece in reply:
        stream.add(piece)
    return stream.reply()


async def await_reply(reply: Any) -> object:
    """Return the result of an awaitable, or the joined pieces of an async iterator."""
    if not isinstance(reply, AsyncIterable):
        reply = await reply
    if not isinstance(reply, AsyncIterable):
        return reply
    stream = Stream()
    async for piece in reply:
        stream.add(piece)
    return stream.reply()


class Stream:
    """The pieces of a reply so far; a result of a tool ends the message before it."""

    def __init__(self) -> None:
        self._messages: list[object] = []
        self._text: list[str] = []
        self._calls: dict[object, dict[str, Any]] = {}
        self._chars = 0
        self._arguments = 0

    def add(self, piece: object) -> None:
        """Add a piece; raise `AssistantFault` if it is no text and no delta, or makes the stream too long."""
        try:
            self._add(piece)
        except PersonalensError:
            raise
        except Exception as error:  # a piece of another library may raise anything when it is read
            raise AssistantFault(
                f"the assistant's stream yielded {type(piece).__name__} that cannot be read:"
                f" {error_text(error)}"
            ) from error

    def reply(self) -> object:
        """Return the pieces as one text, one message, or a list of messages."""
        if not self._messages and not self._calls:
            return "".join(self._text)
        several = bool(self._messages)
        self._end_message()
        return self._messages if several else self._messages[0]

    def _add(self, piece: object) -> None:
        if isinstance(piece, str):
            self._say(piece)
            return
        delta = _delta(piece)
        if delta is None:
            return
        if not is_message(delta) and not has(delta, "role"):
            raise AssistantFault(
                f"the assistant's stream yielded {type(piece).__name__}; it must yield text or deltas"
            )
        if field(delta, "role") == "tool":
            self._end_message()
            self._messages.append(delta)
            return
        text = text_of(field(delta, "content"))
        if text is None:
            raise AssistantFault("the assistant's stream yielded a delta whose content is no text")
        self._say(text)
        for call in field(delta, "tool_calls") or ():
            self._call(call)

    def _say(self, text: str) -> None:
        self._text.append(text)
        self._chars += len(text)
        if self._chars > MAX_REPLY_CHARS:
            raise AssistantFault(
                f"the assistant's stream has more than {MAX_REPLY_CHARS:,} characters, which is the limit"
            )

    def _call(self, piece: object) -> None:
        """Add a piece of a call: the first has its id and name, each has a part of its arguments."""
        function, name = field(piece, "function"), field(piece, "id")
        index = field(piece, "index")
        # Without an index, a piece with an id begins a new call.
        key = index if index is not None else len(self._calls) if name else max(0, len(self._calls) - 1)
        call = self._calls.setdefault(key, {"id": None, "type": "function", "function": {}})
        call["id"] = call["id"] or name
        call["function"]["name"] = call["function"].get("name") or field(function, "name")
        arguments = field(function, "arguments")
        if isinstance(arguments, str):
            call["function"].setdefault("pieces", []).append(arguments)
            self._arguments += len(arguments)
        elif arguments is not None:
            call["function"]["arguments"] = arguments
        if self._arguments > _MOST_ARGUMENTS:
            raise AssistantFault(
                f"the assistant's stream has more than {_MOST_ARGUMENTS:,} characters of arguments"
            )

    def _end_message(self) -> None:
        for call in self._calls.values():
            pieces = call["function"].pop("pieces", None)
            if pieces is not None:
                call["function"]["arguments"] = "".join(pieces)
        text, calls = "".join(self._text), list(self._calls.values())
        if text or calls:
            message: dict[str, Any] = {"role": "assistant", "content": text}
            self._messages.append(message | ({"tool_calls": calls} if calls else {}))
        self._text, self._calls = [], {}


def _delta(piece: object) -> object | None:
    """Return the delta of a chunk, None if it has none, and a piece that is no chunk as it is."""
    if piece is None:
        return None
    if has(piece, "choices"):
        choices = field(piece, "choices")
        return field(choices[0], "delta") if choices else None
    return field(piece, "delta") if has(piece, "delta") else piece
