"""Draws who the people of a dataset are: demographics with given shares, and domains of interest."""

from __future__ import annotations

from collections import Counter
from math import floor
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets.draws import digest
from pytest_personalens.datasets.embedded.building.plan import category_problem
from pytest_personalens.datasets.embedded.entries import Demographics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.datasets.embedded.building.plan import Plan
    from pytest_personalens.datasets.embedded.entries import PreferenceType

#: The value of an attribute that nobody was asked for.
_UNDISCLOSED: Final = "Prefer not to say"

#: An attribute, a value of it, and the ages at which nobody has it.
_ODD: Final = (
    ("employment_status", "Retired", ("18-24", "25-34", "35-44")),
    ("employment_status", "Student", ("65+",)),
    ("education", "Graduate degree", ("18-24",)),
    ("marital_status", "Widowed", ("18-24",)),
    ("marital_status", "Divorced or separated", ("18-24",)),
)


def apportion(shares: Mapping[str, float], number: int) -> dict[str, int]:
    """Return how many of `number` people each category gets, by largest remainder; the sum is `number`."""
    total = sum(shares.values())
    exact = {category: number * share / total for category, share in shares.items()}
    counts = {category: floor(value) for category, value in exact.items()}
    by_remainder = sorted(exact, key=lambda category: counts[category] - exact[category])
    for category in by_remainder[: number - sum(counts.values())]:
        counts[category] += 1
    return counts


def draw_demographics(
    plan: Plan,
    file: Path,
    users: int,
    seed: str,
    *,
    usual: Mapping[str, Mapping[str, float]],
    odd: Callable[[Mapping[str, str]], str],
) -> list[dict[str, str]]:
    """Return the demographics of each person, with the plan's shares, and the `usual` ones where it has none.

    `odd` returns the attribute of a person that does not go with the others, or an empty text. Such a value
    changes places with another person's. Raise `DataError` if the shares leave nobody to change with.
    """
    people: list[dict[str, str]] = [{} for _ in range(users)]
    for attribute in Demographics.model_fields:
        shares = plan.margins.get(attribute) or {
            category: share
            for category, share in usual.get(attribute, {}).items()
            if not category_problem(attribute, category) and category != "undisclosed"
        }
        if not shares and attribute == "birth_country":  # people live where they were born
            shares = plan.margins["reside_country"]
        counts = apportion(shares or {_UNDISCLOSED: 1.0}, users)
        values = [category for category, count in counts.items() for _ in range(count)]
        dealt = "reside_country" if not plan.margins.get(attribute) and "country" in attribute else attribute
        order = sorted(range(users), key=lambda place: digest(seed, dealt, str(place)))
        for place, value in zip(order, values, strict=True):
            people[place][attribute] = value
    for person in people:
        while attribute := odd(person):
            _exchange(people, person, attribute, odd, file)
    return people


def odd_attribute(demographics: Mapping[str, str]) -> str:
    """Return the attribute that does not go with a person's age, or an empty text."""
    age = demographics["age"]
    return next((name for name, value, ages in _ODD if demographics[name] == value and age in ages), "")


def _exchange(
    people: Sequence[dict[str, str]],
    person: dict[str, str],
    attribute: str,
    odd: Callable[[Mapping[str, str]], str],
    file: Path,
) -> None:
    """Let a person exchange a value with the first other person to whom it does no harm."""
    for other in people:
        swapped = {**person, attribute: other[attribute]}
        theirs = {**other, attribute: person[attribute]}
        if odd(swapped) != attribute and odd(theirs) in ("", odd(other)) and odd(theirs) != attribute:
            person[attribute], other[attribute] = other[attribute], person[attribute]
            return
    problem = (
        f"the shares do not fit together: nobody else can be {person[attribute]!r} instead of a person of"
        f" {person['age']}; change the shares of this attribute or of age"
    )
    raise DataError(file, problem, field=f"margins.{attribute}")


def draw_interests(plan: Plan, file: Path, users: int, seed: str) -> list[list[str]]:
    """Return the domains of each person, in the order of the plan; everybody has one.

    Raise `DataError` if the shares of interest are too small for that, or leave a task without a user.
    """
    wanted: list[set[str]] = [set() for _ in range(users)]
    for domain in plan.domains:
        order = sorted(range(users), key=lambda place: digest(seed, "interest", domain.name, str(place)))
        for place in order[: max(1, round(domain.interest * users))]:
            wanted[place].add(domain.name)
    for place in (place for place in range(users) if not wanted[place]):
        giver = max(range(users), key=lambda other: (len(wanted[other]), -other))
        if len(wanted[giver]) < 2:
            problem = f"the shares leave one of {users} people without a domain; raise one of them"
            raise DataError(file, problem, field="domains.interest")
        name = min(wanted[giver], key=lambda name: digest(seed, "given", str(place), name))
        wanted[giver].remove(name)
        wanted[place].add(name)
    for number, task in enumerate(plan.multi, 1):
        if not any(wanted[place] >= task.relevant.keys() for place in range(users)):
            problem = (
                f"none of the {users} people uses all of {', '.join(task.relevant)}; raise `interest`"
                " in them, or the number of people"
            )
            raise DataError(file, problem, field=f"multi.{number}.relevant")
    return [[domain.name for domain in plan.domains if domain.name in held] for held in wanted]


def offered_values(
    kind: PreferenceType, counts: Counter[str], holders: int
) -> tuple[Sequence[str], Collection[str]]:
    """Return the values to ask for, and those not to ask for again because too many people have them.

    Of a categorical type, the first are the values that are held no more often than the average of all; of an
    open type, there are none, and the second are those that more than a fifth of the `holders` have.
    """
    if kind.kind == "open":
        return (), [v for v, times in sorted(counts.items()) if times > max(1, holders // 5)]
    fair = counts.total() / len(kind.values)
    rare = [value for value in kind.values if counts[value] <= fair]
    if kind.multiple and len(rare) < 2 <= len(kind.values):
        rare = sorted(kind.values, key=lambda value: counts[value])[:2]
    return rare, [value for value in kind.values if value not in rare]
