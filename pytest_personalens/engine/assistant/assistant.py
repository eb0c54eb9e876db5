"""The assistant under test: imported, called within a time limit, sync or async, and timed."""

from __future__ import annotations

import contextvars
import functools
import importlib
import inspect
import re
import signal
import sys
import threading
import time
from collections.abc import AsyncIterable, Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.reply import await_reply, read_stream
from pytest_personalens.core.errors import AssistantFault, SpecError, error_text
from pytest_personalens.core.runtime import ThreadBeside

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping
    from types import FrameType, TracebackType

    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.scenario import Context


def import_assistant(spec: str, base: Path) -> Callable[[Any], Any]:
    """Return the callable in ``module:attribute``, imported from the folder `base`, or raise `SpecError`."""
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
        raise SpecError(
            f"--personalens-assistant: cannot import {module!r}: {error_text(error)}", code="PL307"
        ) from None
    place = module
    for name in attribute.split("."):
        if not hasattr(assistant, name):
            near = get_close_matches(name, dir(assistant), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SpecError(f"--personalens-assistant: {place} has no {name!r}{hint}", code="PL307")
        assistant, place = getattr(assistant, name), f"{place}.{name}"
    if not callable(assistant):
        raise SpecError(
            f"--personalens-assistant: {place} is {type(assistant).__name__}, which cannot be"
            f" called{how_to_call(assistant)}",
            code="PL307",
        )
    return assistant  # type: ignore[no-any-return]


def how_to_call(value: object) -> str:
    """Return a hint if a framework's agent has a method instead of a call."""
    for method in ("invoke", "run_sync", "run", "kickoff"):
        if callable(getattr(type(value), method, None)):
            return f"; write a function that calls its .{method}(...) and returns the reply's text"
    return ""


class EventLoop:
    """One event loop in a daemon thread, which starts at the first call.

    A client of an async assistant is bound to the loop that it was made in, so all turns share one.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def run(self, awaitable: Awaitable[Any], timeout: float) -> Any:
        """Return the result of the awaitable; cancel it after `timeout` seconds, and raise `TimeoutError`."""
        import asyncio  # a sync assistant does not need it

        with self._lock:
            if self._loop is None:
                self._loop, self._ended = asyncio.new_event_loop(), threading.Event()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop, self._ended), name="personalens-loop", daemon=True
                )
                self._thread.start()
            loop = self._loop

        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(awaitable, timeout), loop)
        try:
            # The extra second is for a task that ignores its cancellation.
            return future.result(timeout + 1)
        except TimeoutError:
            if not future.done():
                self._abandon(loop)
            raise

    def _abandon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Abandon a blocked loop, so that the next call gets a new one."""
        with self._lock:
            if self._loop is loop:
                self._ended.set()
                self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)

    def close(self) -> None:
        """Stop the loop, and abandon a task that still runs with its daemon thread."""
        self._ended.set()
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=1)
            self._loop = self._thread = None


