"""Sync and async assistants, time limits, and the one event loop."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
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
    """A callable object with a bound method."""

    def __call__(self, messages: Any) -> str:
        return "object"

    def method(self, messages: Any) -> str:
        return "method"

    async def later(self, messages: Any) -> str:
        await asyncio.sleep(0)
        return "async"


def test_any_callable_will_do(loop: EventLoop) -> None:
    bot = Bot()
    answers = [guarded(a, timeout=5, loop=loop)([]) for a in (bot, bot.method, bot.later, lambda m: "lambda")]
    assert answers == ["object", "method", "async", "lambda"]


def test_async_assistants_share_one_loop(loop: EventLoop) -> None:
    loops: list[object] = []

    async def bot(messages: Any) -> str:
        loops.append(asyncio.get_running_loop())
        return "ok"

    call = guarded(bot, timeout=5, loop=loop)
    call([])
    call([])
    assert loops[0] is loops[1]


def test_a_sync_assistant_runs_in_the_thread_of_its_fixtures(loop: EventLoop) -> None:
    assert guarded(lambda m: threading.current_thread(), timeout=5, loop=loop)([]) is threading.main_thread()


def hangs(messages: Any) -> str:
    time.sleep(30)
    return "late"


def swallows(messages: Any) -> str:
    while True:
        try:
            time.sleep(30)
        except Exception:
            continue


async def hangs_async(messages: Any) -> str:
    await asyncio.sleep(30)
    return "late"


@pytest.mark.parametrize("bot", [hangs, swallows, hangs_async])
def test_a_hanging_assistant_is_stopped(loop: EventLoop, bot: Any) -> None:
    started = time.monotonic()
    with pytest.raises(AssistantFault, match=r"did not answer within 0\.1 s"):
        guarded(bot, timeout=0.1, loop=loop)([])
    assert time.monotonic() - started < 5


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


def test_the_alarm_of_somebody_else_goes_on(loop: EventLoop) -> None:
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        guarded(lambda m: "ok", timeout=5, loop=loop)([])
        time.sleep(0.4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
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
