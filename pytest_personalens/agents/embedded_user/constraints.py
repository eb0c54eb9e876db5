"""What a preference asks of the hour, the day, the price and the number, and whether a text keeps to it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.measures import counted_things, hours_named, money, party, sums
from pytest_personalens.agents.language.slots import days, near
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import stems

if TYPE_CHECKING:
    from pytest_personalens.agents.language.slots import Time

_NOON: Final = 12 * 60
_DAY: Final = 24 * 60
#: Parts of the day in minutes from midnight, wide enough that nobody would argue; the first that fits a value counts.
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
_BOUND: Final = re.compile(r"\b(before|by|until|no later than|not after|after|from|not before|no earlier than|past)\b")
_UPPER: Final = ("before", "by", "until", "no later than", "not after")
#: Minutes by which an hour may be off; an alarm rings on the minute.
_ROOM: Final = 30
_EXACT: Final = re.compile(r"\b(?:alarm|wake|reminder|dose|medication)")
#: Types whose hour or day says when the thing itself takes place.
_TIMED: Final = re.compile(
    r"\b(?:time|times|showtimes?|hours?|slot|when|departure|showing|start|day|days|recurring|schedule|pick-?up|collection|appointment|delivery)\b"
)
_UNTIMED: Final = re.compile(r"\b(?:time ?zone|frequency|notification|reading|duration|season|lead time|reminder|alert|flexib\w*)\b")
_WEEK: Final = {
    "weekday": ("monday", "tuesday", "wednesday", "thursday", "friday"),
    "weekend": ("saturday", "sunday"),
}  # fmt: skip
_FULL_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPAN_OF_DAYS: Final = re.compile(rf"\b({'|'.join(_FULL_WEEK)})s? (?:to|through|until|till|-) ({'|'.join(_FULL_WEEK)})s?\b")
#: When something ends, is left again or must be called off by: no hour that anybody chose.
_OTHER_HOUR: Final = re.compile(
    r"\b(?:arriv\w*|until|till|ends?|ending|back|returns?|returning|closes?|closing|lands?|landing|finish\w*|check-?out|doors|remind\w*|cancel\w*|gets? (?:you )?in|moved from|instead of|"
    r"rather than|not|no longer|was|were|from|current|currently|before|plug|leave (?:home|by))\b[^,;.]{0,24}?\b\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\b\.?)?"
)
_RANGE: Final = re.compile(r"(\b\d{1,2}[:.]\d{2}\s?(?:[ap]m)?)\s?(?:-|to|until)\s?\d{1,2}[:.]\d{2}(?:\s?[ap]m)?")
_CLOCK_RANGE: Final = re.compile(
    r"\b(?:between )?(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm)?\s?(?:-|to|and|until)\s?(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm)\b"
)

_PRICED: Final = re.compile(r"\b(?:price|budget|cost|fare|spend|spending|rate|fee)\b")
_OPEN_UPWARD: Final = re.compile(r"\b(?:above|over|more than|at least|from|upwards?|best|any)\b|\+")

_PARTIES: Final = {"solo": (1, 1), "alone": (1, 1), "as a pair": (1, 2), "couple": (2, 2), "small group": (3, 8), "group of friends": (3, 99), "large group": (6, 999), "family with children": (3, 99)}  # fmt: skip
#: What a limit may be meant for; how many there are of it is often not said.
_EACH: Final = re.compile(r"\b(?:each|per|an?|apiece|pp|both|monthly|weekly|daily|yearly)\b")
_ALL: Final = re.compile(r"\b(?:total|in all|together|altogether|both|all of it|for the (?:two|three|four|lot))\b")
#: A value that is a number and little else: "30 days", and not "one snooze of 7 minutes" or "under 30 minutes".
_PLAIN_COUNT: Final = re.compile(r"(?:an? )?[a-z0-9]+[ -][a-z]+(?:'|'s)?(?: (?:supply|each time|at a time|long))?")
_BOUNDED: Final = re.compile(r"\b(?:under|over|up|below|less|more|least|most|max\w*|min\w*|about|around|within|before|after|every)\b")


class TimeSlot(NamedTuple):
    """What one value asks for; None where it asks for nothing of the kind."""

    days: frozenset[str] | None = None
    window: tuple[int, int] | None = None


class Constraint:
    """The hours, days, sums and numbers that a preference of the given name and values allows."""

    def __init__(self, name: str, values: tuple[str, ...]) -> None:
        self.name = plain(name)
        self.values = tuple(plain(v) for v in values)

    @property
    def timed(self) -> bool:
        """True if the preference is about when the thing takes place."""
        return bool(_TIMED.search(self.name)) and not _UNTIMED.search(self.name)

    @property
    def slots(self) -> tuple[TimeSlot, ...]:
        """One slot for each value; empty where some value says nothing of days and hours, and so allows any."""
        found = tuple(_slot(v, exact=bool(_EXACT.search(self.name))) for v in self.values)
        return found if self.timed and all(s.days or s.window for s in found) else ()

    @property
    def limit(self) -> tuple[float, str] | None:
        """The highest sum that is allowed and its currency, None if there is no such limit."""
        if not (_PRICED.search(self.name) or any(sums(v) for v in self.values)):
            return None
        if any(_OPEN_UPWARD.search(v) or _EACH.search(v) for v in self.values):
            return None
        tops = [max(sums(v), default=(0.0, "") if re.fullmatch(r"free(?: of charge)?", v) else None) for v in self.values]
        known = [t for t in tops if t is not None]
        return max(known) if known and len(known) == len(tops) else None

    @property
    def counts(self) -> frozenset[tuple[int, str]]:
        """Numbers with what they count; empty where some value has none."""
        if _PRICED.search(self.name) or _UNTIMED.search(self.name):
            return frozenset()
        found = [frozenset(counted_things(v)) if _PLAIN_COUNT.fullmatch(v) and not _BOUNDED.search(v) else frozenset() for v in self.values]
        return frozenset().union(*found) if all(found) else frozenset()

    @property
    def party(self) -> tuple[int, int] | None:
        """How few and how many people, None if that is open."""
        sizes = [_PARTIES.get(v) for v in self.values]
        known = [s for s in sizes if s]
        return (min(s[0] for s in known), max(s[1] for s in known)) if known and len(known) == len(sizes) else None

    def fits(self, folded: str) -> bool:
        """True if the text names an hour and day, a sum or a number that the preference allows."""
        slots, limit = self.slots, self.limit
        said = _chosen_hours(folded)
        if slots and _when(said) and any(_agrees(slot, said) for slot in slots):
            return True
        if limit and any(s <= limit[0] and (not limit[1] or sign == limit[1]) for s, sign in sums(folded)):
            return True
        if self.party and any(self.party[0] <= n <= self.party[1] for n in party(folded)):
            return True
        return bool(self.counts & frozenset(counted_things(folded)))

    def breach(self, folded: str, *, asked: bool = False) -> str:
        """What the text names against the preference: "20:15", "$45", "90 days"; empty if nothing.

        A question that is `asked` may leave unsaid what its number counts: "Shall I make it 90 days?"
        """
        return self._late(folded) or self._dear(folded) or self._number(folded, asked=asked)

    def _late(self, folded: str) -> str:
        slots = self.slots
        if not slots:
            return ""
        said = _chosen_hours(folded)
        if _when(said) and not any(_agrees(slot, said) for slot in slots):
            return _first_when(said, slots)
        return ""

    def _dear(self, folded: str) -> str:
        limit = self.limit
        found = sums(folded)
        if limit is None or not found:
            return ""
        if limit[1] and any(sign != limit[1] for _, sign in found):
            return ""  # nobody converts in their head
        if _ALL.search(folded) and not party(folded):
            return ""
        heads = max([n for n in party(folded) if n < 20], default=1)
        lowest, sign = min(found)
        return money(lowest, sign) if lowest / heads > limit[0] else ""

    def _number(self, folded: str, *, asked: bool) -> str:
        if self.party:
            wrong = [n for n in party(folded) if not self.party[0] <= n <= self.party[1]]
            return ("one person" if wrong[0] == 1 else f"{wrong[0]} people") if wrong and len(wrong) == len(party(folded)) else ""
        own = self.counts
        units = {unit for _, unit in own}
        wrong_counts = [(n, unit) for n, unit in counted_things(folded, chosen=True) if unit in units]
        if own and wrong_counts and not own & set(wrong_counts):
            n, unit = wrong_counts[0]
            # Another number of days may count something else.
            if not asked and not (
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
        """True if the text speaks of any hour, day, sum or number of the preference's kind."""
        if self.slots and (_when(folded) or near(folded)):
            return True
        if self.limit and sums(folded):
            return True
        if self.party and party(folded):
            return True
        return bool({u for _, u in self.counts} & {u for _, u in counted_things(folded)})


