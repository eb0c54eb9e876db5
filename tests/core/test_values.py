"""A scenario, its context, and the node ids of items, as values."""

from __future__ import annotations

import itertools
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_personalens.core.names import PARAM, CaseId, holds_case, parse_case
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import Scenario, ScenarioRef
from pytest_personalens.plugin.running import items


def test_ids_are_readable() -> None:
    assert ScenarioRef("user7", "movies-1", "single", ("Movies",)).id == "movies-1-user7"


@pytest.mark.parametrize("text", ["../../etc/passwd", "a/b", "ab*", "Ünïcode", "x" * 300, "con:", "", "日本"])
def test_a_slug_is_safe_in_a_file_name(text: str) -> None:
    made = slug(text)
    assert 0 < len(made) <= 80
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_names_that_differ_in_lost_characters_differ_as_slugs() -> None:
    names = ["a/b", "ab", "a:b", "a*b", "ä b", "a b", "x" * 300, "x" * 301]
    assert len({slug(n) for n in names}) == len(names)


def test_every_subset_of_the_context_works(scenario: Scenario) -> None:
    for size in range(4):
        for letters in map("".join, itertools.combinations("DIS", size)):
            context = scenario.context(letters)
            assert bool(context.demographics) == ("D" in letters)
            assert bool(context.interactions) == ("I" in letters)
            assert (context.situation is not None) == ("S" in letters)
            assert bool(context.text()) == bool(letters)


def test_the_context_never_holds_preferences(scenario: Scenario) -> None:
    assert "window" not in scenario.context("DIS").model_dump_json()


def test_values_are_frozen_and_pickle(scenario: Scenario) -> None:
    with pytest.raises(ValidationError):
        setattr(scenario, "user", "eve")  # noqa: B010
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


SCENARIO = "books-1-ann"
CASES = [CaseId(SCENARIO, control, trial) for control in ("", "none", "D", "swapped") for trial in (1, 2, 12)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("around", ["{}", "x-{}", "{}-x", "swapped-{}-none", "none-{}-t2", "+none-{}"])
def test_the_case_in_a_node_id_is_read_back(case: CaseId, around: str) -> None:
    nodeid = f"tests+none/test_bot.py::TestIt::test_bot[{around.format(case)}]"
    assert parse_case(nodeid, ["books-2-ann", SCENARIO]) == case
    assert holds_case(nodeid, str(case))
    assert not any(holds_case(nodeid, str(other)) for other in CASES if other != case)


def test_an_item_of_no_scenario_has_no_case() -> None:
    test = "tests/test_bot.py::test_bot"
    for nodeid in (test, f"{test}[books-1-anna]", "books-1-ann::test_bot[x]", ""):
        assert parse_case(nodeid, [SCENARIO]) is None


def test_a_test_is_named_without_the_case_and_with_its_own_parameters() -> None:
    of_trial = ("books-1-ann+t2", "a-books-1-ann+t2-b", "t.py::test_it[a-b]")
    for case, parameters, named in (of_trial, ("books-1-ann", "books-1-ann", "t.py::test_it")):
        callspec = SimpleNamespace(id=parameters, params={PARAM: SimpleNamespace(id=case)})
        item: Any = SimpleNamespace(nodeid=f"t.py::test_it[{parameters}]", callspec=callspec)
        assert items.test_of(item) == named
