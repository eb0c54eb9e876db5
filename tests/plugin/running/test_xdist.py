"""What is used of xdist is still there, and how items are dealt out to its workers."""

from __future__ import annotations

import inspect

import pytest
from xdist.scheduler.protocol import Scheduling
from xdist.workermanage import WorkerController

from pytest_personalens.plugin.running.xdist import Share, ShareScheduling


def test_the_protocol_of_a_scheduler_is_what_we_know() -> None:
    """If this fails, xdist asks more of a scheduler, or something else, than `ShareScheduling` does."""
    known = {name for name in vars(Scheduling) if not name.startswith("_")}
    ours = {name for name in vars(ShareScheduling) if not name.startswith("_")}
    assert ours == known
    for name in known:
        theirs, here = getattr(Scheduling, name), getattr(ShareScheduling, name)
        assert isinstance(theirs, property) == isinstance(here, property)
        if not isinstance(theirs, property):
            assert list(inspect.signature(here).parameters) == list(inspect.signature(theirs).parameters)


def test_what_a_scheduler_asks_of_a_worker_is_there() -> None:
    for method, parameters in (("send_runtest_some", ["self", "indices"]), ("shutdown", ["self"])):
        assert list(inspect.signature(getattr(WorkerController, method)).parameters) == parameters
    assert isinstance(WorkerController.shutting_down, property)
    assert '"workercount"' in inspect.getsource(WorkerController.__init__)


NODEIDS = ["a.py::T::one", "a.py::T::two", "a.py::three", "b.py::four[x@y]", "b.py::five@g", "c.py::six@g"]


SHARES = {
    "load": ([0, 2, 4], [1, 3, 5]),
    "worksteal": ([0, 2, 4], [1, 3, 5]),
    "loadscope": ([0, 1, 5], [2, 3, 4]),
}
SHARES |= {"loadfile": ([0, 1, 2], [3, 4, 5]), "loadgroup": ([0, 2, 4, 5], [1, 3])}


@pytest.mark.parametrize("dist", SHARES)
def test_every_item_is_in_one_share_and_units_stay_together(dist: str) -> None:
    assert [Share(number, 2, dist).of(NODEIDS) for number in range(3)] == [*SHARES[dist], []]
