"""How pytest-xdist hands out items when each worker runs several dialogues side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler import LoadScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController


class SupplyScheduling(LoadScheduling):  # type: ignore[misc]  # xdist has no types
    """Keeps every worker supplied with twice the items that it runs side by side, and no worker with more than its share.

    xdist's own ``load`` sends a few at a time, which would leave most places of a worker idle; ``worksteal`` takes items away
    whose dialogues are under way, and they would be paid for twice.
    """

    def __init__(self, config: pytest.Config, log: Producer, *, side_by_side: int) -> None:
        super().__init__(config, log)
        self._supply = 2 * side_by_side

    def schedule(self) -> None:
        """Hand out the first items, or items to a worker that came later."""
        super().schedule()
        if self.collection:
            for node in self.nodes:
                self._top_up(node)
            if not self.pending:
                for node in self.nodes:
                    node.shutdown()

    def check_schedule(self, node: WorkerController, duration: float = 0) -> None:
        """Send the worker what it lacks, or tell it that there is no more."""
        if node.shutting_down:
            return
        if self.pending:
            self._top_up(node)
        else:
            node.shutdown()

    def _top_up(self, node: WorkerController) -> None:
        outstanding = len(self.pending) + sum(map(len, self.node2pending.values()))
        # A worker starts an item only when it knows the next one: fewer than two would stop it.
        share = max(2, -(-outstanding // len(self.node2pending)))
        self._send_tests(node, max(0, min(self._supply, share) - len(self.node2pending[node])))
