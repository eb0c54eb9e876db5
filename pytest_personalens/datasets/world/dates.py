"""Finds the moment at which a scenario begins, and the days that words such as "Friday next week" mean."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.facts import Clock
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.datasets.dataset import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.scenario import Situation

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
#: The first Monday of the twelve weeks in which scenarios take place. All dealings lie before it.
FIRST_DAY: Final = dt.date(2026, 3, 2)
_WEEKS: Final = 12
#: The times of day, each as its first and its last minute of the day. A later one would reach into tomorrow,
#: because a task may take an hour and a half.
HOURS: Final = {
    "Morning": (7 * 60, 11 * 60 + 30),
    "Afternoon": (12 * 60 + 30, 17 * 60),
    "Evening": (18 * 60, 21 * 60),
    "Night": (21 * 60 + 30, 22 * 60 + 15),
}
#: How many days before the birthday a scenario about it takes place, at most and at least.
_BEFORE_BIRTHDAY: Final = (21, 8)

_WEEKDAY: Final = "|".join(WEEKDAYS)
_COUNTED: Final = re.compile(
    rf"(?:(?P<weekday>{_WEEKDAY}) )?in (?P<number>\d+) (?P<unit>day|week)s?|(?P<ago>\d+) days? ago"
)
_NEXT: Final = re.compile(rf"(?P<weekday>{_WEEKDAY})(?P<next> next week)?")
_LAST_OF_MONTH: Final = re.compile(rf"the last (?P<weekday>{_WEEKDAY}) of the month")

Span = tuple[dt.date, dt.date]


def clock(situation: Situation, *, zone: str, key: str, birthday: str = "") -> Clock:
    """Return a moment that agrees with the situation, by digest, one to three weeks before a `birthday`."""
    weekday = WEEKDAYS.index(situation.day_of_week)
    drawn = number(key, "clock")
    if birthday:
        most, least = _BEFORE_BIRTHDAY
        feast = _next_birthday(birthday, FIRST_DAY + dt.timedelta(days=most))
        days = [feast - dt.timedelta(days=n) for n in range(least, most + 1)]
        fitting = [day for day in days if day.weekday() == weekday]
        date = fitting[drawn % len(fitting)]
    else:
        date = FIRST_DAY + dt.timedelta(days=weekday + 7 * (drawn % _WEEKS))
    first, last = HOURS[situation.time_of_day]
    minute = first + 5 * (drawn // _WEEKS % ((last - first) // 5 + 1))
    time = f"{minute // 60:02}:{minute % 60:02}"
    return unchecked(Clock, date=date.isoformat(), time=time, zone=zone)


def days_of(words: str, today: dt.date, birthday: str = "") -> Span:
    """Return the first and last day that the words mean, weekdays after today; raise ValueError for none."""
    if words in _NAMED:
        return _NAMED[words](today)
    if match := _COUNTED.fullmatch(words):
        if match["ago"]:
            return _one(today - dt.timedelta(days=int(match["ago"])))
        later = today + dt.timedelta(days=int(match["number"]) * (7 if match["unit"] == "week" else 1))
        if not match["weekday"]:
            return _one(later)
        monday = later - dt.timedelta(days=later.weekday())
        return _one(monday + dt.timedelta(days=WEEKDAYS.index(match["weekday"])))
    if match := _NEXT.fullmatch(words):
        weekday = WEEKDAYS.index(match["weekday"])
        if match["next"]:
            return _one(today + dt.timedelta(days=7 - today.weekday() + weekday))
        return _one(today + dt.timedelta(days=(weekday - today.weekday() - 1) % 7 + 1))
    if match := _LAST_OF_MONTH.fullmatch(words):
        return _one(_last_of_month(WEEKDAYS.index(match["weekday"]), today))
    if words == "birthday" and birthday:
        return _one(_next_birthday(birthday, today))
    try:
        return _one(dt.date.fromisoformat(words))
    except ValueError:
        raise ValueError(
            f"{words!r} is no day; write 2026-03-14, today, Friday, Friday next week, in 3 days,"
            " Saturday in 2 weeks or the last Friday of the month"
        ) from None


def _one(day: dt.date) -> Span:
    return day, day


def _weekend_before(today: dt.date) -> Span:
    sunday = today - dt.timedelta(days=today.weekday() + 1)
    return sunday - dt.timedelta(days=1), sunday


#: Words that mean a day by themselves.
_NAMED: Final[dict[str, Callable[[dt.date], Span]]] = {
    "today": _one,
    "tomorrow": lambda today: _one(today + dt.timedelta(days=1)),
    "yesterday": lambda today: _one(today - dt.timedelta(days=1)),
    "last weekend": _weekend_before,
}


def _last_of_month(weekday: int, today: dt.date) -> dt.date:
    """Return the last such weekday of this month, or of the next one if it is not after tomorrow."""
    for months in (1, 2):
        year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
        last = dt.date(year, month + 1, 1) - dt.timedelta(days=1)
        day = last - dt.timedelta(days=(last.weekday() - weekday) % 7)
        if day > today + dt.timedelta(days=1):
            break
    return day


def _next_birthday(birthday: str, today: dt.date) -> dt.date:
    month, day = (int(part) for part in birthday.split("-"))
    for year in (today.year, today.year + 1):
        # Who is born on 29 February celebrates on the 28th in other years.
        leap = year % 4 == 0
        date = dt.date(year, month, 28 if (month, day) == (2, 29) and not leap else day)
        if date > today:
            break
    return date
