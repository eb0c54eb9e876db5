"""The written form of typed values: reads them, moves them, finds their neighbours, and says them."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.dates import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pytest_personalens.core.facts import FactKind

_NUMBERS: Final = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_TIMES: Final = {"1": "once", "2": "twice"}
#: The minutes of each unit of a duration. A month has thirty days here.
UNITS: Final = {"minute": 1, "hour": 60, "day": 1440, "night": 1440, "week": 10_080, "month": 43_200}
_SPAN: Final = re.compile(r"(?P<number>\d+) (?P<unit>minute|hour|day|night|week|month)s?")
_CLOCK: Final = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?: (?P<half>[AP]M))?")
_STEP: Final = re.compile(r"(?P<number>\d+)(?: (?P<unit>minute|hour|day|week)s?)?")


def parse(kind: FactKind, text: str) -> str:
    """Return the value as it is written, such as ``19:30`` for ``7:30 PM``; raise ValueError for none."""
    if kind in ("count", "money"):
        if not text.isdecimal():
            raise ValueError(f"{text!r} is no number, such as 3")
        return str(int(text))
    if kind == "time":
        match = _CLOCK.fullmatch(text)
        if match is None or int(match["hour"]) > 23 or int(match["minute"]) > 59:
            raise ValueError(f"{text!r} is no time of day, such as 19:30")
        hour = int(match["hour"])
        if match["half"]:
            hour = hour % 12 + (12 if match["half"] == "PM" else 0)
        return f"{hour:02}:{match['minute']}"
    if kind == "duration":
        text = {"half an hour": "30 minutes"}.get(text, text)
        span = _SPAN.fullmatch(text)
        if span is None:
            raise ValueError(f"{text!r} is no duration, such as 2 weeks or 30 minutes")
        return f"{int(span['number'])} {span['unit']}{'' if int(span['number']) == 1 else 's'}"
    if kind == "date":
        return dt.date.fromisoformat(text).isoformat()
    if not text.strip():
        raise ValueError("expected a text that is not empty")
    return text


def ordinal(kind: FactKind, value: str) -> float:
    """Return a number that orders the values of a kind: days from year 1, times and durations in minutes."""
    if kind == "date":
        return dt.date.fromisoformat(value).toordinal()
    if kind == "time":
        hour, minute = value.split(":")
        return int(hour) * 60 + int(minute)
    if kind == "duration":
        span = _SPAN.fullmatch(value)
        assert span is not None
        return int(span["number"]) * UNITS[span["unit"]]
    return float(value)


def shift(kind: FactKind, value: str, step: str) -> str:
    """Return the value and a step such as ``-1 hour``; raise ValueError if the step does not fit."""
    sign = -1 if step[0] == "-" else 1
    match = _STEP.fullmatch(step.lstrip("+-").strip())
    if match is None:
        raise ValueError(f"{step!r} is no step, such as + 2 days")
    number, unit = sign * int(match["number"]), match["unit"]
    if kind == "date" and unit in ("day", "week"):
        days = number * (7 if unit == "week" else 1)
        return (dt.date.fromisoformat(value) + dt.timedelta(days=days)).isoformat()
    if kind == "time" and unit in ("minute", "hour"):
        minute = int(ordinal(kind, value)) + number * UNITS[unit]
        if not 0 <= minute < UNITS["day"]:
            raise ValueError(f"{value} {step} lies on another day")
        return f"{minute // 60:02}:{minute % 60:02}"
    if kind in ("count", "money") and unit is None:
        if int(value) + number < 0:
            raise ValueError(f"{value} {step} is less than nothing")
        return str(int(value) + number)
    raise ValueError(f"{step!r} does not fit a {kind}")


def range_ends(value: str) -> tuple[str, str]:
    """Return the ends of a range, or twice the value if it is none."""
    first, dots, last = value.partition(RANGE)
    return (first, last) if dots else (value, value)


@lru_cache(maxsize=4096)
def neighbours(kind: FactKind, value: str) -> tuple[str, ...]:
    """Return values beside a value or a range that look right and are wrong, of kinds that have an order."""
    first, last = range_ends(value)
    below, above = _BESIDE.get(kind, ((), ()))
    found = []
    for end, steps in ((first, below), (last, above)):
        for step in steps:
            try:
                found.append(_money(end, step) if kind == "money" else _beside(kind, end, step))
            except (ValueError, OverflowError):
                continue
    return tuple(dict.fromkeys(v for v in found if v and v not in (first, last)))


def values_beside(kind: FactKind, right: Collection[str]) -> tuple[str, ...]:
    """Return the neighbours of all right values that are not right themselves."""
    found = dict.fromkeys(value for one in right for value in neighbours(kind, one))
    return tuple([value for value in found if value not in right])


#: The steps to the neighbours below the first end and above the last one.
_BESIDE: Final[dict[FactKind, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "count": (("-1",), ("+1",)),
    "date": (("-1 day",), ("+1 day", "+1 week")),
    "time": (("-1 hour",), ("+1 hour",)),
    "duration": (("-1",), ("+1",)),
    "money": (("half",), ("more",)),
}


def _beside(kind: FactKind, value: str, step: str) -> str:
    if kind != "duration":
        return shift(kind, value, step)
    number, _, unit = value.partition(" ")
    other = int(number) + (int(step) if UNITS[unit.rstrip("s")] > 1 else 15 * int(step))
    return parse(kind, f"{other} {unit}") if other > 0 else ""


def _money(value: str, step: str) -> str:
    return str(int(value) // 2 if step == "half" else int(value) + max(10, int(value) // 2))


def say(kind: FactKind, value: str, form: str = "") -> str:
    """Return the value in a person's words, such as ``Friday 10 April``.

    `form` asks for another: ``weekday`` or ``dayname`` (Friday), ``digits``, ``times`` (twice), ``nights``
    (two nights), ``people`` (two people) or ``capital``. A range is said as "between ... and ...".
    """
    first, last = range_ends(value)
    if first != last:
        form = "digits" if kind == "count" else form
        return f"between {_say(kind, first, form)} and {_say(kind, last, form)}"
    return _say(kind, value, form)


#: The forms in which a placeholder may ask for a value.
FORMS: Final = ("weekday", "dayname", "digits", "times", "nights", "people", "capital")


def _say(kind: FactKind, value: str, form: str) -> str:
    if form in ("weekday", "dayname") and kind == "date":
        return WEEKDAYS[dt.date.fromisoformat(value).weekday()]
    if form == "digits":
        return value
    if form == "times" and kind == "count":
        return _TIMES.get(value, f"{number_word(value)} times")
    if form == "nights" and kind == "count":
        return f"{number_word(value)} night{'' if value == '1' else 's'}"
    if form == "people" and kind == "count":
        return f"{number_word(value)} {'person' if value == '1' else 'people'}"
    text = _SAY[kind](value) if kind in _SAY else value
    return text[:1].upper() + text[1:] if form == "capital" else text


def number_word(digits: str) -> str:
    """Return the word of a number up to twelve, and else its digits."""
    return _NUMBERS[int(digits)] if int(digits) < len(_NUMBERS) else digits


def _date(value: str) -> str:
    day = dt.date.fromisoformat(value)
    return f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"


def _duration(value: str) -> str:
    if value == "30 minutes":
        return "half an hour"
    number, unit = value.split()
    if number == "1":
        return f"{'an' if unit == 'hour' else 'a'} {unit}"
    return f"{number_word(number)} {unit}"


#: How the values of a kind are said; others are said as they are written.
_SAY: Final[dict[FactKind, Callable[[str], str]]] = {
    "count": number_word,
    "date": _date,
    "duration": _duration,
    "money": lambda value: f"${value}",
}


def join_words(texts: list[str], word: str = "and") -> str:
    """Return the texts as a list in a sentence."""
    return f" {word} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
