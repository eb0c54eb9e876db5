"""How items are dealt out to xdist's workers where each runs several dialogues at the same time.

Every worker gets its share at once, and can tell the share from the items that it collected, so that it
begins its dialogues before their turn. All that is used of xdist is in this module: the protocol of a
scheduler, and what a scheduler may ask of a worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdist.workermanage import WorkerController

#: The key of a worker's `Share` in its input.
_SHARE: Final = "personalens_share"
_WORKERS: Final = pytest.StashKey[int]()
#: ``--dist`` -> the name of what an item stays together with, from its node id; None if it goes alone.
_UNITS: Final[dict[str, Callable[[str], str] | None]] = {
    "load": None,
    "worksteal": None,
    "loadscope": lambda nodeid: nodeid.rpartition("::")[0] or nodeid,
    "loadfile": lambda nodeid: nodeid.partition("::")[0],
    # An "@" inside the brackets of a parameter is none of a group's.
    "loadgroup": lambda nodeid: (
        nodeid.rpartition("@")[2] if nodeid.rfind("@") > nodeid.rfind("]") else nodeid
    ),
}


class Share(NamedTuple):
    """Which items a worker runs: its `number`, from 0, among `workers`, and the run's ``--dist``.

    A worker that replaces one that died has a number of `workers` or more, and runs what that one left.
    """

    number: int
    workers: int
    dist: str

    @property
    def replaces(self) -> bool:
        """True in a worker that runs dialogues one by one, so that an item that ends it too is known."""
        return self.number >= self.workers

    def of(self, nodeids: Sequence[str]) -> list[int]:
        """Return the places of the worker's items: every unit goes to the worker with the fewest so far."""
        unit_of, units = _UNITS[self.dist], dict[object, list[int]]()
        for place, nodeid in enumerate(nodeids):
            units.setdefault(place if unit_of is None else unit_of(nodeid), []).append(place)
        dealt: list[list[int]] = [[] for _ in range(self.workers)]
        for unit in units.values():
            min(dealt, key=len).extend(unit)
        return [] if self.replaces else sorted(dealt[self.number])


def count_ungrouped(config: pytest.Config, items: Sequence[pytest.Item]) -> int:
    """Return how many items of a worker are marked with a group that xdist does not keep together.

    It does so by their node ids. xdist 3.8 writes the group to an attribute that pytest 9.2 no longer reads.
    """
    if not getattr(config.option, "loadgroup", False):
        return 0
    marked = (item for item in items if item.get_closest_marker("xdist_group") is not None)
    return sum("@" not in item.nodeid.rpartition("]")[2] for item in marked)


def number_worker(node: WorkerController) -> None:
    """Give a worker its `Share`, before it starts."""
    config = node.config
    number = config.stash[_WORKERS] = config.stash.get(_WORKERS, -1) + 1
    node.workerinput[_SHARE] = (number, node.workerinput["workercount"], config.getoption("dist"))


def _share(node: WorkerController) -> Share:
    return Share(*node.workerinput[_SHARE])


def share_of(workerinput: dict[str, Any] | None) -> Share | None:
    """Return the share of this process; None if it is no worker, or if xdist deals out the items itself."""
    found = None if workerinput is None else Share(*workerinput[_SHARE])
    return found if found is not None and found.dist in _UNITS else None


class ShareScheduling:
    """Deals out every worker's share at once. It follows `xdist.scheduler.protocol.Scheduling`.

    Of several dialogues at the same time (`side_by_side`), any may have ended a worker that died, so none is
    blamed. All of them run again, one after another, in the worker that replaces it, which shows the one that
    ends it too. xdist's own schedulers blame the first. ``load`` sends a few items at a time, so that most
    places of a worker would be idle, and ``worksteal`` takes away items whose dialogues already run and would
    be paid for twice.
    """

    def __init__(self, config: pytest.Config, *, side_by_side: bool) -> None:
        from xdist.dsession import get_default_max_worker_restart

        self.config = config  # plugins read it: pytest-rerunfailures
        self._side_by_side = side_by_side
        self._most_deaths, self._deaths = get_default_max_worker_restart(config), 0
        self._collected: dict[WorkerController, list[str]] = {}
        self._pending: dict[WorkerController, list[int]] = {}
        self._nodeids: list[str] | None = None
        #: What workers that died have left, one item of which ended its worker.
        self._left: list[int] = []

    @property
    def nodes(self) -> list[WorkerController]:
        """The workers that take part."""
        return list(self._pending)

    @property
    def collection_is_completed(self) -> bool:
        """True if all workers that the run began with have collected their items."""
        workers = max((node.workerinput["workercount"] for node in self._pending), default=1)
        return self._nodeids is not None or len(self._collected) >= workers

    @property
    def tests_finished(self) -> bool:
        """True if there is nothing left to run."""
        return self.collection_is_completed and not self.has_pending

    @property
    def has_pending(self) -> bool:
        """True if any item has not ended."""
        return bool(self._left) or any(self._pending.values())

    def add_node(self, node: WorkerController) -> None:
        """Let a worker take part."""
        self._pending[node] = []

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Take note of the node ids that a worker has collected."""
        self._collected[node] = list(collection)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Take note that an item has ended."""
        self._pending[node].remove(item_index)

    def mark_test_pending(self, item: str) -> None:
        """Run an item again, in the next worker that starts."""
        assert self._nodeids is not None
        self._left.insert(0, self._nodeids.index(item))

    def remove_pending_tests_from_node(self, node: WorkerController, indices: Sequence[int]) -> None:
        """Raise `NotImplementedError`: no item is ever taken back."""
        raise NotImplementedError

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back the items of a dead worker, and return the one that ended it, if it is known."""
        unfinished = self._pending.pop(node)
        if not unfinished:
            return None
        self._deaths += 1
        alone = len(unfinished) == 1 or not self._side_by_side or _share(node).replaces
        is_last = self._most_deaths is not None and self._deaths > self._most_deaths
        assert self._nodeids is not None
        culprit = self._nodeids[unfinished.pop(0)] if alone or is_last else None
        self._left += unfinished
        return culprit

    def schedule(self) -> None:
        """Send all workers without items what they are to run, and that nothing comes after it."""
        if self._nodeids is None:
            if not self._all_collected_the_same():
                return
            self._nodeids = next(iter(self._collected.values()))
            numbers, (_, workers, dist) = {_share(node).number for node in self.nodes}, _share(self.nodes[0])
            for missing in {*range(workers)} - numbers:  # a worker died before all had collected
                self._left += Share(missing, workers, dist).of(self._nodeids)
        for node in self.nodes:
            if node.shutting_down or node not in self._collected:
                continue
            share = _share(node)
            items, self._left = (self._left, []) if share.replaces else (share.of(self._nodeids), self._left)
            self._pending[node] = items
            if items:
                node.send_runtest_some(items)
            node.shutdown()

    def _all_collected_the_same(self) -> bool:
        from xdist.report import report_collection_diff

        (first, expected), *others = self._collected.items()
        differences = {
            node: report_collection_diff(expected, found, first.gateway.id, node.gateway.id)
            for node, found in others
            if found != expected
        }
        for node, text in differences.items():
            report = pytest.CollectReport(node.gateway.id, "failed", text, [])
            self.config.hook.pytest_collectreport(report=report)
        return not differences


def scheduling(config: pytest.Config, *, side_by_side: bool) -> ShareScheduling | None:
    """Return the scheduler for the run's ``--dist``, or None for xdist's own."""
    return ShareScheduling(config, side_by_side=side_by_side) if config.getoption("dist") in _UNITS else None
