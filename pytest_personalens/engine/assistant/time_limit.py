"""Calls a sync assistant with a time limit, by a signal or in another thread."""

from __future__ import annotations

import contextvars
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.runtime.threads import ThreadBeside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_BESIDE: Final = ThreadBeside()


class OutOfTime(BaseException):
    """Raised inside an assistant that took too long.

    It is a `BaseException`, so that an `except Exception` of the assistant does not swallow it.
    """


def call_within(assistant: Callable[[Any], Any], messages: Any, timeout: float) -> Any:
    """Return the reply of a sync assistant, or of anything else that takes the messages.

    Raise `OutOfTime` after `timeout` seconds. A signal interrupts the call in the main thread, where the
    platform has one. Elsewhere the call runs in another thread and is left behind.
    """
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        started = time.monotonic()
        with _alarm(timeout) as debugged:
            reply = assistant(messages)
        if not debugged and time.monotonic() - started > timeout:
            raise OutOfTime  # the assistant swallowed the alarm (a bare `except:`), or set or ignored it
        return reply
    return _call_in_thread(assistant, messages, timeout)


def _in_debugger(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in ("pdb", "bdb"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _alarm(timeout: float) -> Iterator[list[bool]]:
    """Raise `OutOfTime` in the body of the `with` statement when the time is over.

    In a debugger, nothing is raised. The yielded list is then not empty.
    """
    debugged: list[bool] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        if _in_debugger(frame):  # a person uses the debugger and needs time
            signal.setitimer(signal.ITIMER_REAL, 0)
            debugged.append(True)
            return
        raise OutOfTime

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


def _call_in_thread(assistant: Callable[[Any], Any], messages: Any, timeout: float) -> Any:
    reply = _BESIDE.call(timeout, contextvars.copy_context().run, assistant, messages)
    if reply is None:
        raise OutOfTime
    return reply.result()
