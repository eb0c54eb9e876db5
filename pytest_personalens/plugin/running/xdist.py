"""All uses of private names of xdist: how it distributes items, and which one it blames for a death."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from xdist.dsession import get_default_max_worker_restart
from xdist.scheduler import LoadFileScheduling, LoadGroupScheduling, LoadScheduling, LoadScopeScheduling

from pytest_personalens.plugin.running.keys import IN_TURN

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController


class Deaths:
    """Counts the workers that died, and says if the item that ended one is known.

    Of several dialogues at the same time, any may have ended the worker, so none is blamed. All of them run
    again, one after another, in the worker that replaces it, which shows the one that ends it too.
    """

    def __init__(self, config: pytest.Config, *, side_by_side: bool) -> None:
        self._side_by_side, self._most = side_by_side, get_default_max_worker_restart(config)
        self.count = 0

    def culprit_is_known(self, node: WorkerController, unfinished: int) -> bool:
        """True if the first of the worker's `unfinished` items ended it, or no worker will run them again."""
        alone = unfinished == 1 or not self._side_by_side or bool(node.workerinput.get(IN_TURN))
        return alone or (self._most is not None and self.count > self._most)


class SupplyScheduling(LoadScheduling):  # type: ignore[misc]  # xdist has no types
    """A scheduler that gives every worker twice the items that it runs in parallel, but not above its share.

    xdist's own ``load`` sends a few items at a time, so that most places of a worker would be idle. Its
    ``worksteal`` takes items away whose dialogues already run, and they would be paid for twice.
    """

    def __init__(self, config: pytest.Config, log: Producer, *, side_by_side: int, deaths: Deaths) -> None:
        super().__init__(config, log)
        self._supply, self._deaths = 2 * side_by_side, deaths
        #: Items of workers that died, one of which ended its worker, for a worker that runs one at a time.
        self._suspects: list[int] = []

    @property
    def tests_finished(self) -> bool:
        """True if there is nothing left to distribute."""
        return not self._suspects and bool(super().tests_finished)

    @property
    def has_pending(self) -> bool:
        """True if any item has not ended."""
        return bool(self._suspects) or bool(super().has_pending)

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back the items of a dead worker, and return the one that ended it, if it is known."""
        unfinished = self.node2pending.pop(node)
        culprit = None
        if unfinished and self._deaths.culprit_is_known(node, len(unfinished)):
            assert self.collection is not None
            culprit = str(self.collection[unfinished.pop(0)])
        self._suspects += unfinished
        for other in self.nodes:
            self.check_schedule(other)
        return culprit

    def schedule(self) -> None:
        """Distribute the first items, or items for a worker that came later."""
        super().schedule()
        if self.collection:
            for node in self.nodes:
                self.check_schedule(node)

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Send the worker the items that it lacks, or tell it that there are no more."""
        if node.shutting_down:
            return
        if self.pending or self._suspects_for(node):
            self._top_up(node)
        if not (self.pending or self._suspects_for(node)):
            node.shutdown()

    def _suspects_for(self, node: WorkerController) -> list[int]:
        return self._suspects if node.workerinput.get(IN_TURN) else []

    def _top_up(self, node: WorkerController) -> None:
        outstanding = len(self.pending) + len(self._suspects) + sum(map(len, self.node2pending.values()))
        # A worker starts an item only when it knows the next one. With fewer than two items it would stop.
        share = max(2, -(-outstanding // len(self.node2pending)))
        lacks = max(
            0, min(2 if node.workerinput.get(IN_TURN) else self._supply, share) - len(self.node2pending[node])
        )
        if first := self._suspects_for(node)[:lacks]:
            del self._suspects[: len(first)]
            self.node2pending[node].extend(first)
            node.send_runtest_some(first)
        self._send_tests(node, lacks - len(first))


class _InUnits(LoadScopeScheduling):  # type: ignore[misc]
    """A scheduler for items that stay together, in one worker.

    xdist's own scheduler runs the item that ended a worker again, and it ends the next worker too.
    """

    def __init__(self, config: pytest.Config, log: Producer, *, deaths: Deaths) -> None:
        super().__init__(config, log)
        self._deaths = deaths

    def schedule(self) -> None:
        """Distribute the first units, or units for a worker that came later.

        xdist gives such a worker one unit. It starts an item only when it knows the next one, and might wait
        for ever.
        """
        replaces = self.collection is not None
        super().schedule()
        if replaces:
            super().schedule()

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back the items of a dead worker, and return the one that ended it, if it is known."""
        units: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
        unfinished = [
            (unit, nodeid) for unit in units.values() for nodeid, finished in unit.items() if not finished
        ]
        culprit = None
        if unfinished and self._deaths.culprit_is_known(node, len(unfinished)):
            unit, culprit = unfinished[0]
            unit[culprit] = True
        self.workqueue.update({scope: unit for scope, unit in units.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return culprit


class _ByScope(_InUnits):
    pass


class _ByFile(_InUnits, LoadFileScheduling):  # type: ignore[misc]
    pass


class _ByGroup(_InUnits, LoadGroupScheduling):  # type: ignore[misc]
    pass


_IN_UNITS: Final[dict[str, type[_InUnits]]] = {
    "loadscope": _ByScope,
    "loadfile": _ByFile,
    "loadgroup": _ByGroup,
}


def scheduling(config: pytest.Config, log: Producer, *, side_by_side: int, deaths: Deaths) -> Any:
    """Return the scheduler for the run's --dist, or None for xdist's own."""
    dist = config.getoption("dist")
    if dist in _IN_UNITS:
        return _IN_UNITS[dist](config, log, deaths=deaths)
    if dist in ("load", "worksteal"):
        return SupplyScheduling(config, log, side_by_side=side_by_side, deaths=deaths)
    return None


def items_sent(config: pytest.Config) -> list[int]:
    """Return the places of the items that this worker got and has not started, the next one first."""
    # The class is found by its name. A worker runs xdist's module as a script, so its class is not the one
    # that can be imported.
    worker: Any = next(
        p for p in config.pluginmanager.get_plugins() if type(p).__name__ == "WorkerInteractor"
    )
    with worker.torun.lock() as waiting:
        coming = [worker.nextitem_index, *waiting]
    return [index for index in coming if isinstance(index, int)]
