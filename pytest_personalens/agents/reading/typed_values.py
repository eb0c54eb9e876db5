"""Finds the typed values of a statement, and compares them with the values of facts."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots, value_mentions
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world import values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.facts import FactKind

#: The kinds of facts whose values are found by their form. The others are found by their words.
TYPED: Final[frozenset[FactKind]] = frozenset({"count", "date", "time", "duration", "money"})
_NEAR: Final = {
    "day after tomorrow": 2, "tomorrow": 1, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "yesterday": -1,
}  # fmt: skip
_NEAR_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_NEAR)})\b")
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_NUMBER: Final = rf"(?:\d{{1,3}}|{slots.NUMBER_WORD})"
_SPAN: Final = re.compile(
    rf"\b(?:(?P<half>half an hour)|(?P<quarter>(?:a )?quarter of an hour)|(?P<fortnight>a fortnight)|(?P<one>an?|one) (?P<unit>minute|hour|day|week|month)(?! half| and a half)\b"
    rf"|(?P<number>\d+(?:[.,]5)?|{slots.NUMBER_WORD})(?P<and_half> and a half)?[ -]?(?P<units>minutes?|mins?|hours?|hrs?|h|days?|nights?|weeks?|months?)\b)"
)
_NUMBERED: Final = re.compile(
    rf"\b(?P<thing>volume|vol|book|part|number|no|episode|season|row)\.? (?P<number>{_NUMBER})\b"
    rf"|\b(?P<ordinal>{'|'.join(('first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'))}) (?P<of>volume|book|part|episode|season)\b"
    r"|\b(?P<percent>\d{1,3}) ?(?:%|percent\b|per cent\b)|\b(?P<times>once|twice)\b"
    rf"|\b(?P<label>people|guests?|persons?|adults?|party|seats?|tickets?|places?|nights?|titles?|rooms?|age|hours|entries|copies|hints|number of \w+)(?: \(\w+\))?(?:(?: count| number)?(?: is| are| ?[:=]) ?| (?<=nights )| (?<=tickets )| (?<=guests )| (?<=people ))(?P<value>{_NUMBER})\b(?![:.,]\d)"
    rf"|\bnumber of (?P<numbered>\w+)\b(?:[^.,;:\d]{{0,34}}?\b(?:to|is|at|of|now)|:) (?P<many>{_NUMBER})\b(?![:.]\d)"
    rf"|\b(?:table|tables|breakfast|dinner|lunch|brunch|food|meals?|takeaway|sushi|pizzas?|curry|booking|reservation|party) (?:booked |reserved )?(?:for|of) (?P<party>{_NUMBER})\b(?![:.]\d| ?(?:nights?|days?|hours?|o'clock|[ap]\.?m))"
    rf"|\b(?P<aged>{_NUMBER})[- ]years?[- ]olds?\b"
)
_LASTS: Final = re.compile(
    r"\b(?:for|in|of|within|about|over|takes?|lasts?|least|most|after|every|than|is|runs?|to|by)[: ]+$|: ?$"
)
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")  # fmt: skip
_MONTH: Final = "|".join(sorted(slots.MONTH_FORMS, key=len, reverse=True))
#: Two days of one month: "5 to 7 June", "June 5-7".
_FROM_TO: Final = re.compile(
    rf"\b(?P<first>\d{{1,2}})(?:st|nd|rd|th)?(?: ?- ?| to | until | till )(?=(?:\w{{3,9}},? )?\d{{1,2}}(?:st|nd|rd|th)? (?P<month>{_MONTH})\b)"
    rf"|\b(?P<earlier>{_MONTH}) (?P<begin>\d{{1,2}})(?:st|nd|rd|th)? ?(?:-|to|until) ?(?P<until>\d{{1,2}})\b(?![:.]\d)"
)
_UNITS: Final = {"min": "minute", "mins": "minute", "hr": "hour", "hrs": "hour", "h": "hour"}
#: A clock without minutes that is part of a count: "for two", "by four".
_BARE: Final = re.compile(r"(?:for|by|from|until|till|around|about|before|after) \w+")


class TypedValue(NamedTuple):
    """A value in a folded text, from `start` to `end`.

    `value` holds the day as (weekday, month, day, ISO date), the time as a `slots.Time`, the count as a
    number, the duration in minutes, or the sum. `thing` says what is counted; it may be empty.
    """

    kind: FactKind
    value: object
    start: int
    end: int
    said: str
    thing: str = ""


@lru_cache(maxsize=8192)
def typed_values(folded: str, today: str) -> tuple[TypedValue, ...]:
    """Return the typed values of a folded text, in the order of the text. `today` is an ISO date."""
    found = [*_durations(folded), *dates(folded, today), *_money(folded)]
    taken = [(v.start, v.end) for v in found]
    found += [
        v for v in _counts(folded) if not _within(v, taken) and not folded[: v.start].endswith(" past ")
    ]
    taken = [(v.start, v.end) for v in found if v.kind != "date"]
    found += [v for v in _times(folded) if not _within(v, taken)]
    return tuple(sorted(found, key=lambda v: v.start))


def same_length(value: str, text: str) -> bool:
    """True if a value is a length of time and the text names it in other words: "two hours", "120 minutes"."""
    wanted = _lengths(value)
    return len(wanted) == 1 and wanted.keys() <= _lengths(text).keys()


def with_length_of(value: str, text: str) -> str:
    """Return a text that names the same length as a value, with the words of the value for it."""
    (length,) = _lengths(value).items()
    return re.sub(re.escape(_lengths(text)[length[0]]), length[1], text, flags=re.IGNORECASE)


@lru_cache(maxsize=8192)
def _lengths(text: str) -> dict[object, str]:
    return {v.value: v.said for v in _durations(plain(text))}


def _within(value: TypedValue, taken: list[tuple[int, int]]) -> bool:
    return any(start < value.end and value.start < end for start, end in taken)


def _durations(folded: str) -> Iterator[TypedValue]:
    for m in _SPAN.finditer(folded):
        if m["half"] or m["quarter"]:
            minutes = 30.0 if m["half"] else 15.0
        elif m["fortnight"]:
            minutes = 20_160.0
        elif m["unit"]:
            if (
                m["unit"] in ("day", "week", "month")
                and m["one"] + m["unit"] not in ("oneweek", "onemonth")
                and not _LASTS.search(folded[max(0, m.start() - 14) : m.start()])
            ):
                continue  # "A Day in Rome", "three times a week"
            minutes = float(values.UNITS[m["unit"]])
        else:
            number = m["number"].replace(",", ".")
            count = float(number) if number[0].isdigit() else float(slots.number(number))
            unit = _UNITS.get(m["units"], m["units"].rstrip("s"))
            if unit == "night":
                continue
            minutes = (count + (0.5 if m["and_half"] else 0.0)) * values.UNITS[unit]
        yield TypedValue("duration", minutes, m.start(), m.end(), m[0])


def dates(folded: str, today: str) -> Iterator[TypedValue]:
    """Yield the days of a folded text, however long it is. `today` is an ISO date."""
    taken: list[tuple[int, int]] = []
    for m in _ISO.finditer(folded):
        taken.append(m.span())
        yield TypedValue("date", (None, int(m[2]), int(m[3]), m[0]), m.start(), m.end(), m[0])
    for m in _FROM_TO.finditer(folded):
        month, first_day = slots.MONTH_FORMS[m["month"] or m["earlier"]], int(m["first"] or m["begin"])
        start, end = m.span("first") if m["first"] else m.span("begin")
        taken.append((start, end))
        yield TypedValue("date", (None, month, first_day, None), start, end, folded[start:end])
        if m["begin"]:
            taken.append(m.span("until"))
            yield TypedValue("date", (None, month, int(m["until"]), None), *m.span("until"), m["until"])
    day_names = slots.day_mentions(folded)
    for (month, day), start, end in slots.date_mentions(folded):
        if any(s < end and start < e for s, e in taken) or _PERIOD.match(folded, end):
            continue
        if not month and not any(c.isdigit() for c in folded[start:end]):  # "the ninth" may be a title
            continue
        beside = [(d, s, e) for d, s, e in day_names if -8 < s - end < 3 or -8 < start - e < 8]
        first = min([start, *(s for _, s, _ in beside)])
        taken.append((first, end))
        yield TypedValue("date", (None, month or None, day, None), first, end, folded[first:end])
    for m in _NEAR_WORDS.finditer(folded):
        taken.append(m.span())
        day_meant = dt.date.fromisoformat(today) + dt.timedelta(days=_NEAR[m[0]])
        yield TypedValue(
            "date", (None, day_meant.month, day_meant.day, day_meant.isoformat()), m.start(), m.end(), m[0]
        )
    for weekday, start, end in day_names:
        if not any(s < end and start < e for s, e in taken):
            yield TypedValue("date", (weekday, None, None, None), start, end, folded[start:end])


#: Behind a number that is no day: "the second time", "24th floor".
_PERIOD: Final = re.compile(
    r" (?:floor|row|time|birthday|place|street|anniversary|volume|book|part|episode|season|one|title|option|half)\b"
)


def _money(folded: str) -> Iterator[TypedValue]:
    for m in slots.MONEY.finditer(folded):
        dollars = _DOLLARS.match(m[0]) and not folded[: m.start()].endswith(_OTHER_DOLLARS)
        for amount in slots.amounts(m[0]):
            yield TypedValue("money", amount, m.start(), m.end(), m[0], "" if dollars else "other")


#: The sums of facts are in US dollars.
_DOLLARS: Final = re.compile(r"\$|usd|us\$|.*(?:usd|dollars?|\$|bucks)$")
_OTHER_DOLLARS: Final = ("c", "a", "nz", "r", "mx", "hk", "ca", "au")


def _counts(folded: str) -> Iterator[TypedValue]:
    for m in _NUMBERED.finditer(folded):
        if m["number"]:
            number, thing = slots.number(m["number"]), m["thing"]
        elif m["ordinal"]:
            number, thing = _ORDINALS.index(m["ordinal"]) + 1, m["of"]
        elif m["percent"]:
            number, thing = int(m["percent"]), "percent"
        elif m["times"]:
            number, thing = ("once", "twice").index(m["times"]) + 1, "time"
        elif m["party"]:
            number, thing = slots.number(m["party"]), "people"
        elif m["many"]:
            number, thing = slots.number(m["many"]), m["numbered"]
        elif m["aged"]:
            number, thing = slots.number(m["aged"]), "old"
        else:
            number, thing = slots.number(m["value"]), m["label"].split()[-1].rstrip("s")
        yield TypedValue("count", number, m.start(), m.end(), m[0], thing)
    for quantity, mention in value_mentions.quantities(folded):
        if quantity.minutes is None:
            yield TypedValue(
                "count", quantity.number, mention.start, mention.end, mention.said, quantity.thing
            )


def _times(folded: str) -> Iterator[TypedValue]:
    seen: set[tuple[int, int]] = set()
    for time, start, end in slots.time_mentions(folded):
        # "For two" counts people, and "by four" may be an hour.
        if _BARE.fullmatch(folded[start:end]) and folded[start:end].startswith("for "):
            continue
        if not any(s <= start and end <= e for s, e in seen):
            seen.add((start, end))
            if time.half < 0 and folded[start] == "0":  # a clock with 24 hours
                time = time._replace(half=0)
            yield TypedValue("time", time, start, end, folded[start:end])


def agrees(found: TypedValue, written: str, today: str) -> bool:
    """True if a found value may be the `written` value of a fact, or lies in the written range."""
    first, dots, last = written.partition(RANGE)
    last = last if dots else first
    if found.kind == "date":
        return _agrees_date(found, first, last, today)
    low, high = values.ordinal(found.kind, first), values.ordinal(found.kind, last)
    if found.kind == "time":
        time = found.value
        assert isinstance(time, slots.Time)
        halves = (0, 1) if time.half < 0 else (time.half,)
        return any(low <= time.minutes + 720 * half <= high for half in halves)
    assert isinstance(found.value, int | float)
    return bool(low - 0.01 <= found.value <= high + 0.01)


def _agrees_date(found: TypedValue, first: str, last: str, today: str) -> bool:
    assert isinstance(found.value, tuple)
    weekday, month, day, iso = found.value
    start, end = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    if iso:
        return first <= str(iso) <= last
    length = min((end - start).days, 400)
    for step in range(length + 1):
        one = start + dt.timedelta(days=step)
        if weekday is not None:
            # A weekday alone is one of the next days; of a later day it is said with its date.
            if one.weekday() == weekday:
                return True
        elif one.day == day and month in (None, one.month):
            return True
    return False
