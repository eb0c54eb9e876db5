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
    `histories` holds what an assistant with a memory knows of the task's domains.
    """

    now: Clock
    key: str
    name: str
    life: Mapping[str, str | tuple[str, ...]]
    domains: tuple[str, ...]
    preferences: Mapping[str, Mapping[str, tuple[str, ...]]]
    possible: Mapping[str, Mapping[str, tuple[str, ...]]]
    histories: Mapping[str, str]


class UnresolvedError(ValueError):
    """A fact that has no value; `field` is its name."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field, self.problem = field, problem


def inside(kind: FactKind, span: str, excluded: Sequence[str]) -> str:
    """Return a value inside a range, and none of the excluded ones.

    The value lies near the beginning, where an assistant would choose it; a price lies below the most that
    it may be.
    """
    first, last = values.ends(span)
    if first == last:
        return first
    if kind == "money":
        return str(max(int(first), int(last) * 4 // 5))
    step = {"date": "+1 day", "time": "+15 minutes"}.get(kind, "+1")
    value = first
    while kind != "duration":
        try:
            later = values.moved(kind, value, step)
        except ValueError:
            break
        if values.size(kind, later) > values.size(kind, last):
            break
        if later not in excluded:
            return later
        value = later
    return first


def says(kind: FactKind, right: Sequence[str], *, every: bool) -> str:
    """Return how a person says what is right; empty if any value is."""
    return values.listed([values.said(kind, v) for v in right], "and" if every else "or") if right else ""
