"""Asks a function of the team, sync or async, something beside the dialogue, within a time limit."""

from __future__ import annotations

import inspect
import time
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from pytest_personalens.core.dialogue.dialogue import describe_exception
from pytest_personalens.core.errors import AssistantFault, faults_of
from pytest_personalens.engine.assistant.time_limit import OutOfTime, call_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.engine.assistant.event_loop import EventLoop


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
