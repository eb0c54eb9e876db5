"""Runs many jobs at the same time in a pool, each with one dialogue."""

from __future__ import annotations

from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.engine.job import JobResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future

#: The interval in seconds at which a waiting item checks for its result.
TICK: Final = 0.2


class Engine:
    """Running evaluations, by the node id of the item that will ask for each; used by one thread.

    `executor` runs `size` evaluations at the same time. More wait in the queue, to keep all places busy
    during the slowest dialogue.
    """

    def __init__(self, executor: Executor, size: int) -> None:
        self.size, self._executor = size, executor
        self._under_way: dict[str, Future[JobResult]] = {}
        self.done = 0

    @property
    def room(self) -> int:
        """Return how many more evaluations may be submitted now: the queue holds ten for each place."""
        return max(0, 10 * self.size - len(self._under_way))

    def __contains__(self, key: str) -> bool:
        return key in self._under_way

    def submit(
        self,
        key: str,
        task: Callable[..., JobResult],
        *args: Any,
        ended: Callable[[JobResult], None] | None = None,
    ) -> None:
        """Have `task` run for the item `key`, and then call `ended` with its result."""
        future = self._under_way[key] = self._executor.submit(task, *args)

        def finish(future: Future[JobResult]) -> None:
            if future.cancelled():
                return
            self.done += 1
            if ended is not None and future.exception() is None:
                ended(future.result())

        future.add_done_callback(finish)

    def take(self, key: str, idle: Callable[[], None]) -> JobResult:
        """Wait for the evaluation of the item `key`; call `idle` every `TICK` seconds, also at once."""
        future = self._under_way.pop(key)
        while not future.done():
            idle()
            wait([future], timeout=TICK)
        return future.result()

    def close(self) -> None:
        """Abandon all running evaluations."""
        self._executor.shutdown(wait=False, cancel_futures=True)
