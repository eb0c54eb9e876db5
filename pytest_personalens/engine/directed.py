"""A dialogue whose user a test directs: fixed messages beside simulated ones, and each reply in the test."""

from __future__ import annotations

import contextvars
import queue
import threading
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pytest_personalens.core.dialogue.dialogue import Message, UserAgent

Played = TypeVar("Played")
#: What a test may want of the user beside a message of its own: one simulated turn, all of them, or none.
SIMULATED: Final = object()
_TO_THE_END: Final = object()
_NO_MORE: Final = object()


class Directed(Generic[Played]):
    """A dialogue in a thread of its own, which waits before each turn of the user for an order of the test.

    `play` plays it: it gets a function that puts the orders before a user agent, and its result is that of
    `finish`.
    """

    def __init__(self, play: Callable[[Callable[[UserAgent], UserAgent]], Played]) -> None:
        self._orders: queue.SimpleQueue[object] = queue.SimpleQueue()
        #: Replies of the assistant, each to an order; None once the dialogue is over.
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._play, self._played, self._error = play, list[Played](), list[BaseException]()
        self._alone = False
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)
        self._thread.start()

    def ask(self, order: object) -> str | None:
        """Return the reply to a message, or to a `SIMULATED` one; None if the dialogue ended instead."""
        if self.over:
            return None
        self._orders.put(order)
        return self._replies.get()

    def finish(self) -> Played:
        """Let the simulated user go on to the end, and return what was played."""
        self._orders.put(_TO_THE_END)
        self._thread.join()
        if self._error:
            raise self._error[0]
        return self._played[0]

    def leave(self) -> None:
        """End the dialogue where it is; nothing if it has ended."""
        self._orders.put(_NO_MORE)
        self._thread.join()

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def user(self, agent: UserAgent) -> UserAgent:
        """Return the user agent that takes the orders, and asks `agent` for its simulated turns."""
        return _DirectedUser(agent, self._next)

    def _next(self, transcript: Sequence[Message]) -> object:
        if self._alone:
            return SIMULATED
        if transcript:
            self._replies.put(transcript[-1].content)
        order = self._orders.get()
        if order is _NO_MORE:
            raise Stopped("the test has ended")
        if order is _TO_THE_END:
            self._alone, order = True, SIMULATED
        return order

    def _run(self) -> None:
        try:
            self._played.append(self._play(self.user))
        except BaseException as error:  # raised again in the test
            self._error.append(error)
        finally:
            self._replies.put(None)


class _DirectedUser:
    def __init__(self, agent: UserAgent, order: Callable[[Sequence[Message]], object]) -> None:
        self.identity, self.paid = agent.identity, agent.paid
        self.keeps_empty = getattr(agent, "keeps_empty", False)
        self._agent, self._order = agent, order

    def turn(self, scenario: Any, transcript: Sequence[Message]) -> UserTurn:
        order = self._order(transcript)
        return UserTurn(order) if isinstance(order, str) else self._agent.turn(scenario, transcript)
