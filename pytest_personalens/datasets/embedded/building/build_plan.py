"""The file that says what to build, and who the people of a dataset are."""

from __future__ import annotations

import math
from collections import Counter
from math import floor
from typing import TYPE_CHECKING, Annotated, Final, get_args

from pydantic import Field

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.dataset import digest
from pytest_personalens.datasets.embedded.dataset_entries import Demographics, Domain, PreferenceType
from pytest_personalens.datasets.embedded.dataset_files import (
    domain_problems,
    examine_file,
    name_problems,
    unknown,
)
from pytest_personalens.datasets.world.fact_entries import Entry, FilledText

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.datasets.embedded.dataset_files import Problem


#: How far the shares of one attribute may be from 1 in sum, because they are rounded.
_ROUNDING: Final = 0.015


class Brief(Entry):
    """A task in the words of the team: what the user wants, and the preference types that matter for it."""

    brief: FilledText
    relevant: tuple[FilledText, ...] = Field(min_length=1)


class MultiBrief(Entry):
    """The same over several domains; `relevant` is keyed by domain."""

    brief: FilledText
    relevant: dict[str, tuple[FilledText, ...]] = Field(min_length=2)


class PlannedDomain(Entry):
    """A domain; `interest` is the share of people who use the assistant for it, above 0 to 1."""

    name: FilledText
    description: FilledText
    words: tuple[FilledText, ...] = Field(min_length=1)
    interest: float = Field(1.0, gt=0, le=1)
    preferences: dict[str, PreferenceType] = Field(min_length=1)
    tasks: tuple[Brief, ...] = ()


class Plan(Entry):
    """The whole file; `margins` holds the share of each category of a demographic attribute, 0 to 1."""

    name: FilledText
    version: FilledText
    about: FilledText
    margins: dict[str, dict[str, Annotated[float, Field(ge=0, le=1)]]]
    domains: tuple[PlannedDomain, ...] = Field(min_length=1)
    multi: tuple[MultiBrief, ...] = ()

    def domain(self, name: str) -> PlannedDomain:
        """Return a domain of the plan by its name."""
        return next(domain for domain in self.domains if domain.name == name)


def read_plan(file: Path) -> tuple[Plan | None, list[DataError]]:
    """Return the plan in a file, or None, and every problem with its field."""
    plan, errors = examine_file(file, Plan)
    if plan is not None:
        errors += [DataError(file, problem, field=field) for field, problem in _problems(plan)]
    return plan, errors


def _problems(plan: Plan) -> Iterator[Problem]:
    for attribute, shares in plan.margins.items():
        yield from _margin_problems(attribute, shares)
    if not plan.margins.get("reside_country"):
        yield (
            "margins.reside_country",
            'the field is missing; write such as reside_country = { "Ireland" = 1 }',
        )
    earlier: dict[str, str] = {}
    used = {(d, name) for task in plan.multi for d, names in task.relevant.items() for name in names}
    for number, domain in enumerate(plan.domains, 1):
        here = f"domains.{number}"
        yield from (
            (f"{here}.{field}", problem)
            for field, problem in name_problems(slug(domain.name), domain.name, earlier)
        )
        earlier.setdefault(slug(domain.name), domain.name)
        whole = Domain(name=domain.name, description=domain.description, preferences=domain.preferences)
        yield from ((f"{here}.{field}", problem) for field, problem in domain_problems(whole))
        for task, brief in enumerate(domain.tasks, 1):
            for name in (name for name in brief.relevant if name not in domain.preferences):
                yield f"{here}.tasks.{task}.relevant", f"no preference type {name!r} in this domain"
        named = {name for brief in domain.tasks for name in brief.relevant}
        for name in domain.preferences:
            if name not in named and (domain.name, name) not in used:
                problem = "no task uses this type; name it in the `relevant` of a task, or leave it out"
                yield f"{here}.preferences.{name}", problem
    kinds = {domain.name: domain.preferences for domain in plan.domains}
    for number, multi in enumerate(plan.multi, 1):
        for name, types in multi.relevant.items():
            field = f"multi.{number}.relevant.{name}"
            if name not in kinds:
                yield field, unknown(name, kinds)
                continue
            for lacking in (t for t in types if t not in kinds[name]):
                yield field, f"no preference type {lacking!r} in {name}"


def _margin_problems(attribute: str, shares: Mapping[str, float]) -> Iterator[Problem]:
    field = f"margins.{attribute}"
    if attribute not in Demographics.model_fields:
        yield field, f"no such attribute; known: {', '.join(Demographics.model_fields)}"
        return
    for category in shares:
        if problem := category_problem(attribute, category):
            yield f"{field}.{category}", problem
    if not math.isclose(total := sum(shares.values()), 1, abs_tol=_ROUNDING):
        yield field, f"the shares add up to {total:g}, and must add up to 1"


def category_problem(attribute: str, category: str) -> str:
    """Return what is wrong with a category of a demographic attribute, or an empty text."""
    known = Demographics.model_fields[attribute]
    allowed = get_args(known.annotation)
    if category in allowed or (not allowed and category.strip()):
        return ""
    return f"expected one of: {', '.join(allowed)}" if allowed else "expected a text that is not empty"


#: The value of an attribute that nobody was asked for.
_UNDISCLOSED: Final = "Prefer not to say"

#: An attribute and a value of it -> the ages at which nobody has it. Age is the first attribute.
_NEVER: Final = {
    ("employment_status", "Retired"): ("18-24", "25-34", "35-44"),
    ("employment_status", "Student"): ("65+",),
    ("education", "Graduate degree"): ("18-24",),
    ("marital_status", "Widowed"): ("18-24",),
    ("marital_status", "Divorced or separated"): ("18-24",),
}


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
    plan: Plan, file: Path, users: int, seed: str, *, usual: Mapping[str, Mapping[str, float]]
) -> list[dict[str, str]]:
    """Return the demographics of each person, with the plan's shares, and the `usual` ones where it has none.

    What nobody has at some ages is dealt first, to people of the others. Raise `DataError` if there are too
    few of them.
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
        dealt = "reside_country" if not plan.margins.get(attribute) and "country" in attribute else attribute
        order = sorted(range(users), key=lambda place: digest(seed, dealt, str(place)))
        for value in sorted(counts, key=lambda value: -len(_NEVER.get((attribute, value), ()))):
            never = _NEVER.get((attribute, value), ())
            fitting = [place for place in order if not never or people[place]["age"] not in never]
            if len(fitting) < counts[value]:
                raise DataError(
                    file,
                    f"the shares do not fit together: {counts[value]} of {users} people cannot be {value!r},"
                    f" which nobody is at {' or '.join(never)}; change the shares of this attribute or of"
                    " age",
                    field=f"margins.{attribute}",
                )
            for place in fitting[: counts[value]]:
                people[place][attribute] = value
                order.remove(place)
    return people


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
