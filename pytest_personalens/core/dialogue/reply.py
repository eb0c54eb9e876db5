"""Reads the value that an assistant returned as its turn: whole or in pieces, and why it ended."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pytest_personalens.core.dialogue.events import BROKEN_OFF, cut_text, delta_in, end_of, error_in
from pytest_personalens.core.dialogue.message import (
    AssistantMessages,
    Cut,
    Function,
    Message,
    ToolCall,
    field,
    has,
    has_thoughts,
    is_message,
    text_of,
    text_of_part,
)
from pytest_personalens.core.errors import AssistantFault, PersonalensError, error_text, short_repr
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.safe_text import cut_to

#: A longer reply is a fault of the assistant: no person would read it, and no judge should be paid to read
#: it.
MAX_REPLY_CHARS: Final = 100_000
#: Number of tool calls of one turn that are kept, and of results, and of texts between them. Further calls
#: are only counted.
MAX_CALLS: Final = 100
#: Number of characters that are kept of a call's arguments and of a result.
MAX_TOOL_CHARS: Final = 4_000
#: Number of characters that are kept of a tool's name and of an id.
_LONGEST_NAME: Final = 200
#: Roles of the messages that the assistant received. The messages after them are its own.
_GIVEN: Final = ("system", "developer", "user")
_SHAPE: Final = "{'id': ..., 'type': 'function', 'function': {'name': ..., 'arguments': '{...}'}}"


class Reply(NamedTuple):
    """A turn of the assistant, and the messages that it gets back next time."""

    turn: Message
    history: AssistantMessages


def read_reply(reply: object) -> Reply:
    """Return the turn in `reply`, cut where it is too long.

    A list may begin with the conversation that the assistant received. Only the messages after the last user
    message count. Raise `AssistantFault` for a value that is no text, message or list of messages.
    """
    if isinstance(reply, Cut):
        return _read_cut(reply)
    if isinstance(reply, str):
        text = _spoken(reply)
        return Reply(Message(role="assistant", content=text), [{"role": "assistant", "content": text}])
    if is_message(reply):
        role = field(reply, "role")
        if role not in (None, "assistant"):
            odd = short_repr(role, 40)
            raise AssistantFault(f"the assistant returned a message of role {odd}; it must be assistant")
        return Reply(_turn([reply], listed=False), [_whole_message(reply)])
    if isinstance(reply, (list, tuple)) and reply and all(map(is_message, reply)):
        new_messages = _after_what_was_given(reply)
        return Reply(_turn(new_messages, listed=True), [_whole_message(message) for message in new_messages])
    raise AssistantFault(_problem_of(reply))


def _read_cut(reply: Cut) -> Reply:
    try:
        read = read_reply(reply.reply)
    except AssistantFault as fault:
        raise AssistantFault(f"{fault}; the reply was {reply.cut}") from fault
    return read._replace(turn=read.turn.model_copy(update={"cut": reply.cut}))


def spoken_turns(messages: AssistantMessages) -> list[tuple[str, str]]:
    """Return the role and the text of each turn in an assistant's messages, without the steps between."""
    following = [*(message["role"] for message in messages[1:]), "user"]
    turns = [m for m, after in zip(messages, following, strict=True) if "user" in (m["role"], after)]
    return [(m["role"], clean(text_of(m["content"]) or "").strip()) for m in turns]


def _spoken(text: str) -> str:
    if len(text) > MAX_REPLY_CHARS:
        limit = f"the limit is {MAX_REPLY_CHARS:,}"
        raise AssistantFault(f"the assistant's reply has {len(text):,} characters; {limit}")
    content = clean(text).strip()
    if not content:
        raise AssistantFault("the assistant returned an empty text")
    return content


def _after_what_was_given(messages: Sequence[object]) -> list[object]:
    roles = [field(message, "role") for message in messages]
    where = "the list that the assistant returned"
    for number, role in enumerate(roles, 1):
        if role not in ("assistant", "tool", *_GIVEN):
            odd = f"message {number} of {where} has the role {short_repr(role, 40)}"
            raise AssistantFault(f"{odd}; it must be assistant or tool")
    if roles[-1] != "assistant":
        must = "the last one must be the assistant's text"
        raise AssistantFault(f"{where} ends with a {roles[-1]} message; {must}")
    first = max((i for i, role in enumerate(roles) if role in _GIVEN), default=-1) + 1
    return list(messages[first:])


