"""A typed value of a text, and what the value of a day or a time is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_personalens.core.facts import FactKind


class Day(NamedTuple):
    """A day as a text names it: ``Friday``, ``the 5th``, ``5 June`` or a full date. Monday is 0."""

    weekday: int | None = None
    month: int | None = None
    number: int | None = None
    year: int | None = None


class Time(NamedTuple):
    """A time of day in minutes from midnight; `either` is true if the half of the day is not said."""

    minutes: int
    either: bool = False


class Value(NamedTuple):
    """A value in a folded text, from `start` to `end`, with the words `said`.

    `value` is a `Day`, a `Time`, a count, a length in minutes, a sum, or the words of a name. `thing` holds the
    stems of what is counted, the unit of a length, or the currency of a sum that is not in dollars.
    """

    kind: FactKind
    value: object
    start: int
    end: int
    said: str
    thing: str = ""

    @property
    def vague(self) -> bool:
        """True for a weekday without its date, and for an hour of either half of the day."""
        if isinstance(self.value, Day):
            return self.value.number is None
        return isinstance(self.value, Time) and self.value.either

    def same(self, other: Value) -> bool:
        """True if both are the same value of the same thing."""
        if isinstance(self.value, Time) and isinstance(other.value, Time):
            return self.value.minutes % 720 == other.value.minutes % 720
        if isinstance(self.value, Day) and isinstance(other.value, Day):
            return self.value[1:3] == other.value[1:3] and (
                self.value.number is not None or self.value.weekday == other.value.weekday
            )
        return self.kind == other.kind and self.value == other.value
