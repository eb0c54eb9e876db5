"""Finds the kinds of detail in a text, such as time, price, reference and seat."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_personalens.agents.language.slots import amounts, counts, dates, days, names, near, times

_REFERENCE: Final = re.compile(r"\b(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9][A-Z0-9-]{2,}\b")
_QUOTED: Final = re.compile(r"[\"“«„']([A-Z0-9][^\"”»“]{2,60}?)[\"”»“'](?=[\s.,;:!?)]|$)")
_FREE: Final = re.compile(
    r"\bfree(?: of charge)?\b|\bno (?:extra )?(?:charge|cost|fee)\b|\bcosts? (?:you )?nothing\b|\bsame (?:price|fare)\b"
)
_SEAT: Final = re.compile(
    r"\b(?:seats?|row|aisle|window|carriage|coach \d|car \d|berth|deck|front|back|balcony|stalls|booth|table|room|\d{1,2}[a-k])\b"
)


@lru_cache(maxsize=8192)
def details(text: str) -> frozenset[str]:
    """Return the kinds of detail in a text.

    They are time, day, price, count, reference, title, number, name, seat and place.
    """
    folded = text.lower()
    kinds = set()
    if times(folded):
        kinds.add("time")
    if days(folded) or dates(folded) or near(folded):
        kinds.add("day")
    if amounts(folded) or _FREE.search(folded):
        kinds.add("price")
    if counts(folded):
        kinds.update(("count", "number"))
    if _REFERENCE.search(text):
        kinds.update(("reference", "number"))
    if _QUOTED.search(text):
        kinds.update(("title", "name"))
    if any(c.isdigit() for c in folded):
        kinds.add("number")
    if names(text):
        kinds.update(("name", "place"))
    if _SEAT.search(folded):
        kinds.add("seat")
    return frozenset(kinds)