def _turn(messages: Sequence[object], *, listed: bool) -> Message:
    """Return the last message as a turn with the others as its steps.

    Of calls, of results and of texts between them, the first ones are kept, and no result of a call that is
    not.
    """
    *before, last = messages
    text, last_calls = _content(last), _calls(last)
    if not text.strip() and last_calls:
        what = "the last message that the assistant returned has tool calls and no text"
        raise AssistantFault(f"{what}; the last one must be its text")
    room, unkept = dict.fromkeys(("calls", "results", "texts"), MAX_CALLS), set[str]()

    def fits(kind: str) -> bool:
        room[kind] -= 1
        return room[kind] >= 0

    def fitting(calls: list[ToolCall]) -> tuple[ToolCall, ...]:
        kept = tuple(call for call in calls if fits("calls"))
        unkept.update(call.id for call in calls[len(kept) :] if call.id)
        return kept

    steps: list[Message] = []
    for message in before:
        content, calls = cut_to(_content(message), MAX_TOOL_CHARS), _calls(message)
        name = _name(field(message, "tool_call_id"))
        if field(message, "role") == "tool":
            if name not in unkept and fits("results"):
                steps.append(Message(role="tool", content=content, tool_call_id=name))
        elif kept := fitting(calls):
            steps.append(Message(role="assistant", content=content, tool_calls=kept))
        elif not calls and fits("texts"):
            steps.append(Message(role="assistant", content=content))
    return Message(
        role="assistant",
        content=_spoken(text),
        tool_calls=fitting(last_calls),
        steps=tuple(steps) if listed else None,
        left_out=max(0, -room["calls"]),
    )


def _content(message: object) -> str:
    content = field(message, "content")
    text = text_of(content)
    if text is None and field(message, "role") == "tool":
        return clean(_json(content))  # some tools return data instead of text
    if text is None:
        kind = type(content).__name__
        raise AssistantFault(
            f"the assistant returned a message whose content is {kind}; it must be text (str)"
        )
    refusal = field(message, "refusal")
    return clean(text or (refusal if isinstance(refusal, str) else ""))


def _calls(message: object) -> list[ToolCall]:
    calls = field(message, "tool_calls")
    if calls is None:
        return []
    if not isinstance(calls, (list, tuple)):
        raise AssistantFault(f"the assistant's tool_calls are {type(calls).__name__}; they must be a list")
    return [_call(call) for call in calls]


def _call(call: object) -> ToolCall:
    # OpenAI calls a custom tool with any text as its input.
    called = field(call, "function") or field(call, "custom")
    name = field(called, "name")
    if not isinstance(name, str) or not name.strip():
        raise AssistantFault(f"a tool call of the assistant names no function; it must look like {_SHAPE}")
    arguments = field(called, "arguments") if has(called, "arguments") else field(called, "input")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else _json(arguments)
    function = Function(name=_name(name), arguments=cut_to(clean(text), MAX_TOOL_CHARS))
    return ToolCall(id=_name(field(call, "id")), function=function)


def _name(value: object) -> str:
    return "" if value is None else clean(str(value))[:_LONGEST_NAME]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_data)


def _whole_message(message: object) -> dict[str, Any]:
    """Return a message as the assistant gets it back, with the extra fields that its provider needs."""
    mapping = message if isinstance(message, Mapping) else _data(message)
    plain: dict[str, Any] = json.loads(_json(dict(mapping)))
    return {"role": "assistant", "content": None, **plain}


def _data(value: object) -> Any:
    """Return an object as data that JSON can hold."""
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        return dump(value, exclude_none=True)
    if hasattr(value, "__dict__"):
        return vars(value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    return {name: getattr(value, name) for name in slots if hasattr(value, name)} or str(value)


def _problem_of(reply: object) -> str:
    if isinstance(reply, (list, tuple)) and any(map(is_message, reply)):
        number, odd = next((n, message) for n, message in enumerate(reply, 1) if not is_message(message))
        return (
            f"message {number} of the list that the assistant returned is {type(odd).__name__} without"
            " content or tool_calls; it must have one of them"
        )
    return f"the assistant returned {type(reply).__name__}; it must return text (str){_text_in(reply)}"


def _text_in(reply: object) -> str:
    """Return where the text is in a value of a framework; empty for an unknown kind of value."""
    if isinstance(reply, (list, tuple)):
        return ": join the texts of its parts" if reply and all(map(text_of_part, reply)) else ""
    is_dict = isinstance(reply, dict)
    if is_dict and isinstance(field(reply, "messages"), (list, tuple)):
        return ": the text is that of the last message, such as result['messages'][-1].content"
    if has(reply, "choices"):
        path = "['choices'][0]['message']['content']" if is_dict else ".choices[0].message.content"
        return f": the text is response{path}"
    name = next((name for name in ("text", "output", "output_text") if has(reply, name)), "")
    return f": the text may be reply{f'[{name!r}]' if is_dict else f'.{name}'}" if name else ""


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
