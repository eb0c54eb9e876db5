"""The tool calls of a dialogue, parsed, and a matcher for tests that assert them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.core.dialogue.message import calls_with_results
from pytest_personalens.core.safe_text import cut_line, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message, ToolCall


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
