"""A pool of threads that the end of the program does not wait for."""

from __future__ import annotations

import os
import queue
import threading
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable


class Threads(Executor):
    """A pool of daemon threads; Python would join those of `ThreadPoolExecutor` after Ctrl-C."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._queue: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._queue.put((future, lambda: fn(*args, **kwargs)))
        if len(self._threads) < self._size:
            self._threads.append(
                threading.Thread(target=self._run, name=f"personalens-{len(self._threads)}", daemon=True)
            )
            self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with suppress(queue.Empty):  # a thread may take the last one at the same time
            while cancel_futures:
                if (waiting := self._queue.get_nowait()) is not None:
                    waiting[0].cancel()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _run(self) -> None:
        while (waiting := self._queue.get()) is not None:
            future, call = waiting
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)


class ThreadBeside:
    """One extra thread for each calling thread, always the same, whose call can be abandoned."""

    def __init__(self) -> None:
        self._of = threading.local()

    def call(self, timeout: float, call: Callable[..., Any], *args: Any) -> Future[Any] | None:
        """Return the finished call, or None after `timeout` seconds; the call then goes on unattended."""
        thread: Threads | None = getattr(self._of, "thread", None)
        if thread is None:
            thread = self._of.thread = Threads(1)
        future = thread.submit(call, *args)
        wait([future], timeout)
        if not future.done():
            self._of.thread = None  # the call may never end
            return None
        return future


class SpareThreads:
    """Threads for the calls of anybody, each kept for the next call; a call can be abandoned."""

    def __init__(self) -> None:
        self._idle: list[Threads] = []
        if hasattr(os, "register_at_fork"):  # a fork has none of the threads
            os.register_at_fork(after_in_child=self._idle.clear)

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin the call, at once."""
        try:
            thread = self._idle.pop()
        except IndexError:
            thread = Threads(1)
        future = thread.submit(call, *args)
        future.add_done_callback(lambda _: self._idle.append(thread))
        return future

    def call(self, timeout: float, call: Callable[..., Any], *args: Any) -> Future[Any] | None:
        """Return the finished call, or None after `timeout` seconds; the call then goes on unattended."""
        future = self.submit(call, *args)
        wait([future], timeout)
        return future if future.done() else None


#: Threads of this process that wait for a call.
SPARE: Final = SpareThreads()
