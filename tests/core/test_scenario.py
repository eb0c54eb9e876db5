"""Slugs, contexts and the immutability of values."""

from __future__ import annotations

import itertools
import pickle

import pytest
from pydantic import ValidationError

from pytest_personalens.core.scenario import Scenario, ScenarioRef
from pytest_personalens.core.text.safe_text import slug


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
