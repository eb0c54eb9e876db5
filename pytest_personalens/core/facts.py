"""The values of a scenario that can be checked: its clock, facts, existing things, limits and sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, Field

from pytest_personalens.core.frozen import Frozen, Sparse, Text

#: What a fact is. It decides how its values are written, compared and said.
FactKind = Literal[
    "count", "date", "time", "duration", "money", "place", "person", "item", "provider", "text"
]
#: Where a fact is known: the user says it in the opening, or tells it when asked; the history tells it, so
#: that an assistant with a memory need not ask; or it is open, so that the assistant may choose.
Known = Literal["said", "told", "history", "open"]
#: Why something must never happen to a person.
LimitKind = Literal["allergy", "diet", "religion", "health", "access", "phobia"]
#: Between the ends of a range, in a fact's values.
RANGE: Final = " .. "


def _day(text: str) -> str:
    import datetime as dt

    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is no day of the calendar, such as 2026-03-14") from None


def _hour(text: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", text):
        raise ValueError(f"{text!r} is no time of day, such as 18:40")
    return text


#: A day as an ISO text, such as 2026-03-14.
Day = Annotated[str, AfterValidator(_day)]
#: A time of day with 24 hours, such as 18:40.
Hour = Annotated[str, AfterValidator(_hour)]


class Clock(Frozen):
    """The moment at which a scenario begins, in the user's time; `zone` is an IANA name, or empty."""

    date: Day
    time: Hour
    zone: str = ""

    def __str__(self) -> str:
        import datetime as dt

        day = dt.date.fromisoformat(self.date)
        zone = f" ({self.zone})" if self.zone else ""
        return f"{day:%A} {day.day} {day:%B %Y}, {self.time}{zone}"


class Fact(Frozen):
    """One typed fact of a task.

    `right` holds the values of which any is right; with `every`, all of them are needed. An empty `right`
    means that any value will do. `wrong` holds values that look right and are not: the neighbour day, one
    person fewer, the other booking. A value is a text of its kind: ``3``, ``2026-03-14``, ``19:30``,
    ``2 weeks``, ``45`` (dollars), or the words themselves. ``17:00 .. 22:00`` is a range with both ends.

    `rule` is set if what is right follows from another open fact, such as ``@dinner + 60 minutes``.
    `example` is one right value. `says` is how a person says what is right; it is empty if all is open.
    """

    name: str
    what: Text
    kind: FactKind
    known: Known
    right: tuple[Text, ...] = ()
    wrong: tuple[Text, ...] = ()
    every: bool = False
    rule: str = ""
    example: Text = ""
    says: Text = ""


class Thing(Frozen):
    """Something that exists before the dialogue, such as a booking.

    Its fields are facts of the task, named ``booking.time`` and so on. `record` says it in words, and
    `other` says the second thing of its kind that the user has; it is empty if there is none.
    """

    name: str
    what: Text
    domain: str
    record: Text
    other: Text = ""


class Limit(Frozen):
    """What must never happen to the user; a reply with one of `words` (small letters) breaks the limit."""

    kind: LimitKind
    name: Text
    text: Text
    words: tuple[Text, ...] = Field(min_length=1)


class Session(Sparse):
    """A past conversation; `messages` are those of the OpenAI protocol.

    `date`, `time` and `domain` are empty where the dataset does not say them.
    """

    id: str
    date: Day | Literal[""] = ""
    domain: str = ""
    device: str = ""
    messages: tuple[dict[str, str], ...]
    time: Hour | Literal[""] = ""
    rare: ClassVar[Mapping[str, object]] = {"time": ""}

    def text(self) -> str:
        """Return the conversation as plain text, below its date and domain."""
        head = ", ".join(filter(None, (f"{self.date} {self.time}".strip(), self.domain)))
        lines = [f"{message['role'].capitalize()}: {message['content']}" for message in self.messages]
        return "\n".join([f"[{head}]", *lines] if head else lines)


#: Where a value was lost on its way from the user's words to the reply. The two without "never" and "found"
#: are all that a store without `all`, or without `read`, can tell.
Step = Literal[
    "never stored", "stored and not found", "found and not used", "not found", "stored and not used"
]


class StoredValue(Frozen):
    """A value of a test in the store: the number of `entries` that hold it, and if it is `found`.

    Null where the store has no function that tells it.
    """

    value: Text
    entries: int | None = Field(default=None, ge=0)
    found: bool | None = None

    @property
    def step(self) -> Step | None:
        """Where the value was lost if no reply says it; None if the store tells nothing of it."""
        if self.found:
            return "found and not used"
        if self.entries == 0:
            return "never stored"
        if self.found is None:
            return None if self.entries is None else "stored and not used"
        return "not found" if self.entries is None else "stored and not found"


class StoreLook(Frozen):
    """What the store held of the user before the last session of a dialogue of several.

    `entries` is the number of all entries. `residue` is the number of those that hold what the user has asked
    to forget. Null where the store does not tell it, or nothing was asked to be forgotten.
    """

    entries: int | None = Field(default=None, ge=0)
    residue: int | None = Field(default=None, ge=0)
    values: tuple[StoredValue, ...] = ()

    def of(self, value: str) -> StoredValue | None:
        """Return what is known of a value of the test, by its first way to be written."""
        return next((one for one in self.values if one.value == value), None)
