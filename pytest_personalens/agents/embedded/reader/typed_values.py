"""Finds the typed values of a text, and compares them with the written values of facts."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import fold, mentions, plain
from pytest_personalens.agents.embedded.reader.written_forms import (
    CURRENCY_BEFORE,
    CURRENCY_BEHIND,
    NUMBER_WORD,
    ORDINALS,
    UNITS,
    Day,
    Time,
    Value,
    counts,
    days,
    lengths,
    money,
    times,
)
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.written import ordinal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.facts import Clock, FactKind


#: A shorter value is a size or a letter, and is found as it is written.
_SHORTEST: Final = 3
_TITLES: Final = frozenset(
    "the your my aunt auntie uncle cousin mrs mr ms dr father mother grandma grandpa don dona".split()  # noqa: SIM905
)
#: Before the place that somebody leaves, or that is named for another reason.
_LEAVES: Final = re.compile(r"\b(?:from|via|leav\w*|home|near|live\w*|based)\b[^,.;]{0,16}$")


@lru_cache(maxsize=32_768)
def says(value: str, text: str, kind: FactKind = "text") -> bool:
    """True if a text says a value that is a name or words; a person also by the first name."""
    if len(value) <= _SHORTEST:
        return bool(re.search(rf"(?<![\w'’]){re.escape(value)}(?![\w'’])", text))
    if mentions(value, text):
        return True
    if kind in ("item", "text") and (long := [v.value for v in values(value) if v.kind == "duration"]):
        return any(v.kind == "duration" and v.value in long for v in values(text))  # "two hours before"
    if kind == "person":
        first = first_name(value)
        return bool(first) and bool(re.search(rf"\b{re.escape(first)}\b", fold(text)))
    return False


def said_in(value: str, text: str, kind: FactKind, synonyms: Mapping[str, Sequence[str]]) -> str:
    """Return the way in which a text says a value, itself or a synonym of it; empty if it does not."""
    if says(value, text, kind):
        return value
    return next((way for way in synonyms.get(value, ()) if says(way, text, kind)), "")


def first_name(name: str) -> str:
    """Return the folded first name of a person; empty for a title, and for less than three letters."""
    first = re.split(r"[ -]", fold(name))[0].rstrip(".")
    return first if len(first) > 2 and first not in _TITLES else ""


def is_start(place: str, folded: str) -> bool:
    """True if a folded text names a place only as the one that somebody leaves."""
    at = folded.find(fold(place))
    return at >= 0 and bool(_LEAVES.search(folded[:at]))


#: The kinds of facts whose values are found by their form. The others are found by their words.
TYPED: Final = frozenset[str](("count", "date", "time", "duration", "money"))
#: What every number, length and time has, what every sum has besides, and what every day has.
_NUMBER: Final = re.compile(
    rf"\d|\b(?:{NUMBER_WORD}|noon|midday|midnight|both|once|twice|half|quarter|{'|'.join(UNITS)}|fortnight|a (?:couple|pair|dozen))\b"
    rf"|\b(?:{'|'.join(ORDINALS)}) [a-z]"
)
_CURRENCY: Final = re.compile(rf"{CURRENCY_BEFORE} ?\d|\d ?{CURRENCY_BEHIND}")
_SUM: Final = re.compile(r"dollars|bucks|euros|pounds|free\b|no (?:\w+ )?c|nothing")
_DIGIT: Final = re.compile(r"\d")
_DATE: Final = re.compile(
    r"\d|day|tonight|tomorrow|this (?:morning|afternoon|evening)|\b(?:tues?|wed|thu(?:rs?)?|fri)\b"
)
#: The most days of a range that is compared day by day.
_LONGEST: Final = 400


def values(text: str, now: Clock | None = None) -> list[Value]:
    """Return the typed values of a text, in its order; places are those of `plain(text)`.

    `now` says which day "tomorrow" is.
    """
    return list(_values(plain(text), now.date if now else ""))


@lru_cache(maxsize=8192)
def _values(folded: str, today: str) -> tuple[Value, ...]:
    numbers, found = _NUMBER.search(folded) is not None, list[Value]()

    def free(candidates: Iterable[Value], taken: Sequence[Value]) -> list[Value]:
        return [c for c in candidates if not any(v.start < c.end and c.start < v.end for v in taken)]

    if (_DIGIT.search(folded) and _CURRENCY.search(folded)) or _SUM.search(folded):
        found += money(folded)
    if numbers:
        found += free(lengths(folded), found)
    if _DATE.search(folded):
        found += free(days(folded, dt.date.fromisoformat(today) if today else None), found)
    if numbers:
        found += free(times(folded), found)
        # A number of nights or weeks is a count of them, too.
        found += free(counts(folded), [v for v in found if v.kind != "duration"])
    return tuple(sorted(found, key=lambda v: v.start))


def agrees(fact_kind: FactKind, written: str, value: Value) -> bool:
    """True if a value may be the `written` value of a fact of a kind, or lies in the written range.

    A weekday agrees with each of its dates, and a time without its half of the day with both. Values of other
    kinds, and sums in other currencies than dollars, do not agree.
    """
    if value.kind != fact_kind or value.thing == "other":
        return False
    if fact_kind not in TYPED:
        return str(value.value).lower() == written.lower()
    low, high = _range(fact_kind, written)
    if isinstance(value.value, Day):
        return _day_within(value.value, int(low), int(high))
    if isinstance(value.value, Time):
        minutes = value.value.minutes
        either = (minutes, (minutes + 720) % 1440) if value.value.either else (minutes,)
        return any(low <= time <= high for time in either)
    assert isinstance(value.value, int | float)
    return low - 0.01 <= value.value <= high + 0.01


@lru_cache(maxsize=8192)
def _range(kind: FactKind, written: str) -> tuple[float, float]:
    first, dots, last = written.partition(RANGE)
    return ordinal(kind, first), ordinal(kind, last if dots else first)


@lru_cache(maxsize=8192)
def _day_within(day: Day, low: int, high: int) -> bool:
    for number in range(low, min(high, low + _LONGEST) + 1):
        date = dt.date.fromordinal(number)
        if day.number is None:
            if date.weekday() == day.weekday:
                return True
        elif date.day == day.number and day.month in (None, date.month) and day.year in (None, date.year):
            return True
    return False
