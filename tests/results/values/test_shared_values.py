"""A memory that is another user's is told from one that is lost, by the values that users get alike."""

from __future__ import annotations

import random

from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.results.reasons.reasons import SharedValue, shared_values
from pytest_personalens.results.values.item import Item
from tests.support.results.rich_results import rich_results

KITCHENS = ("Italian", "Greek", "Thai", "Ethiopian", "Korean", "Peruvian")


def run(said: list[str]) -> tuple[list[Item], dict[str, Scenario]]:
    """A dialogue for each kitchen; the assistant says the kitchen of `said`."""
    results = rich_results(len(KITCHENS), seed="shared")
    items, scenarios = [], {}
    for item, kitchen, reply in zip(results.own, KITCHENS, said, strict=True):
        evaluation = item.evaluation
        scenario = results.scenarios[evaluation.scenario]
        known = {"Restaurants": {"Cuisine": (kitchen,)}}
        scenarios[evaluation.scenario] = scenario.model_copy(update={"preferences": known, "summaries": {}})
        messages = (
            Message(role="user", content="A table for two, please."),
            Message(role="assistant", content=f"I've booked {reply}: a table for two."),
        )
        dialogue = evaluation.dialogue.model_copy(update={"messages": messages})
        items.append(
            item.model_copy(update={"evaluation": evaluation.model_copy(update={"dialogue": dialogue})})
        )
    return items, scenarios


def test_one_kitchen_for_everybody_is_named() -> None:
    items, scenarios = run(["an ITALIAN place"] * len(KITCHENS))
    scored = sum(item.evaluation.scored for item in items[1:])
    assert shared_values(items, scenarios) == [
        SharedValue("Restaurants", "Cuisine", "Italian", scored, scored)
    ]


def test_ones_own_kitchen_none_or_any_is_no_other_users() -> None:
    others = random.Random(1).sample(KITCHENS, len(KITCHENS))
    for said in ([*KITCHENS], ["some place"] * len(KITCHENS), ["an Italianate hall"] * len(KITCHENS), others):
        assert shared_values(*run(list(said))) == []
