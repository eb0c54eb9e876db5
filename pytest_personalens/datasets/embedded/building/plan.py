"""The file that says what to build: domains, preference types, briefs of tasks, and shares of people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Final, get_args

from pydantic import Field

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.text.safe_text import slug
from pytest_personalens.datasets.embedded.entries import Demographics, Domain, PreferenceType
from pytest_personalens.datasets.embedded.files import examine_file
from pytest_personalens.datasets.embedded.layout import domain_problems, name_problems, unknown
from pytest_personalens.datasets.world.entries import Entry, FilledText

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_personalens.datasets.embedded.layout import Problem

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
