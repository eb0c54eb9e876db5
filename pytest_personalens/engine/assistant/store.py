"""Waits for the team's memory store after each session, and looks into it before the last."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.state import MemoryStore
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.core.suite_names import STORE
from pytest_personalens.engine.assistant.memory import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.facts import StoreLook
    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.engine.assistant.assistant import EventLoop

#: Seconds between two calls of a `settled` that returns False.
_PAUSE: Final = 0.1
#: Entries of one user that are read.
_MOST: Final = 100_000


def problem_of(store: object, *, travels: bool) -> str:
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
