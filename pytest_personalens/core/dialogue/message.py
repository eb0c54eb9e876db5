"""A message of a dialogue, with the assistant's tool calls, and its parts in mappings and objects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from pytest_personalens.core.frozen import Frozen, Sparse, Text
from pytest_personalens.core.safe_text import cut_line, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: The types of the parts of a content that hold what a model thought, and not what it says.
THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text", "thought")


def is_message(value: object) -> bool:
    """True for a mapping or an object with a content or with tool calls."""
    if isinstance(value, (str, bytes, list, tuple, type)):
        return False
    return has(value, "content") or has(value, "tool_calls")


def has(value: object, name: str) -> bool:
    """True if a mapping has the key, or the class or instance defines the attribute, not invents it."""
    if isinstance(value, Mapping):
        return name in value
    return name in {*dir(type(value)), *getattr(value, "__dict__", {})}


def field(value: object, name: str) -> Any:
    """Return the value of a mapping's key or of an object's attribute, or None if there is none."""
    if isinstance(value, Mapping):
        return value.get(name)
    # A class may name an attribute, as slots do, that an object of it does not have.
    return getattr(value, name, None) if has(value, name) else None


def text_of(content: object) -> str | None:
    """Return the text of a content, which is a text or a list of parts; None for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, (list, tuple)):
        return "".join(filter(None, map(text_of_part, content)))
    return None


def has_thoughts(content: object) -> bool:
    """True if parts of a content hold what a model thought."""
    return isinstance(content, (list, tuple)) and any(map(is_thought, content))


def text_of_part(part: object) -> str:
    """Return the text of a part of a content; empty for a thought."""
    if is_thought(part):
        return ""
    text = part if isinstance(part, str) else field(part, "text") or field(part, "refusal")
    return text if isinstance(text, str) else ""


def is_thought(part: object) -> bool:
    """True for a part of a content that holds what a model thought."""
    return not isinstance(part, str) and (field(part, "type") in THOUGHTS or field(part, "thought") is True)


Role = Literal["user", "assistant", "tool"]
#: The messages so far, in the form in which an assistant gets them.
AssistantMessages = list[dict[str, Any]]


class Function(Frozen):
    """The tool that the assistant called; `arguments` is the text that it sent, JSON if well formed."""

    name: Text
    arguments: Text = ""


class ToolCall(Frozen):
    """One call of a tool; `id` links it to the message with its result."""

    id: Text = ""
    type: Literal["function"] = "function"
    function: Function


class Cut(NamedTuple):
    """A reply that is not whole, and how it was cut or spoilt, such as "cut off at 4,000 tokens"."""

    reply: object
    cut: str


class Message(Sparse):
    """One turn of a dialogue, or one step of the assistant before a turn.

    A turn is a message that the user or the assistant says; its role is user or assistant. `steps` holds what
    the assistant did before it said the turn: its messages with `tool_calls`, and a message of role tool with
    the content of each result.

    `steps` is None if the assistant returned one text or one message. It is empty if the assistant returned a
    list with nothing else in it; the assistant then states that it called no tool. `left_out` is the number
    of calls that were not kept because there were too many.

    `cut` says of a reply that is not whole how it was cut. Fields that are rarely used are not stored if they
    hold nothing.
    """

    role: Role
    content: Text
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: Text = ""
    steps: tuple[Message, ...] | None = None
    left_out: int = Field(default=0, ge=0)
    cut: Text = Field(
        default="", description="How the reply was cut or spoilt, such as 'cut off at 4,000 tokens'."
    )
    session: Text = Field(
        default="", description="The session in which it is said, where a dialogue has several."
    )

    #: Only a message of an assistant with tools, or of several sessions, has these fields.
    rare: ClassVar[Mapping[str, object]] = {
        "tool_calls": (), "tool_call_id": "", "steps": None, "left_out": 0, "cut": "", "session": "",
    }  # fmt: skip

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if value or name not in self.rare)

    @property
    def path(self) -> tuple[Message, ...]:
        """The steps, then the turn itself, in the order of their making."""
        return (*(self.steps or ()), self)

    @property
    def acts(self) -> bool:
        """True if the turn tells which tools the assistant called, even if it called none."""
        return self.steps is not None or bool(self.tool_calls)

    @property
    def calls(self) -> int:
        """Number of tool calls of the turn, with those that were not kept."""
        return sum(len(m.tool_calls) for m in self.path) + self.left_out

    @property
    def said(self) -> Message:
        """The turn as the user hears it, without the calls."""
        if not self.acts:
            return self
        return Message(role=self.role, content=self.content, cut=self.cut, session=self.session)

    def returned(self) -> object:
        """Return what an assistant may have returned: a text, a message, or a list of messages."""
        whole: object = self.content
        if self.acts:
            messages = [_as_mapping(message) for message in self.path]
            whole = messages[-1] if self.steps is None else messages
        return Cut(whole, self.cut) if self.cut else whole


