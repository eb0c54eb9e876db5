"""What the processes of a run reported: results of items, failures, and workers that ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.results.values.item import Item

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_personalens.plugin.running.tally import Drawn

#: The name of the report property that carries an item's result from a worker to the controller.
PROPERTY: Final = "_personalens_item"
#: The property of an item that should have been evaluated but was not. Its value holds the item's control,
#: its kind and its domains.
UNEVALUATED: Final = "_personalens_unevaluated"


@dataclass(slots=True)
class Reported:
    """The reports of a run, by node id."""

    items: dict[str, Item] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    #: Items whose worker died.
    crashed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    #: Node id -> the item's control (if any), its kind and its domains.
    unevaluated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Node id -> the line of its test, from 1.
    lines: dict[str, int] = field(default_factory=dict)
    #: Workers that died.
    died: list[str] = field(default_factory=list)
    #: The fields of `Drawn` as the last worker sent them; empty without workers.
    drawn: list[Any] = field(default_factory=list)
    _knows: bool = field(default=False, init=False)

    def add(self, report: pytest.TestReport) -> None:
        """Take the report of a phase of an item."""
        if report.when == "teardown" or (report.when != "call" and report.failed):
            self.finished.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist reports an item whose worker died with a phase of another name.
            self.crashed.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)
        if report.skipped:
            self.skipped.add(report.nodeid)
        if report.location[1] is not None:
            self.lines[report.nodeid] = report.location[1] + 1
        for name, value in report.user_properties:
            if name == UNEVALUATED:
                self.unevaluated[report.nodeid] = tuple(json.loads(str(value)))
            elif name == PROPERTY:
                # The key is the node id, because --dist=each runs every item on every worker.
                try:
                    self.items[report.nodeid] = Item.model_validate_json(str(value))
                except ValueError:  # a property of another plugin
                    self.unevaluated.setdefault(report.nodeid, ("",))
        if report.failed and report.nodeid in self.items:
            self.items[report.nodeid] = self.items[report.nodeid].model_copy(update={"failed": True})

    def worker_ended(self, worker: str, output: Mapping[str, Any], *, died: bool) -> None:
        """Take what a worker sent when it ended."""
        if died:
            self.died.append(worker)
        if "personalens" in output:
            from pytest_personalens.plugin.running.tally import Drawn

            drawn = json.loads(output["personalens"])
            self._knows = self._knows or Drawn(*drawn).knows  # a worker may have had no item
            self.drawn = drawn

    def by_workers(self) -> Drawn | None:
        """Return the counts of the draws, as workers sent them."""
        from pytest_personalens.plugin.running.tally import Drawn

        return Drawn(*self.drawn)._replace(knows=self._knows) if self.drawn else None

    @property
    def died_unexplained(self) -> bool:
        """True if workers died and no item is known to have ended one.

        A worker may have died after its last item, or one of two simultaneous dialogues may have ended it.
        """
        return bool(self.died) and not self.crashed