def constraint(name: str, values: tuple[str, ...]) -> Constraint:
    """The constraint of a preference."""
    return _constraint(name, values)


@lru_cache(maxsize=2048)
def _constraint(name: str, values: tuple[str, ...]) -> Constraint:
    return Constraint(name, values)


@lru_cache(maxsize=2048)
def _slot(value: str, *, exact: bool) -> TimeSlot:
    return TimeSlot(_days(value), _window(value, exact=exact))


def _days(folded: str) -> frozenset[str] | None:
    if re.search(r"\bevery day\b|\bdaily\b", folded):
        return None
    span = _SPAN_OF_DAYS.search(folded)
    if span:
        start, end = _FULL_WEEK.index(span[1]), _FULL_WEEK.index(span[2])
        return frozenset(_FULL_WEEK[start : end + 1] if start <= end else (*_FULL_WEEK[start:], *_FULL_WEEK[: end + 1]))
    found = set(days(folded))
    for word, meant in _WEEK.items():
        if re.search(rf"\b{word}s?\b", folded):
            found |= set(meant)
    return frozenset(found) or None


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
    """Minutes from midnight; an hour without a half of the day is one at which people are up."""
    half = hour.half
    if half < 0:
        half = int(
            bool(re.search(r"\b(?:evening|afternoon|night|tonight|dinner)\b", folded))
            or (hour.minutes < 6 * 60 and not re.search(r"\b0\d:", folded))
        )
    return hour.minutes + half * _NOON


