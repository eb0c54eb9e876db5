"""A message of a dialogue, with the tool calls that the assistant made for it, as OpenAI's protocol writes
them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from pytest_personalens.core.scenario import Frozen, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Role = Literal["user", "assistant", "tool"]
#: The messages so far, as an assistant is called with them.
AssistantMessages = list[dict[str, Any]]

#: Fields of a message that only an assistant with tools has.
_OF_TOOLS: Final = ("tool_calls", "tool_call_id", "steps", "left_out")


class Function(Frozen):
    """The tool that was called, and its arguments as the text that the assistant sent (JSON, if it is well
    formed).
    """

    name: Text
    arguments: Text = ""


class ToolCall(Frozen):
    """One call of a tool; `id` ties it to the message with its result."""

    id: Text = ""
    type: Literal["function"] = "function"
    function: Function


class Message(Frozen):
    """One turn of a dialogue, or one step of the assistant on its way to a turn.

    A turn is what is said: its role is user or assistant. What an assistant did before it said it stands in
    the turn's `steps`: its messages with `tool_calls`, and a message of role tool with the content of each
    result. `steps` is None where the assistant returned one text or message, and empty where it returned a
    list that holds nothing else: then it says that it called no tool. `left_out` counts the calls that were
    too many to be kept. None of these fields is stored where it says nothing.
    """

    role: Role
    content: Text
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: Text = ""
    steps: tuple[Message, ...] | None = None
    left_out: int = Field(default=0, ge=0)

    @model_serializer(mode="wrap")
    def _without_what_says_nothing(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The records of assistants that return text stay as they were, to the byte.
        data: dict[str, Any] = serialize(self)
        return {
            name: value
            for name, value in data.items()
            if name not in _OF_TOOLS or value or (name == "steps" and value is not None)
        }

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if value or name not in _OF_TOOLS)

    @property
    def path(self) -> tuple[Message, ...]:
        """The steps and the turn itself, in the order in which the assistant made them."""
        return (*(self.steps or ()), self)

    @property
    def acts(self) -> bool:
        """True where the turn tells which tools the assistant called, be it none."""
        return self.steps is not None or bool(self.tool_calls)

    @property
    def calls(self) -> int:
        """Number of tool calls of the turn, with those that were not kept."""
        return sum(len(m.tool_calls) for m in self.path) + self.left_out

    @property
    def said(self) -> Message:
        """The turn as the user hears it, without the calls."""
        return Message(role=self.role, content=self.content) if self.acts else self

    def returned(self) -> object:
        """What an assistant may have returned for this turn: a text, a message, or a list of messages."""
        if not self.acts:
            return self.content
        messages = [_plain(message) for message in self.path]
        return messages[-1] if self.steps is None else messages


def _plain(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["tool_calls"] = [call.model_dump() for call in message.tool_calls]
    return data | ({"tool_call_id": message.tool_call_id} if message.role == "tool" else {})


def texts(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages as the user hears them."""
    return tuple(message.said for message in messages)


def numbered(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with the ids of their calls as numbers: frameworks draw new ids in every run.

    Two dialogues that differ in nothing else are the same evidence.
    """
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


def folded(messages: Iterable[Message]) -> list[Message]:
    """Messages that stand one after another, as the OpenAI protocol has them, with the steps of each turn in
    the turn.

    Raises ValueError where calls or results are followed by no text of the assistant.
    """
    turns: list[Message] = []
    steps: list[Message] = []
    for message in messages:
        if message.role == "tool" or (message.tool_calls and not message.content.strip()):
            steps.append(message)
        elif steps and message.role == "user":
            break
        else:
            turns.append(message.model_copy(update={"steps": tuple(steps)}) if steps else message)
            steps = []
    if steps:
        raise ValueError(f"the {steps[-1].role} message after message {len(turns) - 1} has no reply after it")
    return turns


def results(messages: Iterable[Message]) -> Iterator[tuple[ToolCall | None, str | None]]:
    """Each call of a turn's path with its result, in order; None for a result that is not there, and for the
    call of a result that no call asked for.
    """
    path = list(messages)
    found = [(m.tool_call_id, m.content) for m in path if m.role == "tool"]
    wanted = Counter(call.id for m in path for call in m.tool_calls)
    for message in path:
        for call in message.tool_calls:
            place = next((i for i, (name, _) in enumerate(found) if name == call.id), None)
            yield call, None if place is None else found.pop(place)[1]
        if message.role == "tool" and not wanted[message.tool_call_id]:
            yield None, message.content
