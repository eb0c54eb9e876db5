"""A node id is all that is left of an item whose worker died: what was written into it is read out of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_personalens.core.suite_names import PARAM
from pytest_personalens.core.text import node_ids
from pytest_personalens.core.text.node_ids import CaseId
from pytest_personalens.plugin.running import items

SCENARIO = "books-1-ann"
CASES = [CaseId(SCENARIO, control, trial) for control in ("", "none", "D", "swapped") for trial in (1, 2, 12)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("around", ["{}", "x-{}", "{}-x", "swapped-{}-none", "none-{}-t2", "+none-{}"])
def test_the_case_in_a_node_id_is_read_back(case: CaseId, around: str) -> None:
    nodeid = f"tests+none/test_bot.py::TestIt::test_bot[{around.format(case)}]"
    assert node_ids.parse_case(nodeid, ["books-2-ann", SCENARIO]) == case
    assert node_ids.holds_case(nodeid, str(case))
    assert not any(node_ids.holds_case(nodeid, str(other)) for other in CASES if other != case)


def test_an_item_of_no_scenario_has_no_case() -> None:
    for nodeid in (
        "tests/test_bot.py::test_bot",
        "tests/test_bot.py::test_bot[books-1-anna]",
        "books-1-ann::test_bot[x]",
        "",
    ):
        assert node_ids.parse_case(nodeid, [SCENARIO]) is None


def test_a_test_is_named_without_the_case_and_with_its_own_parameters() -> None:
    for case, parameters, named in (
        ("books-1-ann+t2", "a-books-1-ann+t2-b", "t.py::test_it[a-b]"),
        ("books-1-ann", "books-1-ann", "t.py::test_it"),
    ):
        callspec = SimpleNamespace(id=parameters, params={PARAM: SimpleNamespace(id=case)})
        item: Any = SimpleNamespace(nodeid=f"t.py::test_it[{parameters}]", callspec=callspec)
        assert items.test_of(item) == named
