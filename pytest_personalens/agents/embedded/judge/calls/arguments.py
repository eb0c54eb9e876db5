"""The values in the arguments of a tool call, beside those in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded.judge.calls.actions import Action, plain_values
from pytest_personalens.agents.embedded.reader.kinds import Day, Time
from pytest_personalens.agents.embedded.reader.tables import PERSONS
from pytest_personalens.agents.embedded.reader.text import stem
from pytest_personalens.agents.embedded.reader.values import values

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_personalens.core.facts import Clock

#: Keys of arguments that count what people count, and keys that name what a call is about.
_OF_COUNTS: Final = frozenset(
    "people person persons guests guest party party_size size count number quantity qty seats tickets places num passengers adults rooms nights copies".split()  # noqa: SIM905
)
_OF_THINGS: Final = frozenset(
    "title name book restaurant hotel venue event product film movie show song track album artist game recipient to stylist company airline destination".split()  # noqa: SIM905
)
_COUNTED: Final = PERSONS | {stem("nights"), stem("rooms"), stem("copies"), stem("places")}
_NAME: Final = re.compile(r"[A-ZÀ-Þ].{2,}")
_LARGEST_COUNT: Final = 1_000


class Held(NamedTuple):
    """The hours, weekdays, days of the month and counts that a text or a call names."""

    times: Collection[Time]
    weekdays: Collection[int]
    days: Collection[int]
    counts: Collection[int]

    @classmethod
    def of_text(cls, text: str, now: Clock | None) -> Held:
        """Return those of a text."""
        found = values(text, now)
        dates = [v.value for v in found if isinstance(v.value, Day)]
        counts = [
            v.value
            for v in found
            if v.kind == "count" and isinstance(v.value, int) and set(v.thing.split()) & _COUNTED
        ]
        return cls(
            [v.value for v in found if isinstance(v.value, Time)],
            {d.weekday for d in dates if d.weekday is not None},
            {d.number for d in dates if d.number is not None},
            counts,
        )

    @classmethod
    def of_call(cls, action: Action, now: Clock | None) -> Held:
        """Return those of the arguments of a call."""
        arguments = action.call.arguments
        held = [cls.of_text(text, now) for text in plain_values(dict(arguments))]
        return cls(
            [time for one in held for time in one.times],
            {day for one in held for day in one.weekdays},
            {day for one in held for day in one.days},
            {
                value
                for name, value in arguments.items()
                if name.lower() in _OF_COUNTS and isinstance(value, int) and 0 < value < _LARGEST_COUNT
            },
        )

    def only(self, kinds: Collection[str]) -> Held:
        """Return those of some kinds of detail, as parts name them: time, day, count."""
        day = "day" in kinds
        return Held(
            self.times if "time" in kinds else (),
            self.weekdays if day else (),
            self.days if day else (),
            self.counts if "count" in kinds else (),
        )

    def clash(self, other: Held) -> bool:
        """True where both name a value of a kind and no two of them are the same."""
        hours = self.times and other.times and not _same_time(self.times, other.times)
        rest: list[tuple[Collection[Any], Collection[Any]]] = list(zip(self[1:], other[1:], strict=True))
        return bool(hours) or any(a and b and not set(a) & set(b) for a, b in rest)

    def agrees(self, other: Held) -> bool:
        """True where both name the same value of some kind."""
        rest: list[tuple[Collection[Any], Collection[Any]]] = list(zip(self[1:], other[1:], strict=True))
        return _same_time(self.times, other.times) or any(set(a) & set(b) for a, b in rest)


def _same_time(some: Collection[Time], others: Collection[Time]) -> bool:
    return any(
        a.minutes == b.minutes or ((a.either or b.either) and a.minutes % 720 == b.minutes % 720)
        for a in some
        for b in others
    )


def named_things(action: Action) -> list[str]:
    """Return what a call is about, by the names in its arguments."""
    return [
        value
        for key, value in action.call.arguments.items()
        if key.lower() in _OF_THINGS and isinstance(value, str) and _NAME.fullmatch(value)
    ]
