"""Measures how long the assistant takes for each reply, and for its first piece where it streams."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.dialogue.message import AssistantMessages, Message

#: Steps of a second in which times are kept. Below that they tell more of the machine than of the assistant.
_STEPS: Final = 10


class _Time(NamedTuple):
    reply: float
    first: float | None


class Stopwatch:
    """The times of the replies of one dialogue, in tenths of a second, rounded down.

    A reply that a record or an interrupted run repeats has none. Where `live` counts the calls that were not
    answered by a record, a reply is one of them only if the count rose.
    """

    def __init__(self, live: Callable[[], int] | None = None) -> None:
        self._live = live
        #: By session, and by the number of user messages that the assistant had got in it.
        self._times: dict[tuple[str, int], _Time] = {}
        self._started = 0.0
        self._first: float | None = None

    def piece(self) -> None:
        """Note that a piece of a streamed reply is there; only the first one counts."""
        if self._first is None:
            self._first = time.perf_counter() - self._started

    def timed(self, assistant: Any, session: str = "") -> Callable[[AssistantMessages], object]:
        """Return the assistant, whose replies in a session are measured from here on."""
        return _Timed(self, assistant, session)

    def call(
        self, assistant: Callable[[AssistantMessages], object], messages: AssistantMessages, session: str
    ) -> object:
        before = self._live() if self._live is not None else 0
        self._started, self._first = time.perf_counter(), None
        reply = assistant(messages)
        seconds = time.perf_counter() - self._started
        if self._live is not None and self._live() == before:
            return reply
        turn = sum(message["role"] == "user" for message in messages)
        self._times[session, turn] = _Time(seconds, self._first)
        return reply

    def of(self, messages: Sequence[Message]) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Return the time of each reply, and of its first piece, in their order; nothing if none has any."""
        asked: dict[str, int] = {}
        found: list[_Time | None] = []
        for message in messages:
            if message.role == "user":
                asked[message.session] = asked.get(message.session, 0) + 1
            else:
                found.append(self._times.get((message.session, asked.get(message.session, 0))))
        replies = tuple(one and _in_steps(one.reply) for one in found)
        first = tuple(None if one is None or one.first is None else _in_steps(one.first) for one in found)
        return replies if self._times else (), first if any(f is not None for f in first) else ()


class _Timed:
    """A callable assistant that keeps the identity of the one that it calls."""

    def __init__(self, watch: Stopwatch, assistant: Any, session: str) -> None:
        self._watch, self._assistant, self._session = watch, assistant, session
        self.identity = getattr(assistant, "identity", "")
        self.paid = getattr(assistant, "paid", False)

    def __call__(self, messages: AssistantMessages) -> object:
        return self._watch.call(self._assistant, messages, self._session)


def _in_steps(seconds: float) -> float:
    return int(seconds * _STEPS) / _STEPS
