"""What the facts of a task draw on, and how one right value is chosen and said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_personalens.datasets.world import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.facts import Clock, FactKind


@dataclass(frozen=True)
class Surroundings:
    """What the facts of a task draw on.

    `preferences` maps a domain to the person's values by type, `possible` to the values that exist.
    `known` is what an assistant with a memory knows of the task's domains, in small letters.
    """

    now: Clock
    key: str
    name: str
    life: Mapping[str, str | tuple[str, ...]]
    domains: tuple[str, ...]
    preferences: Mapping[str, Mapping[str, tuple[str, ...]]]
    possible: Mapping[str, Mapping[str, tuple[str, ...]]]
    known: str

    def preferred(self, name: str) -> tuple[str, ...]:
        """Return the person's values of a preference; empty if there are none."""
        domain, kind = named_type(name, self.domains)
        return self.preferences.get(domain, {}).get(kind, ())

    def strange(self, name: str) -> list[str]:
        """Return the values of a preference that exist and that the person has not."""
        domain, kind = named_type(name, self.domains)
        held = self.preferred(name)
        return [v for v in self.possible.get(domain, {}).get(kind, ()) if v not in held]


class UnresolvedError(Exception):
    """A fact that has no value; `field` is its name."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field, self.problem = field, problem


def named_type(name: str, domains: Sequence[str]) -> tuple[str, str]:
    """Return the domain and the type of a preference that is called ``Type`` or ``Domain: Type``."""
    domain, colon, kind = name.partition(": ")
    return (domain, kind) if colon else (domains[0], name)


def inside(kind: FactKind, span: str, excluded: Sequence[str]) -> str:
    """Return a value near the beginning of a range, not an excluded one; a price lies below the most."""
    first, last = values.range_ends(span)
    if first == last:
        return first
    if kind == "money":
        return str(max(int(first), int(last) * 4 // 5))
    step = {"date": "+1 day", "time": "+15 minutes"}.get(kind, "+1")
    value = first
    while kind != "duration":
        try:
            later = values.shift(kind, value, step)
        except ValueError:
            break
        if values.ordinal(kind, later) > values.ordinal(kind, last):
            break
        if later not in excluded:
            return later
        value = later
    return first


def says(kind: FactKind, right: Sequence[str], *, every: bool) -> str:
    """Return how a person says what is right; empty if any value is."""
    return values.join_words([values.say(kind, v) for v in right], "and" if every else "or") if right else ""
