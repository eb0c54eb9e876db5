"""Fixtures of a team beside its assistant: its memory, its memory store, and the state of its system."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError, Future
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.dialogue import describe_exception
from pytest_personalens.core.dialogue.state import MemoryStore, State, read_state
from pytest_personalens.core.errors import AssistantFault, faults_of
from pytest_personalens.core.names import MEMORY, STATE, STORE
from pytest_personalens.engine.assistant.assistant import OutOfTime, call_within, guarded, takes_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.facts import Session, StoreLook
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import BaseScenario, Context
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


def problem_of_memory(memory: object, scope: str, *, travels: bool) -> str:
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


#: Seconds between two calls of a `settled` that returns False.
_PAUSE: Final = 0.1
#: Entries of one user that are read.
_MOST: Final = 100_000


def problem_of_store(store: object, *, travels: bool) -> str:
    """Return why a run cannot use a store, in one line; empty if it can. It `travels` to a cluster."""
    fixture = f"personalens: the fixture {STORE}"
    if not isinstance(store, MemoryStore):
        return (
            f"{fixture} returned {type(store).__name__}; it must return"
            " pytest_personalens.MemoryStore(settled=..., read=..., all=...)"
        )
    if problem := store.problem():
        return f"{fixture} returned a MemoryStore that {problem}"
    if travels:
        reach = "is of this process, and the workers of personalens_executor do not reach it"
        return f"{fixture} {reach}; leave one of them out"
    return ""


class StoreVisit:
    """The visits of one dialogue to the store. `timeout` is that of a reply, for reading."""

    def __init__(
        self, store: MemoryStore, *, timeout: float, loop: EventLoop, before: Callable[[], None]
    ) -> None:
        self._store, self._timeout, self._loop, self._before = store, timeout, loop, before
        self._last: Context | None = None
        #: Seconds of each wait.
        self.waited: list[float] = []
        self.look: StoreLook | None = None

    def begin_session(self, scenario: BaseScenario, context: Context) -> None:
        """Wait until the session before this one is stored, and look into the store before the last one."""
        if self._last is not None and self._store.settled is not None:
            started = time.monotonic()
            self._settle(self._last)
            self.waited.append(round(time.monotonic() - started, 3))
        self._last = context
        read, every = self._store.read, self._store.all
        questions = scenario.questions_to_store(context.session)
        if questions and (read is not None or every is not None):
            entries = self._texts("all", every, context) if every is not None else None
            found = None
            if read is not None:
                found = [
                    text for question in questions for text in self._texts("read", read, context, question)
                ]
            self.look = scenario.look_into_store(entries, found)

    def _settle(self, context: Context) -> None:
        limit = self._store.within
        end = time.monotonic() + limit
        while True:
            self._before()
            left = max(0.001, end - time.monotonic())
            settled = self._ask("settled", self._store.settled, context, timeout=left, limit=limit)
            if settled is None or settled is True:
                return
            if settled is not False:
                raise AssistantFault(
                    f"{STORE}: settled returned {type(settled).__name__}; it must return nothing once all is"
                    " stored, or else False"
                )
            if time.monotonic() + _PAUSE >= end:
                raise AssistantFault(f"{STORE}: {_TOO_LATE.format('settled', limit)}")
            time.sleep(_PAUSE)

    def _texts(self, name: str, function: Any, *arguments: Any) -> list[str]:
        self._before()
        limits = {"timeout": self._timeout, "limit": self._timeout}
        value = self._ask(name, function, *arguments, **limits)
        if isinstance(value, str):
            return [value]
        kind, where = type(value).__name__, ""
        if isinstance(value, Iterable) and not isinstance(value, (bytes, dict)):
            # A generator makes its entries only now, and may never end.
            texts: list[Any] = self._ask(name, list, islice(value, _MOST + 1), **limits)
            if len(texts) > _MOST:
                raise AssistantFault(f"{STORE}: {name} returned more than {_MOST:,} entries")
            wrong = next((n for n, text in enumerate(texts) if not isinstance(text, str)), None)
            if wrong is None:
                return texts
            kind, where = type(texts[wrong]).__name__, f" at place {wrong}"
        raise AssistantFault(
            f"{STORE}: {name} returned {kind}{where}; it must return a text, or a list of a text for each"
            " entry"
        )

    def _ask(self, name: str, function: Any, *arguments: Any, timeout: float, limit: float) -> Any:
        return ask(
            lambda: function(*arguments),
            who=f"{STORE}: {name}",
            timeout=timeout,
            loop=self._loop,
            too_late=f"{STORE}: {_TOO_LATE.format(name, limit)}",
        )


_TOO_LATE: Final = "{} did not end within {:g} s"


def problem_of_state(state: object, settings: Settings) -> str:
    """Return why a run with these settings cannot use a state, in one line; empty if it can."""
    fixture = f"personalens: the fixture {STATE}"
    if not (callable(state) or isinstance(state, Mapping)):
        is_async = type(state).__name__ in ("coroutine", "async_generator")
        hint = "; write the fixture as a plain function, not 'async def'" if is_async else ""
        return (
            f"{fixture} returned {type(state).__name__}; it must return a mapping, or a callable that"
            f" returns one{hint}"
        )
    if settings.must_share and not knows_whose(state):
        return (
            f"{fixture} must return a callable with a parameter `context` under personalens_parallel ="
            f" {str(settings.parallel).lower()}: of dialogues side by side, it must know whose state is"
            " asked for"
        )
    return ""


def knows_whose(state: object) -> bool:
    """True if a state can be asked for while dialogues run side by side: it is told which one is meant."""
    return callable(state) and takes_context(state)


class StateSource(NamedTuple):
    """Where the team's system tells its state: a mapping, or a sync or async callable that returns one.

    `fields` says which of its fields is which fact.
    """

    given: Any
    fields: Mapping[str, tuple[str, ...]]

    def taker(
        self, context: Context, *, timeout: float, loop: EventLoop, before: Callable[[], None]
    ) -> Callable[[Dialogue], State]:
        """Return a function that asks for the state after a dialogue.

        It raises `AssistantFault` for a callable that raises or takes longer than `timeout` seconds, and for
        what is no mapping of plain values.
        """
        given = self.given
        if callable(given) and takes_context(given):
            given = functools.partial(given, context=context)

        def take(dialogue: Dialogue) -> State:
            before()
            value = ask(
                lambda: given() if callable(given) else given,
                who=STATE,
                timeout=timeout,
                loop=loop,
                too_late=f"{STATE} did not answer within {timeout:g} s (personalens_turn_timeout)",
            )
            with faults_of(STATE, AssistantFault, describe_exception):
                return State(data=read_state(value), fields=dict(self.fields))

        return take