def _as_mapping(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["tool_calls"] = [call.model_dump() for call in message.tool_calls]
    return data | ({"tool_call_id": message.tool_call_id} if message.role == "tool" else {})


def without_secrets(message: Message, scrub: Callable[[str], str]) -> Message:
    """Return the message with all its texts as `scrub` returns them, also those of calls and results."""
    named = ((call, scrub(call.function.name), scrub(call.function.arguments)) for call in message.tool_calls)
    calls = tuple(c.model_copy(update={"function": Function(name=n, arguments=a)}) for c, n, a in named)
    steps = message.steps and tuple(without_secrets(step, scrub) for step in message.steps)
    if (content := scrub(message.content)) == message.content and not calls and not steps:
        return message
    return message.model_copy(update={"content": content, "tool_calls": calls, "steps": steps})


def strip_tool_calls(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages as the user hears them."""
    return tuple(message.said for message in messages)


def number_call_ids(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with numbers for call ids, because frameworks make new ids in every run."""
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers) + 1)) if name else ""

    def of(message: Message) -> Message:
        if not message.acts and message.role != "tool":
            return message
        steps = None if message.steps is None else tuple(map(of, message.steps))
        calls = tuple(call.model_copy(update={"id": number(call.id)}) for call in message.tool_calls)
        ids = {"tool_call_id": number(message.tool_call_id)}
        return message.model_copy(update={"steps": steps, "tool_calls": calls, **ids})

    return tuple(map(of, messages))


def group_turns(messages: Iterable[Message]) -> list[Message]:
    """Return the turns of messages in OpenAI's format, each with its steps inside.

    Raise ValueError if no text of the assistant follows the calls or results.
    """
    turns: list[Message] = []
    steps: list[Message] = []
    listed = list(messages)
    for place, message in enumerate(listed):
        after = listed[place + 1] if place + 1 < len(listed) else None
        if is_step(message, after):
            steps.append(message)
        elif steps and message.role == "user":
            break
        else:
            turns.append(message.model_copy(update={"steps": tuple(steps)}) if steps else message)
            steps = []
    if steps:
        raise ValueError(f"the {steps[-1].role} message after message {len(turns) - 1} has no reply after it")
    return turns


def is_step(message: Message, after: Message | None) -> bool:
    """True for what the assistant does before it says its turn; `after` is the message that follows."""
    # Words beside a call whose result follows are a step: the turn is what the assistant says after it.
    goes_on = after is not None and after.role == "tool"
    return message.role == "tool" or (bool(message.tool_calls) and (goes_on or not message.content.strip()))


def calls_with_results(messages: Iterable[Message]) -> Iterator[tuple[ToolCall | None, str | None]]:
    """Yield each call of a turn with its result, None if there is none, and results without a call."""
    path = list(messages)
    tool_results = [(m.tool_call_id, m.content) for m in path if m.role == "tool"]
    wanted = Counter(call.id for m in path for call in m.tool_calls)
    for message in path:
        for call in message.tool_calls:
            place = next((i for i, (name, _) in enumerate(tool_results) if name == call.id), None)
            yield call, None if place is None else tool_results.pop(place)[1]
        if message.role == "tool" and not wanted[message.tool_call_id]:
            yield None, message.content


class Call(NamedTuple):
    """One tool call of the assistant.

    `arguments` is parsed; it is empty where `text`, which was sent, is no JSON object. `result` is the text
    of its result, None where the assistant handed over none. `turn` is the number of the message that it was
    made for, from 0.
    """

    name: str
    arguments: Mapping[str, Any]
    text: str
    result: str | None
    turn: int

    def __repr__(self) -> str:
        return one_line(f"{self.name}({_listed(self.arguments) if self.arguments else self.text})")


class Called:
    """Equal to a call of the tool `name` that has at least these arguments."""

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        self.name, self.arguments = name, arguments

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Call):
            return NotImplemented
        arguments = other.arguments
        return other.name == self.name and all(
            name in arguments and bool(arguments[name] == value) for name, value in self.arguments.items()
        )

    __hash__ = None  # type: ignore[assignment]  # equal to calls that differ

    def __repr__(self) -> str:
        return f"called({', '.join(filter(None, (repr(self.name), _listed(self.arguments))))})"


def called(name: str, /, **arguments: Any) -> Called:
    """What is equal to a call of the tool `name` with at least these arguments.

    >>> called("book_table", people=2) in [Call("book_table", {"people": 2, "day": "Friday"}, "", None, 1)]
    True
    """
    return Called(name, arguments)


def describe_calls(calls: Sequence[object]) -> list[str]:
    """What to print where a call that was wanted is not among these, or one is that must not be."""
    shown = [f"  turn {call.turn}: {call!r}" for call in calls if isinstance(call, Call)]
    return ["the assistant called:", *shown] if shown else ["the assistant called no tool"]


def calls_of(messages: Sequence[Message]) -> Iterator[Call]:
    """The calls of a dialogue, in the order in which they were made."""
    for turn, message in enumerate(messages):
        for call, result in calls_with_results(message.path):
            if call is not None:
                yield _call(call, result, turn)


def call_texts(message: Message) -> list[tuple[str, str | None]]:
    """Return each call of a turn as text with its result, and "(no call)" for a result without a call."""
    done = [
        (repr(_call(call, result, 0)) if call is not None else "(no call)", result)
        for call, result in calls_with_results(message.path)
    ]
    return [*done, *([(f"({message.left_out:,} more, not kept)", None)] if message.left_out else ())]


def call_lines(message: Message, longest: int = 300) -> list[str]:
    """The same, a line a call, the call and the result each cut to `longest` characters."""
    texts = ((text for text in pair if text is not None) for pair in call_texts(message))
    return [" -> ".join(cut_line(one_line(text), longest) for text in pair) for pair in texts]


def call_line(call: Call) -> str:
    return f"{call!r}" + (f" -> {one_line(call.result)}" if call.result is not None else "")


def _call(call: ToolCall, result: str | None, turn: int) -> Call:
    text = call.function.arguments
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    return Call(call.function.name, arguments if isinstance(arguments, dict) else {}, text, result, turn)


def _listed(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
