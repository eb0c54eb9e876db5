"""Sync and async assistants, time limits, and the one event loop."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.engine.assistant.assistant import EventLoop, guarded


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    loop = EventLoop()
    yield loop
    loop.close()


class Bot:
    """A callable object with bound methods."""

    def __call__(self, messages: Any) -> str:
        return "object"

    def method(self, messages: Any) -> str:
        return "method"

    async def later(self, messages: Any) -> str:
        await asyncio.sleep(0)
        return "async"


def test_any_callable_will_do(loop: EventLoop) -> None:
    async def own_loop(messages: Any) -> object:
        return asyncio.get_running_loop()

    def called(assistant: Callable[[Any], Any]) -> object:
        return guarded(assistant, timeout=5, loop=loop)([])

    bot = Bot()
    answers = [called(assistant) for assistant in (bot, bot.method, bot.later, lambda m: "lambda")]
    assert answers == ["object", "method", "async", "lambda"]
    assert called(own_loop) is called(own_loop), "all share one loop"
    assert called(lambda m: threading.current_thread()) is threading.main_thread(), (
        "the thread of its fixtures"
    )


def hangs(messages: Any) -> str:
    time.sleep(30)
    return "late"


async def hangs_async(messages: Any) -> str:
    await asyncio.sleep(30)
    return "late"


async def blocks_the_loop(messages: Any) -> str:
    time.sleep(2)
    return "late"


def swallows(before: Callable[[], object]) -> Callable[[Any], str]:
    """An assistant that answers after its time, whatever is raised in it until then."""

    def bot(messages: Any) -> str:
        before()
        until = time.monotonic() + 0.4
        while time.monotonic() < until:
            with suppress(BaseException):
                time.sleep(0.01)
        return "late"

    return bot


@pytest.fixture
def _alarm() -> Iterator[None]:
    """What an assistant did to the alarm is undone."""
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_alarm")
@pytest.mark.parametrize(
    "bot",
    [
        hangs,
        hangs_async,
        blocks_the_loop,
        swallows(lambda: None),
        swallows(lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN)),
        swallows(lambda: signal.setitimer(signal.ITIMER_REAL, 0)),
        swallows(lambda: signal.alarm(60)),
    ],
    ids=[
        "hangs",
        "hangs async",
        "blocks the loop",
        "swallows it",
        "ignores it",
        "sets it off",
        "sets its own",
    ],
)
def test_a_reply_after_its_time_limit_is_none(loop: EventLoop, bot: Any) -> None:
    started = time.monotonic()
    with pytest.raises(AssistantFault, match=r"did not answer within 0\.1 s"):
        guarded(bot, timeout=0.1, loop=loop)([])
    assert time.monotonic() - started < 5
    assert guarded(Bot().later, timeout=5, loop=loop)([]) == "async", "the next call has a loop that runs"


def test_a_hanging_assistant_is_stopped_outside_the_main_thread_too(loop: EventLoop) -> None:
    caught: list[BaseException] = []

    def run() -> None:
        try:
            guarded(hangs, timeout=0.1, loop=loop)([])
        except AssistantFault as fault:
            caught.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert len(caught) == 1


def test_a_timeout_of_the_assistants_own_is_its_own_error(loop: EventLoop) -> None:
    def bot(messages: Any) -> str:
        raise TimeoutError("database")

    with pytest.raises(TimeoutError, match="database"):
        guarded(bot, timeout=5, loop=loop)([])


@pytest.mark.usefixtures("_alarm")
@pytest.mark.parametrize("timeout", [5, 0.1], ids=["that comes first", "that comes later"])
def test_the_alarm_of_somebody_else_goes_on(loop: EventLoop, timeout: float) -> None:
    rang: list[int] = []
    signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    guarded(lambda m: "ok", timeout=timeout, loop=loop)([])
    time.sleep(0.4)
    assert rang == [1]


def test_an_object_of_another_loop_is_explained(loop: EventLoop) -> None:
    foreign = asyncio.new_event_loop()
    future = foreign.create_future()

    async def bot(messages: Any) -> str:
        await future
        return "never"

    with pytest.raises(AssistantFault, match="another event loop"):
        guarded(bot, timeout=5, loop=loop)([])
    foreign.close()
