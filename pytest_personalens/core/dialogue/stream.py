"""Reads a reply in pieces: texts, deltas in OpenAI's format, or events of other streams."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterator
from typing import Any, Final

from pytest_personalens.core.dialogue.endings import BROKEN_OFF, cut_text, end_of
from pytest_personalens.core.dialogue.events import delta_in, error_in
from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.dialogue.message_fields import field, has, has_thoughts, is_message, text_of
from pytest_personalens.core.dialogue.reply import MAX_REPLY_CHARS
from pytest_personalens.core.errors import AssistantFault, PersonalensError, error_text, short_repr

#: Highest number of characters of arguments in a stream; a longer stream is a fault.
_MOST_ARGUMENTS: Final = 10_000_000
_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
#: The text that ends a stream of OpenAI's protocol.
_LAST: Final = "[DONE]"


def read_stream(reply: object, began: Callable[[], None] = lambda: None) -> object:
    """Return the joined pieces of an iterator, or any other `reply` itself; `began` runs at each piece."""
    if not isinstance(reply, Iterator):
        return reply
    stream = Stream()
    for piece in reply:
        began()
        stream.add(piece)
    return stream.reply()


async def await_reply(reply: Any, began: Callable[[], None] = lambda: None) -> object:
    """Return the result of an awaitable, or the joined pieces of an async iterator, as `read_stream` does."""
    if not isinstance(reply, AsyncIterable):
        reply = await reply
    if not isinstance(reply, AsyncIterable):
        return reply
    stream = Stream()
    async for piece in reply:
        began()
        stream.add(piece)
    return stream.reply()


class Stream:
    """The pieces of a reply so far; a result of a tool ends the message before it.

    `word` says why the stream ended, in its own word, `usage` what it cost, `is_over` if it said that it is
    at its end, `in_chunks` if it is of a kind that says so, and `thinks` if it held thoughts.
    """

    def __init__(self) -> None:
        self._messages: list[object] = []
        self._text: list[str] = []
        self._calls: dict[object, dict[str, Any]] = {}
        self._chars = 0
        self._arguments = 0
        self.word, self.usage = "", dict[str, Any]()
        self.is_over = self.in_chunks = self.thinks = False

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
        """Return the pieces as one text, one message or a list of messages, as `Cut` if they were cut off."""
        whole, cut = self.joined(), cut_text(end_of(self.word), self.word, 0)
        return Cut(whole, cut) if cut else whole

    def word_at_end(self) -> str:
        """Return why a stream ended that was read as its server sent it, so it must say that it is over."""
        return self.word or (BROKEN_OFF if self.in_chunks and not self.is_over else "")

    def joined(self) -> object:
        """Return the pieces as one text, one message, or a list of messages."""
        if not self._messages and not self._calls:
            return "".join(self._text)
        several = bool(self._messages)
        self._end_message()
        return self._messages if several else self._messages[0]

    def message(self) -> dict[str, Any]:
        """Return the pieces as one message, for a stream of one model."""
        self._end_message()
        last = self._messages[-1] if self._messages else None
        return last if isinstance(last, dict) else {"role": "assistant", "content": ""}

    def _add(self, piece: object) -> None:
        if isinstance(piece, str):
            if piece == _LAST:
                self.is_over = True
            else:
                self._say(piece)
            return
        if piece is None:
            return
        if (error := error_in(piece)) is not None:
            raise AssistantFault(f"the assistant's stream ends with an error: {short_repr(error, 200)}")
        found = delta_in(piece)
        self.in_chunks = self.in_chunks or found.in_chunk
        self.word, self.is_over = found.word or self.word, self.is_over or found.is_last or bool(found.word)
        self.usage |= found.usage
        self.thinks = self.thinks or found.thinks
        if found.delta is not None:
            self._add_delta(piece, found.delta, in_chunk=found.in_chunk)

    def _add_delta(self, piece: object, delta: object, *, in_chunk: bool) -> None:
        if isinstance(delta, str):
            self._say(delta)
            return
        if not is_message(delta) and not has(delta, "role") and not in_chunk:
            raise AssistantFault(
                f"the assistant's stream yielded {type(piece).__name__}; it must yield text or deltas"
            )
        if field(delta, "role") == "tool":
            self._end_message()
            self._messages.append(delta)
            return
        content = field(delta, "content")
        text = text_of(content)
        if text is None:
            raise AssistantFault("the assistant's stream yielded a delta whose content is no text")
        refusal = field(delta, "refusal")
        self._say(text or (refusal if isinstance(refusal, str) else ""))
        self.thinks = self.thinks or has_thoughts(content) or any(field(delta, name) for name in _THOUGHTS)
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
