"""Puts a scenario's values into the text of a wording, with some of them replaced by wrong ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.draws import pick
from pytest_personalens.datasets.world import values
from pytest_personalens.datasets.world.surroundings import named_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

#: A place for a fact (``{day:weekday}``) or for a preference of the user (``{Cuisine Preference}``,
#: ``{Restaurants: Cuisine Preference}``).
_PLACE: Final = re.compile(r"\{(?P<name>[^{}]+?)(?::(?P<form>" + "|".join(values.FORMS) + r"))?\}")


def names_in(text: str) -> list[str]:
    """Return the names of the facts and preferences that a text has places for."""
    return [match["name"] for match in _PLACE.finditer(text)]


def fill(text: str, scenario: Scenario, changed: Mapping[str, str]) -> str:
    """Return the text with the values of the scenario, or the `changed` ones, in their places."""
    facts = {fact.name: fact for fact in scenario.task.facts}

    def place(match: re.Match[str]) -> str:
        name, form = match["name"], match["form"] or ""
        fact = facts.get(name)
        if name in changed:
            return values.say(fact.kind, changed[name], form) if fact else changed[name]
        if fact is None:
            return preferred(scenario, name)
        return fact.example if fact.every else values.say(fact.kind, fact.example, form)

    return _PLACE.sub(place, text)


def fits(scenario: Scenario, texts: tuple[str, ...]) -> bool:
    """True if the user has a value for each preference that the texts name; a diet may be missing."""
    facts = {fact.name for fact in scenario.task.facts}
    named = {name for text in texts for name in names_in(text)} - facts
    keys = (type_of(scenario, name) for name in named)
    return all(scenario.preferences[domain][kind] for domain, kind in keys)


def preferred(scenario: Scenario, name: str) -> str:
    """Return the value of a preference that stands in a wording: one of the user's, by digest."""
    domain, kind = type_of(scenario, name)
    return pick(scenario.preferences[domain][kind], scenario.id, name)


def type_of(scenario: Scenario, name: str) -> tuple[str, str]:
    """Return the domain and the type of a preference that is named ``Type`` or ``Domain: Type``."""
    return named_type(name, scenario.domains)


def in_texts(scenario: Scenario, texts: tuple[str, ...]) -> Iterator[Fact]:
    """Yield the facts that the texts have places for, in the order of the task."""
    named = {name for text in texts for name in names_in(text)}
    yield from (fact for fact in scenario.task.facts if fact.name in named)
