"""Calls the assistant under test, sync or async, with a time limit.

All async calls use one event loop for the whole session.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import inspect
import signal
import sys
import threading
import time
from collections.abc import AsyncIterable, Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import AssistantFault, SpecError, error_text
from pytest_personalens.core.stream import awaited, drained
from pytest_personalens.core.threads import ThreadBeside

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Collection
    from types import FrameType, TracebackType

    from pytest_personalens.core.scenario import Context

_BESIDE: Final = ThreadBeside()
#: Folders of the library code between an async assistant, or one in another thread, and this package.
_LOOP: Final = (str(Path(futures.__file__).parent), str(Path(functools.__file__).parent / "asyncio"))


class _OutOfTime(BaseException):
    """Raised inside an assistant that took too long.

    It is a `BaseException`, so that an `except Exception` of the assistant does not swallow it.
    """


class EventLoop:
    """One event loop in a daemon thread, which starts at the first call.

    A client of an async assistant is bound to the loop of the turn that made it. A new loop for each turn
    would break the client.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def run(self, awaitable: Awaitable[Any], timeout: float) -> Any:
        """Return the result of the awaitable.

        Cancel it after `timeout` seconds, and raise `TimeoutError`.
        """
        import asyncio  # a sync assistant does not need it

        with self._lock:
            if self._loop is None:
                self._loop, self._ended = asyncio.new_event_loop(), threading.Event()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop, self._ended), name="personalens-loop", daemon=True
                )
                self._thread.start()
            loop = self._loop

        async def limited() -> Any:
            return await asyncio.wait_for(awaitable, timeout)

        future = asyncio.run_coroutine_threadsafe(limited(), loop)
        try:
            # The extra second is for a task that ignores its cancellation.
            return future.result(timeout + 1)
        except TimeoutError:
            if not future.done():
                self._abandon(loop)
            raise

    def _abandon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Abandon a blocked loop.

        The next call gets a new loop, and does not wait for this one.
        """
        with self._lock:
            if self._loop is loop:
                self._ended.set()
                self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)

    def close(self) -> None:
        """Stop the loop.

        A task that still runs is abandoned with its daemon thread.
        """
        self._ended.set()
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=1)
            if not self._thread.is_alive():
                self._loop.close()
            self._loop = self._thread = None


def _run(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
    """Run the loop until the session ends, even if an assistant exits or stops it.

    One assistant's exit must not end the calls of others.
    """
    while not ended.is_set():
        # The caller of the assistant gets the exit too, and passes it on.
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


def import_assistant(spec: str, base: Path) -> Callable[[Any], Any]:
    """Return the callable in ``module:attribute``, imported from the folder `base`.

    Raise `SpecError` if there is none.
    """
    module, colon, attribute = spec.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), *attribute.split(".")]):
        raise SpecError(
            f"--personalens-assistant: expected bedrock:MODEL, openai:MODEL, http:URL,"
            f" bedrock-agent:AGENT/ALIAS, agentcore:ARN or module:attribute, not {spec!r}"
        )
    if str(base) not in sys.path:
        sys.path.insert(0, str(base))
    try:
        assistant: Any = importlib.import_module(module)
    except Exception as error:  # an import may raise anything
        raise SpecError(f"--personalens-assistant: cannot import {module!r}: {error_text(error)}") from None
    place = module
    for name in attribute.split("."):
        if not hasattr(assistant, name):
            from difflib import get_close_matches

            near = get_close_matches(name, dir(assistant), 1)
            raise SpecError(
                f"--personalens-assistant: {place} has no {name!r}"
                + (f"; did you mean {near[0]!r}?" if near else "")
            )
        assistant, place = getattr(assistant, name), f"{place}.{name}"
    if not callable(assistant):
        raise SpecError(
            f"--personalens-assistant: {place} is {type(assistant).__name__}, which cannot be"
            f" called{how_to_call(assistant)}"
        )
    return assistant  # type: ignore[no-any-return]


def how_to_call(value: object) -> str:
    """Return a hint if a framework's agent has a method instead of a call."""
    method = next(
        (
            name
            for name in ("invoke", "run_sync", "run", "kickoff")
            if callable(getattr(type(value), name, None))
        ),
        "",
    )
    return f"; write a function that calls its .{method}(...) and returns the reply's text" if method else ""


