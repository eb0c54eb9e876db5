"""Makes the assistant under test, sync or async, a sync callable with a time limit."""

from __future__ import annotations

import functools
import inspect
import re
import time
from collections.abc import AsyncIterable, Iterator
from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.reply import await_reply, read_stream
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.engine.assistant.time_limit import OutOfTime, call_within

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.assistant.event_loop import EventLoop

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

    def call_to_the_end(messages: Any) -> Any:
        return read_stream(assistant(messages), began)

    def remaining(started: float) -> float:
        return max(0.001, timeout - (time.monotonic() - started))

    def call(messages: Any) -> Any:
        before()
        started = time.monotonic()
        try:
            # A call of an async function does not run its code yet.
            reply = assistant(messages) if begins_nothing else call_within(call_to_the_end, messages, timeout)
            if inspect.isawaitable(reply) or isinstance(reply, AsyncIterable):
                reply = loop.run(await_reply(reply, began), remaining(started))
            if isinstance(reply, Iterator):
                reply = call_within(functools.partial(read_stream, began=began), reply, remaining(started))
        except (OutOfTime, TimeoutError):
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
