"""Calls a sync assistant with a time limit, by a signal or in another thread."""

from __future__ import annotations

import contextvars
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.runtime import ThreadBeside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_BESIDE: Final = ThreadBeside()


class OutOfTime(BaseException):
    """Raised in a slow assistant; a `BaseException`, so that its `except Exception` does not swallow it."""


def call_within(assistant: Callable[[Any], Any], messages: Any, timeout: float) -> Any:
    """Return the reply of a sync assistant, or raise `OutOfTime` after `timeout` seconds.

    A signal interrupts the call in the main thread, where the platform has one. Elsewhere the call runs in
    another thread and is left behind.
    """
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        started = time.monotonic()
        with _alarm(timeout) as debugged:
            reply = assistant(messages)
        if not debugged and time.monotonic() - started > timeout:
            raise OutOfTime  # the assistant swallowed the alarm (a bare `except:`), or set or ignored it
        return reply
    call = _BESIDE.call(timeout, contextvars.copy_context().run, assistant, messages)
    if call is None:
        raise OutOfTime
    return call.result()


@contextmanager
def _alarm(timeout: float) -> Iterator[list[bool]]:
    """Raise `OutOfTime` in the body when the time is over; in a debugger, fill the yielded list instead."""
    debugged: list[bool] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_globals.get("__name__") not in ("pdb", "bdb"):
            frame = frame.f_back
        if frame is None:
            raise OutOfTime
        signal.setitimer(signal.ITIMER_REAL, 0)  # a person uses the debugger and needs time
        debugged.append(True)

    if 0 < signal.getitimer(signal.ITIMER_REAL)[0] < timeout:
        # Another timer (of pytest-timeout, for example) ends the item first.
        yield debugged
        return
    previous = signal.signal(signal.SIGALRM, stop)
    # The interval repeats the alarm, for code that swallows even BaseException.
    outer, _ = signal.setitimer(signal.ITIMER_REAL, timeout, 1.0)
    started = time.monotonic()
    try:
        yield debugged
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if outer:
            # Another timer (of pytest-timeout, for example) continues with the time that it had left.
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - started)))