def guarded(
    assistant: Callable[..., Any],
    *,
    timeout: float,
    loop: EventLoop,
    context: Context | None = None,
    before: Callable[[], None] = lambda: None,
    raised: list[Exception] | None = None,
) -> Callable[[Any], Any]:
    """Return `assistant` as a sync callable with a time limit.

    The callable raises `AssistantFault` if a reply takes longer than `timeout` seconds. A stream is read to
    its end within that time.

    An assistant with a parameter `context` gets it with every call. The function calls `before` ahead of each
    call; `before` may refuse the call with a `PersonalensError`. Every exception of the assistant is also
    added to `raised`.

    A sync assistant runs in the calling thread if a signal can interrupt it there. The reason is that
    database connections and test clients are often bound to the thread that made them. Elsewhere all its
    calls for one thread run in one other thread.
    """
    if takes_context(assistant):
        assistant = functools.partial(assistant, context=context)
    is_async = inspect.iscoroutinefunction(assistant)

    def keep(error: Exception) -> None:
        if raised is not None:
            raised.append(error)

    def to_its_end(messages: Any) -> Any:
        return drained(assistant(messages))

    def left(started: float) -> float:
        return max(0.001, timeout - (time.monotonic() - started))

    def call(messages: Any) -> Any:
        before()
        started = time.monotonic()
        try:
            # A call of an async function does not run its code yet.
            reply = assistant(messages) if is_async else _call(to_its_end, messages, timeout)
            if inspect.isawaitable(reply) or isinstance(reply, AsyncIterable):
                reply = loop.run(awaited(reply), left(started))
            if isinstance(reply, Iterator):
                reply = _call(drained, reply, left(started))
        except (_OutOfTime, TimeoutError):
            # A timeout of the assistant itself (of its database, for example) is an error like any other.
            if time.monotonic() - started < timeout:
                raise
            raise AssistantFault(
                f"the assistant did not answer within {timeout:g} s (personalens_turn_timeout)"
            ) from None
        except RuntimeError as error:
            if "different loop" in str(error) or "different event loop" in str(error):
                raise AssistantFault(
                    f"the assistant uses an object bound to another event loop ({error}); create its async"
                    " client on first use, inside the call, and not in an async fixture"
                ) from error
            keep(error)
            raise
        except Exception as error:
            keep(error)
            raise
        return reply

    return call


def takes_context(assistant: Callable[..., Any]) -> bool:
    """True if the assistant gets its context with each call."""
    return "context" in _parameters(assistant)


def own_traceback(error: BaseException) -> TracebackType | None:
    """Return the traceback from the first line outside this package.

    Return None if the call failed before the assistant's first line.
    """
    trace, package = error.__traceback__, str(Path(__file__).parent.parent)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((package, *_LOOP)):
        trace = trace.tb_next
    return trace


def _parameters(assistant: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(assistant).parameters
    except (TypeError, ValueError):  # some callables in C have no signature
        return ()


def _call(assistant: Callable[[Any], Any], messages: Any, timeout: float) -> Any:
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        started = time.monotonic()
        with _alarm(timeout) as debugged:
            reply = assistant(messages)
        if not debugged and time.monotonic() - started > timeout:
            raise _OutOfTime  # the assistant swallowed the alarm (a bare `except:`), or set or ignored it
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
    """Raise `_OutOfTime` in the body of the `with` statement when the time is over.

    In a debugger, nothing is raised. The yielded list is then not empty.
    """
    debugged: list[bool] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        if _in_debugger(frame):  # a person uses the debugger and needs time
            signal.setitimer(signal.ITIMER_REAL, 0)
            debugged.append(True)
            return
        raise _OutOfTime

    if 0 < signal.getitimer(signal.ITIMER_REAL)[0] < timeout:
        # Another timer (of pytest-timeout, for example) ends the item before ours would.
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
        raise _OutOfTime
    return reply.result()
