"""One event loop for all async calls of a session."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable


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
            if not self._thread.is_alive():
                self._loop.close()
            self._loop = self._thread = None


def _run(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
    """Run the loop until the session ends, even if one assistant exits or stops it."""
    while not ended.is_set():
        # The caller of the assistant gets the exit too, and passes it on.
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
