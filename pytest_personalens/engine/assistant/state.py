"""Asks the team's system what it holds after a dialogue, within the time of a reply."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.core.dialogue.dialogue import describe_exception
from pytest_personalens.core.dialogue.state import State, read_state
from pytest_personalens.core.errors import AssistantFault, faults_of
from pytest_personalens.core.suite_names import STATE
from pytest_personalens.engine.assistant.asking import ask
from pytest_personalens.engine.assistant.assistant import takes_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.assistant.event_loop import EventLoop


def problem_of(state: object, settings: Settings) -> str:
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