def _run(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
    """Run the loop until it is ended, even if one assistant exits or stops it, and close it."""
    while not ended.is_set():
        # The caller of the assistant gets the exit too, and passes it on.
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
    loop.close()


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

    def __init__(self) -> None:
        self.live: Callable[[], int] | None = None
        #: By session, and by the number of user messages that the assistant had got in it.
        self._times: dict[tuple[str, int], _Time] = {}
        self._started = 0.0
        self._first: float | None = None

    def piece(self) -> None:
        """Note that a piece of a streamed reply is there; only the first one counts."""
        if self._first is None:
            self._first = time.perf_counter() - self._started

    def timed(self, assistant: Any, session: str = "") -> Callable[[AssistantMessages], object]:
        """Return the assistant, with its identity, whose replies in a session are measured from here on."""

        def call(messages: AssistantMessages) -> object:
            before = self.live() if self.live is not None else 0
            self._started, self._first = time.perf_counter(), None
            reply = assistant(messages)
            seconds = time.perf_counter() - self._started
            if self.live is None or self.live() != before:
                turn = [message["role"] for message in messages].count("user")
                self._times[session, turn] = _Time(seconds, self._first)
            return reply

        call.identity = getattr(assistant, "identity", "")  # type: ignore[attr-defined]
        return call

    def timing(self, evaluation: Evaluation, beside: Mapping[str, object] | None = None) -> Evaluation:
        """Return the evaluation with the time of each reply, and of its first piece, and with more fields."""
        found: list[_Time | None] = []
        asked: dict[str, int] = {}
        for message in evaluation.dialogue.messages if self._times else ():
            if message.role == "user":
                asked[message.session] = asked.get(message.session, 0) + 1
            else:
                found.append(self._times.get((message.session, asked.get(message.session, 0))))
        update = dict(beside or {})
        if found:
            update["latencies"] = tuple([one and int(one.reply * _STEPS) / _STEPS for one in found])
        if any(one is not None and one.first is not None for one in found):
            first = [one and one.first for one in found]
            update["first_pieces"] = tuple([time and int(time * _STEPS) / _STEPS for time in first])
        return evaluation.model_copy(update=update) if update else evaluation


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


#: Folders of the library code between an async assistant, or one in another thread, and this package.
_LOOP: Final = (str(Path(futures.__file__).parent), str(Path(functools.__file__).parent / "asyncio"))
#: What is wrong with an assistant in a suite whose assistant has a memory of its own.
WITHOUT_CONTEXT: Final = (
    "without a parameter 'context', which tells the user and the session of an arc; write reply(messages,"
    " context)"
)


#: What asyncio and its libraries say of an object of a loop that is another one, or closed.
_OTHER_LOOP: Final = re.compile(r"different (?:event )?loop|event loop is closed", re.IGNORECASE)


def guarded(
    assistant: Callable[..., Any],
    *,
    timeout: float,
    loop: EventLoop,
    context: Context | None = None,
    before: Callable[[], None] = lambda: None,
    raised: list[Exception] | None = None,
    began: Callable[[], None] = lambda: None,
) -> Callable[[Any], Any]:
    """Return `assistant` as a sync callable that raises `AssistantFault` after `timeout` seconds.

    Streams are read to their end within that time. An assistant with a parameter `context` gets it with
    every call. `before` runs ahead of each call and may refuse it with a `PersonalensError`. Every exception
    of the assistant is also added to `raised`. `began` runs at each piece of a streamed reply.

    A sync assistant runs in the calling thread if a signal can interrupt it there, because database
    connections and test clients are often bound to the thread that made them. Elsewhere all its calls for one
    thread run in one other thread.
    """
    if takes_context(assistant):
        assistant = functools.partial(assistant, context=context)
    begins_nothing = inspect.iscoroutinefunction(assistant)

    def remaining(started: float) -> float:
        return max(0.001, timeout - (time.monotonic() - started))

    def call(messages: Any) -> Any:
        before()
        started = time.monotonic()
        try:
            # A call of an async function does not run its code yet.
            reply = assistant(messages) if begins_nothing else call_within(assistant, messages, timeout)
            if inspect.isawaitable(reply) or isinstance(reply, AsyncIterable):
                reply = loop.run(await_reply(reply, began), remaining(started))
            if isinstance(reply, Iterator):
                reply = call_within(functools.partial(read_stream, began=began), reply, remaining(started))
        except (OutOfTime, TimeoutError, futures.CancelledError):
            # A timeout of the assistant itself (of its database, for example) is an error like any other.
            if time.monotonic() - started < timeout:
                raise
            raise AssistantFault(
                f"the assistant did not answer within {timeout:g} s (personalens_turn_timeout)"
            ) from None
        except Exception as error:
            if isinstance(error, (RuntimeError, ValueError)) and _OTHER_LOOP.search(str(error)):
                raise AssistantFault(
                    f"the assistant uses an object bound to another event loop ({error}); create its async"
                    " client on first use, inside the call, and not in an async fixture"
                ) from error
            if raised is not None:
                raised.append(error)
            raise
        return reply

    return call


def is_async(assistant: object) -> bool:
    """True for a coroutine function, an async generator function, or an object whose call is one."""
    call = getattr(type(assistant), "__call__", None)  # noqa: B004
    return any(map(inspect.iscoroutinefunction, (assistant, call))) or any(
        map(inspect.isasyncgenfunction, (assistant, call))
    )


def takes_context(assistant: Callable[..., Any]) -> bool:
    """True if the assistant gets its context with each call."""
    try:
        return "context" in inspect.signature(assistant).parameters
    except (TypeError, ValueError):  # some callables in C have no signature
        return False


def own_traceback(error: BaseException) -> TracebackType | None:
    """Return the traceback from the first line outside this package, or None if no call got there."""
    trace, package = error.__traceback__, str(Path(__file__).parents[2])
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((package, *_LOOP)):
        trace = trace.tb_next
    return trace