def _agrees(slot: TimeSlot, folded: str) -> bool:
    """True if the text's day and hour, as far as it names them, are those of the slot."""
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
    return any(window[0] <= hour.minutes + half * _NOON + shift <= window[1] for half in halves for shift in (0, _DAY))


def _named_parts(folded: str) -> list[tuple[int, int]]:
    return [(start, end) for pattern, start, end in _PART if pattern.search(folded)][:1]


def _when(folded: str) -> bool:
    return bool(hours_named(folded) or _days(folded) or _named_parts(folded))


def _chosen_hours(folded: str) -> str:
    return _OTHER_HOUR.sub(" ", _RANGE.sub(r"\1", folded))


def _first_when(folded: str, slots: tuple[TimeSlot, ...]) -> str:
    """The hour or day in the text that does not agree, as it can be said back."""
    named = _days(folded)
    if named and all(s.days and not s.days & named for s in slots):
        day = min(named, key=_FULL_WEEK.index)
        return day.capitalize() if len(named) == 1 else "those days"
    found = re.search(r"\b\d{1,2}[:.]\d{2}(?:\s?[ap]\.?m\b)?|\b\d{1,2}\s?[ap]\.?m\b", folded)
    if found and hours_named(folded):
        return found[0]
    part = next((m[0] for pattern, _, _ in _PART if (m := pattern.search(folded))), "")
    return f"the {part}" if re.fullmatch(r"(?:early |late )?(?:morning|afternoon|evening)", part) else part or "that hour"
