"""Hands each user's past conversations to the memory of the assistant under test, once a user."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.core.dialogue.dialogue import describe_exception
from pytest_personalens.core.errors import AssistantFault, faults_of
from pytest_personalens.core.suite_names import MEMORY
from pytest_personalens.engine.assistant.assistant import OutOfTime, call_within, guarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.facts import Session
    from pytest_personalens.engine.assistant.assistant import EventLoop


def ask(call: Callable[[], Any], *, who: str, timeout: float, loop: EventLoop, too_late: str) -> Any:
    """Return what `call` returns, awaited if it is async.

    Raise `AssistantFault` if it raises, which says `who` did, and with the text `too_late` if it takes longer
    than `timeout` seconds.
    """
    started = time.monotonic()
    with faults_of(who, AssistantFault, describe_exception):
        try:
            value = call_within(lambda _: call(), None, timeout)
            if inspect.isawaitable(value):
                value = loop.run(value, max(0.001, timeout - (time.monotonic() - started)))
            return value
        except (OutOfTime, TimeoutError, CancelledError):
            # One of the function itself (of its database, for example) is an error like any other.
            if time.monotonic() - started < timeout:
                raise
            raise AssistantFault(too_late) from None


def problem_of(memory: object, scope: str, *, travels: bool) -> str:
    """Return why a run cannot use a memory, in one line; empty if it can. It `travels` to a cluster."""
    fixture = f"personalens: the fixture {MEMORY}"
    if not callable(memory):
        return (
            f"{fixture} returned {type(memory).__name__}; it must return a callable, sync or async, that"
            " takes a user and a list of sessions"
        )
    if scope == "function":
        return (
            f"{fixture} must have scope 'session' or 'module', because it is called once a user and not once"
            " a scenario"
        )
    if travels and not name_of(memory):
        return f"{fixture}: under personalens_executor, return a function of a module that workers can import"
    return ""


def name_of(take: object) -> str:
    """Return ``module:attribute`` of a function that other machines can import; else an empty text."""
    module, name = (str(getattr(take, field, "")) for field in ("__module__", "__qualname__"))
    can_import = module != "conftest" and getattr(sys.modules.get(module), name, None) is take
    return f"{module}:{name}" if can_import else ""


class Memory:
    """The team's memory: a callable, sync or async, that takes a user's id and a list of sessions.

    It has the time of a reply for each session. Several threads call it once a user all the same, for several
    users at the same time.
    """

    def __init__(
        self, take: Callable[..., Any], *, timeout: float, loop: EventLoop, before: Callable[[], None]
    ) -> None:
        self.name = name_of(take)
        self._take, self._timeout, self._loop, self._before = take, timeout, loop, before
        self._handed: dict[str, Future[None]] = {}
        self._lock = threading.Lock()

    def hand_over(self, user: str, past: Callable[[], tuple[Session, ...]]) -> None:
        """Call the memory for this user if nobody has; else wait until that call has ended.

        Raise `AssistantFault`, for each dialogue of the user, if the call failed or took too long.
        """
        with self._lock:
            is_first = user not in self._handed
            handed = self._handed.setdefault(user, Future())
        if is_first:
            try:
                self._call(user, past())
            except BaseException as error:
                handed.set_exception(error)
                raise
            handed.set_result(None)
        handed.result()

    def _call(self, user: str, sessions: tuple[Session, ...]) -> None:
        if not sessions:
            return
        limit = self._timeout * len(sessions)
        call = guarded(
            lambda past: self._take(user, past), timeout=limit, loop=self._loop, before=self._before
        )
        with faults_of(MEMORY, AssistantFault, describe_exception):
            try:
                call(list(sessions))
            except AssistantFault as error:
                raise AssistantFault(f"{MEMORY}: {error}") from error


class UserPast(NamedTuple):
    """A user's past conversations, and the memory that must have them before the user's dialogues."""

    memory: Memory
    user: str
    past: Callable[[], tuple[Session, ...]]

    def first(self, assistant: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the assistant as one that is called after its memory has the past."""

        def call(messages: Any) -> Any:
            self.memory.hand_over(self.user, self.past)
            return assistant(messages)

        return call
