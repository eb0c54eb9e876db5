"""The days and hours of a value, and whether a text agrees with them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.preferences.measures import hours_named
from pytest_personalens.agents.language.slots import days

if TYPE_CHECKING:
    from pytest_personalens.agents.language.slots import Time

_NOON: Final = 12 * 60
_DAY: Final = 24 * 60
#: Parts of the day in minutes from midnight. They are wide, so that nobody disagrees. The first that fits a
#: value counts.
_PARTS: Final = (
    (r"\bearly(?:-| in the )?\s?morning\b|\bfirst thing\b", 240, 570),
    (r"\bmid-?\s?morning\b", 530, 720),
    (r"\blate morning\b", 570, 750),
    (r"\bmatin[eé]es?\b", 600, 1050),
    (r"\blate afternoon\b", 870, 1140),
    (r"\bearly evening\b", 990, 1230),
    (r"\bafter work\b", 960, 1320),
    (r"\blate (?:show|night|evening)s?\b", 1230, 1740),
    (r"\bovernight\b|\bred-eye\b|\bnights?\b|\btonight\b", 1110, 1800),
    (r"\bmornings?\b", 240, 750),
    (r"\blunch(?:time| ?break)?\b|\bmidday\b|\bnoon\b", 660, 870),
    (r"\bafternoons?\b", 690, 1110),
    (r"\bevenings?\b", 1005, 1440),
)  # fmt: skip
_PART: Final = tuple((re.compile(pattern), start, end) for pattern, start, end in _PARTS)
_BOUND: Final = re.compile(
    r"\b(before|by|until|no later than|not after|after|from|not before|no earlier than|past)\b"
)
_UPPER: Final = ("before", "by", "until", "no later than", "not after")
#: Minutes by which an hour may differ. An alarm must ring on the minute.
_ROOM: Final = 30
_WEEK: Final = {
    "weekday": ("monday", "tuesday", "wednesday", "thursday", "friday"),
    "weekend": ("saturday", "sunday"),
}  # fmt: skip
_FULL_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPAN_OF_DAYS: Final = re.compile(
    rf"\b({'|'.join(_FULL_WEEK)})s? (?:to|through|until|till|-) ({'|'.join(_FULL_WEEK)})s?\b"
)
#: Hours that nobody chose: the end of something, the way back, or the last hour to cancel.
_OTHER_HOUR: Final = re.compile(
    r"\b(?:arriv\w*|until|till|ends?|ending|back|returns?|returning|closes?|closing|lands?|landing|finish\w*|check-?out|doors|remind\w*|cancel\w*|gets? (?:you )?in|moved from|instead of|"
    r"rather than|not|no longer|was|were|from|current|currently|before|plug|leave (?:home|by))\b[^,;.]{0,24}?\b\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\b\.?)?"
)
_RANGE: Final = re.compile(
    r"(\b\d{1,2}[:.]\d{2}\s?(?:[ap]m)?)\s?(?:-|to|until)\s?\d{1,2}[:.]\d{2}(?:\s?[ap]m)?"
)
_CLOCK_RANGE: Final = re.compile(
    r"\b(?:between )?(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm)?\s?(?:-|to|and|until)\s?(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm)\b"
)


class TimeSlot(NamedTuple):
    """The days and the window of hours that one value asks for.

    A field is None if the value asks for nothing of this kind. The window is in minutes from midnight.
    """

    days: frozenset[str] | None = None
    window: tuple[int, int] | None = None


@lru_cache(maxsize=2048)
def slot_of(value: str, *, exact: bool) -> TimeSlot:
    return TimeSlot(_days(value), _window(value, exact=exact))


def _days(folded: str) -> frozenset[str] | None:
    if re.search(r"\bevery day\b|\bdaily\b", folded):
        return None
    span = _SPAN_OF_DAYS.search(folded)
    if span:
        start, end = _FULL_WEEK.index(span[1]), _FULL_WEEK.index(span[2])
        return frozenset(
            _FULL_WEEK[start : end + 1] if start <= end else (*_FULL_WEEK[start:], *_FULL_WEEK[: end + 1])
        )
    named = set(days(folded))
    for word, meant in _WEEK.items():
        if re.search(rf"\b{word}s?\b", folded):
            named |= set(meant)
    return frozenset(named) or None


def _window(folded: str, *, exact: bool) -> tuple[int, int] | None:
    span = _CLOCK_RANGE.search(folded)
    if span:
        late = span[6] == "pm"
        end = _clock(span[4], span[5], late)
        start = _clock(span[1], span[2], span[3] == "pm" if span[3] else late)
        return (start if start <= end else start - _NOON, end)
    hours = hours_named(folded)
    bound = _BOUND.search(folded)
    part = next(((start, end) for pattern, start, end in _PART if pattern.search(folded)), None)
    if hours and not (part and not bound and not re.search(r"\d", folded)):
        minute = _minutes(hours[0], folded)
        if bound:
            return (0, minute) if bound[1] in _UPPER else (minute, _DAY)
        room = 0 if exact else _ROOM
        return minute - room, minute + room
    return part


def _clock(hour: str, minute: str | None, late: bool) -> int:
    return int(hour) % 12 * 60 + int(minute or 0) + (_NOON if late else 0)


def _minutes(hour: Time, folded: str) -> int:
    """Return the minutes from midnight.

    An hour without a half of the day is taken as one when people are awake.
    """
    half = hour.half
    if half < 0:
        half = int(
            bool(re.search(r"\b(?:evening|afternoon|night|tonight|dinner)\b", folded))
            or (hour.minutes < 6 * 60 and not re.search(r"\b0\d:", folded))
        )
    return hour.minutes + half * _NOON


def agrees(slot: TimeSlot, folded: str) -> bool:
    """True if the day and the hour in the text are those of the slot.

    The text also agrees where it names no day or no hour.
    """
    named = _days(folded)
    if slot.days and named and not slot.days & named:
        return False
    if not slot.window:
        return True
    hours = hours_named(folded)
    if hours:
        return any(_inside(hour, slot.window) for hour in hours)
    parts = _named_parts(folded)
    return not parts or any(start < slot.window[1] and end > slot.window[0] for start, end in parts)


def _inside(hour: Time, window: tuple[int, int]) -> bool:
    halves = (0, 1) if hour.half < 0 else (hour.half,)
    return any(
        window[0] <= hour.minutes + half * _NOON + shift <= window[1]
        for half in halves
        for shift in (0, _DAY)
    )


def _named_parts(folded: str) -> list[tuple[int, int]]:
    return [(start, end) for pattern, start, end in _PART if pattern.search(folded)][:1]


def names_a_time(folded: str) -> bool:
    return bool(hours_named(folded) or _days(folded) or _named_parts(folded))


def chosen_hours(folded: str) -> str:
    return _OTHER_HOUR.sub(" ", _RANGE.sub(r"\1", folded))


def first_wrong_time(folded: str, slots: tuple[TimeSlot, ...]) -> str:
    """Return the hour or day in the text that does not agree.

    Its form is one that the user can repeat.
    """
    named = _days(folded)
    if named and all(s.days and not s.days & named for s in slots):
        day = min(named, key=_FULL_WEEK.index)
        return day.capitalize() if len(named) == 1 else "those days"
    clock = re.search(r"\b\d{1,2}[:.]\d{2}(?:\s?[ap]\.?m\b)?|\b\d{1,2}\s?[ap]\.?m\b", folded)
    if clock and hours_named(folded):
        return clock[0]
    part = next((m[0] for pattern, _, _ in _PART if (m := pattern.search(folded))), "")
    return (
        f"the {part}"
        if re.fullmatch(r"(?:early |late )?(?:morning|afternoon|evening)", part)
        else part or "that hour"
    )
