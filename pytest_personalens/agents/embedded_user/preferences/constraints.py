"""The hours, days, prices and numbers that a preference allows.

It also checks whether a text keeps to them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_personalens.agents.embedded_user.preferences.day_times import (
    TimeSlot,
    agrees,
    chosen_hours,
    first_wrong_time,
    names_a_time,
    slot_of,
)
from pytest_personalens.agents.embedded_user.preferences.measures import counted_things, money, party, sums
from pytest_personalens.agents.language.slots import near
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import stems

_EXACT: Final = re.compile(r"\b(?:alarm|wake|reminder|dose|medication)")
#: Types whose hour or day says when the thing itself takes place.
_TIMED: Final = re.compile(
    r"\b(?:time|times|showtimes?|hours?|slot|when|departure|showing|start|day|days|recurring|schedule|pick-?up|collection|appointment|delivery)\b"
)
_UNTIMED: Final = re.compile(
    r"\b(?:time ?zone|frequency|notification|reading|duration|season|lead time|reminder|alert|flexib\w*)\b"
)

_PRICED: Final = re.compile(r"\b(?:price|budget|cost|fare|spend|spending|rate|fee)\b")
_OPEN_UPWARD: Final = re.compile(r"\b(?:above|over|more than|at least|from|upwards?|best|any)\b|\+")

_PARTIES: Final = {"solo": (1, 1), "alone": (1, 1), "as a pair": (1, 2), "couple": (2, 2), "small group": (3, 8), "group of friends": (3, 99), "large group": (6, 999), "family with children": (3, 99)}  # fmt: skip
#: Words that limit a sum for one unit (each, per, monthly). The text often does not say how many units there
#: are.
_EACH: Final = re.compile(r"\b(?:each|per|an?|apiece|pp|both|monthly|weekly|daily|yearly)\b")
_ALL: Final = re.compile(
    r"\b(?:total|in all|together|altogether|both|all of it|for the (?:two|three|four|lot))\b"
)
#: A value that is little more than a number: "30 days". "one snooze of 7 minutes" and "under 30 minutes" are
#: no such values.
_PLAIN_COUNT: Final = re.compile(
    r"(?:an? )?[a-z0-9]+[ -][a-z]+(?:'|'s)?(?: (?:supply|each time|at a time|long))?"
)
_BOUNDED: Final = re.compile(
    r"\b(?:under|over|up|below|less|more|least|most|max\w*|min\w*|about|around|within|before|after|every)\b"
)


class Constraint:
    """The hours, days, sums and numbers that the values of a preference allow."""

    def __init__(self, name: str, values: tuple[str, ...]) -> None:
        self.name = plain(name)
        self.values = tuple(plain(v) for v in values)

    @property
    def timed(self) -> bool:
        """True if the preference is about the time at which the thing takes place."""
        return bool(_TIMED.search(self.name)) and not _UNTIMED.search(self.name)

    @property
    def slots(self) -> tuple[TimeSlot, ...]:
        """Return one slot for each value.

        There are none if a value says nothing about days and hours, because it then allows any.
        """
        slots = tuple(slot_of(v, exact=bool(_EXACT.search(self.name))) for v in self.values)
        return slots if self.timed and all(s.days or s.window for s in slots) else ()

    @property
    def limit(self) -> tuple[float, str] | None:
        """Return the highest allowed sum and its currency, or None without a limit."""
        if not (_PRICED.search(self.name) or any(sums(v) for v in self.values)):
            return None
        if any(_OPEN_UPWARD.search(v) or _EACH.search(v) for v in self.values):
            return None
        tops = [
            max(sums(v), default=(0.0, "") if re.fullmatch(r"free(?: of charge)?", v) else None)
            for v in self.values
        ]
        limits = [t for t in tops if t is not None]
        return max(limits) if limits and len(limits) == len(tops) else None

    @property
    def counts(self) -> frozenset[tuple[int, str]]:
        """Return the numbers of the values with the things that they count.

        There are none if a value has no number.
        """
        if _PRICED.search(self.name) or _UNTIMED.search(self.name):
            return frozenset()
        counted = [
            frozenset(counted_things(v))
            if _PLAIN_COUNT.fullmatch(v) and not _BOUNDED.search(v)
            else frozenset()
            for v in self.values
        ]
        return frozenset().union(*counted) if all(counted) else frozenset()

    @property
    def party(self) -> tuple[int, int] | None:
        """Return the smallest and the largest number of people, or None if it is open."""
        sizes = [_PARTIES.get(v) for v in self.values]
        ranges = [s for s in sizes if s]
        return (
            (min(s[0] for s in ranges), max(s[1] for s in ranges))
            if ranges and len(ranges) == len(sizes)
            else None
        )

    def fits(self, folded: str) -> bool:
        """True if the text names a value that the preference allows.

        The value is an hour and day, a sum or a number.
        """
        slots, limit = self.slots, self.limit
        hours = chosen_hours(folded)
        if slots and names_a_time(hours) and any(agrees(slot, hours) for slot in slots):
            return True
        if limit and any(s <= limit[0] and (not limit[1] or sign == limit[1]) for s, sign in sums(folded)):
            return True
        if self.party and any(self.party[0] <= n <= self.party[1] for n in party(folded)):
            return True
        return bool(self.counts & frozenset(counted_things(folded)))

    def breach(self, folded: str, *, in_question: bool = False) -> str:
        """Return what the text names against the preference, or an empty text.

        Examples are "20:15", "$45" and "90 days". `in_question` says that the text is a question. A question
        need not say what its number counts: "Shall I make it 90 days?"
        """
        return self._late(folded) or self._dear(folded) or self._number(folded, in_question=in_question)

    def _late(self, folded: str) -> str:
        slots = self.slots
        if not slots:
            return ""
        hours = chosen_hours(folded)
        if names_a_time(hours) and not any(agrees(slot, hours) for slot in slots):
            return first_wrong_time(hours, slots)
        return ""

    def _dear(self, folded: str) -> str:
        limit = self.limit
        amounts = sums(folded)
        if limit is None or not amounts:
            return ""
        if limit[1] and any(sign != limit[1] for _, sign in amounts):
            return ""  # nobody converts currencies in their head
        if _ALL.search(folded) and not party(folded):
            return ""
        heads = max([n for n in party(folded) if n < 20], default=1)
        lowest, sign = min(amounts)
        return money(lowest, sign) if lowest / heads > limit[0] else ""

    def _number(self, folded: str, *, in_question: bool) -> str:
        if self.party:
            wrong = [n for n in party(folded) if not self.party[0] <= n <= self.party[1]]
            return (
                ("one person" if wrong[0] == 1 else f"{wrong[0]} people")
                if wrong and len(wrong) == len(party(folded))
                else ""
            )
        own_counts = self.counts
        units = {unit for _, unit in own_counts}
        wrong_counts = [(n, unit) for n, unit in counted_things(folded, chosen=True) if unit in units]
        if own_counts and wrong_counts and not own_counts & set(wrong_counts):
            n, unit = wrong_counts[0]
            # A different number of days may count something else.
            if not in_question and not (
                set(stems(self.name)) & set(stems(folded))
                or re.search(
                    rf"\b(?:for|make|made it|set (?:it )?to|ordered|refilled) (?:the )?\w+[ -]{unit}|\b\w+ {unit}s? (?:of|worth)\b|\w-{unit}\b",
                    folded,
                )
            ):
                return ""
            return f"{n} {unit}{'s' if n != 1 else ''}"
        return ""

    def mentioned(self, folded: str) -> bool:
        """True if the text names any hour, day, sum or number of the preference's kind."""
        if self.slots and (names_a_time(folded) or near(folded)):
            return True
        if self.limit and sums(folded):
            return True
        if self.party and party(folded):
            return True
        return bool({u for _, u in self.counts} & {u for _, u in counted_things(folded)})


@lru_cache(maxsize=2048)
def constraint(name: str, values: tuple[str, ...]) -> Constraint:
    """Return the constraint of a preference."""
    return Constraint(name, values)
