"""Threads that the program's end does not wait for, caches made once, the garbage collector, and git."""

from __future__ import annotations

import atexit
import gc
import os
import queue
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


#: After more new blocks of memory than these, objects are left frozen: to search them at the end takes
#: seconds, and the process ends anyway. An object has one block or a few.
_MANY: Final = 500_000


@contextmanager
def no_collection(*, kept: bool = False) -> Iterator[None]:
    """Leave the garbage collector out; what is `kept` until the end is never searched (`gc.freeze`)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if kept:
                gc.freeze()
            gc.enable()


def leave_out_at_exit() -> None:
    """Have the end of the process search no object for garbage: it takes a quarter of a second."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def unfreezing() -> Callable[[], None]:
    """Return a function that undoes all freezes, unless much memory has been allocated since now."""
    # To count the objects themselves takes a tenth of a second where there are a million.
    before = sys.getallocatedblocks()

    def unfreeze() -> None:
        if sys.getallocatedblocks() - before <= _MANY:
            gc.unfreeze()

    return unfreeze


_Arguments = ParamSpec("_Arguments")
Made = TypeVar("Made")


class once(Generic[_Arguments, Made]):  # noqa: N801  (a decorator)
    """A decorator that calls `make` once for each set of arguments and keeps the result.

    With `functools.cache`, thirty dialogues that begin at the same time would read thirty copies of the
    weights.
    """

    def __init__(self, make: Callable[_Arguments, Made]) -> None:
        self._kept, self._lock = cache(make), threading.RLock()
        self.cache_clear = self._kept.cache_clear
        update_wrapper(self, make)

    def __call__(self, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Made:
        """Return the result of `make` for these arguments."""
        with self._lock:
            return self._kept(*args, **kwargs)  # type: ignore[arg-type]  # hashable, or `make` could not be cached


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


#: Seconds that git may take.
_PATIENCE: Final = 20.0


def git(root: Path, *words: str) -> str | None:
    """Return the output of a git command in `root`, or None if it fails or takes more than 20 seconds."""
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
