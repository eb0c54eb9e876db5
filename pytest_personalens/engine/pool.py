"""Many jobs at once: a pool of threads, one dialogue in each."""

from __future__ import annotations

from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.engine.job import JobResult, Keep

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future


#: While it waits, an item looks up this often, in seconds.
TICK: Final = 0.2


class Engine:
    """Evaluations under way, by the node id of the item that will ask for each. Used from one thread.

    `executor` runs `size` of them at once; so many more may wait in line that the slowest dialogue leaves no
    place idle.
    """

    def __init__(self, executor: Executor, size: int) -> None:
        self.size, self._executor = size, executor
        self._under_way: dict[str, Future[JobResult]] = {}
        self.done = 0

    @property
    def room(self) -> int:
        """How many more may be submitted now: the line is ten dialogues for each place."""
        return max(0, 10 * self.size - len(self._under_way))

    def __contains__(self, key: str) -> bool:
        return key in self._under_way

    def submit(
        self, key: str, task: Callable[..., JobResult], *args: Any, bought: Keep | None = None
    ) -> None:
        """Have `task` run for the item `key`; `bought` is called with what came of it, at its whole cost, as
        soon as it is there.
        """
        future = self._under_way[key] = self._executor.submit(task, *args)

        def came(future: Future[JobResult]) -> None:
            if future.cancelled():
                return
            self.done += 1
            if bought is not None and future.exception() is None:
                done = future.result()
                bought(done.evaluation.model_copy(update={"usage": done.cost}), done.evaluation.usage)

        future.add_done_callback(came)

    def take(self, key: str, idle: Callable[[], None]) -> JobResult:
        """Wait for the evaluation of the item `key`; `idle` is called at once and every `TICK` seconds while
        there is none.
        """
        future = self._under_way.pop(key)
        while not future.done():
            idle()
            wait([future], timeout=TICK)
        return future.result()

    def close(self) -> None:
        """Give up what is under way."""
        self._executor.shutdown(wait=False, cancel_futures=True)
