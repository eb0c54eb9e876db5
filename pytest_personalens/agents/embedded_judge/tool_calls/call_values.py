"""The hours, days, counts and names in the arguments of a tool call, beside those in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.tool_calls.actions import values
from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.text import fold

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_personalens.agents.embedded_judge.tool_calls.actions import Action

#: Keys of arguments that count what people count.
_OF_COUNTS: Final = frozenset(
    """
    people person persons guests guest party party_size size count number quantity qty seats tickets
    places num passengers adults rooms nights copies
    """.split()  # noqa: SIM905
)
#: Keys of arguments that name what a call is about.
_OF_THINGS: Final = frozenset(
    """
    title name book restaurant hotel venue event product film movie show song track album artist game
    recipient to stylist company airline destination
    """.split()  # noqa: SIM905
)
#: How long something takes is no count of people or things.
_LENGTH: Final = re.compile(r"\b[\w-]+ (?:minutes?|hours?|days?|weeks?|months?|years?|times|percent)\b")
_ISO_DATE: Final = re.compile(r"\b\d{4}-\d{2}-(\d{2})(?:[t ](\d{2}:\d{2}))?")
_NAME: Final = re.compile(r"[A-ZÀ-Þ].{2,}")
_LARGEST_COUNT: Final = 1_000


class Values(NamedTuple):
    """The hours, days of the week, days of the month and counts that a text or a call names."""

    times: Collection[Any]
    days: Collection[Any]
    dates: Collection[Any]
    counts: Collection[Any]

    @classmethod
    def of_text(cls, text: str) -> Values:
        """Those of a plain text. "For two" is a count, and no hour."""
        counts = slots.counts(_LENGTH.sub(" ", text))
        times = [t for t in slots.times(text) if t.minutes not in {60 * count for count in counts}]
        return cls(times, slots.days(text), slots.days_of_month(text), counts)

    @classmethod
    def of_call(cls, action: Action) -> Values:
        """Those of a call's arguments."""
        arguments = action.call.arguments
        texts = [fold(value) for value in values(arguments)]
        dated = [match for text in texts for match in _ISO_DATE.finditer(text)]
        hours = [_ISO_DATE.sub(" ", text) for text in texts] + [match[2] for match in dated if match[2]]
        return cls(
            [time for text in hours for time in slots.times(text)],
            frozenset().union(*map(slots.days, texts)),
            frozenset(int(match[1]) for match in dated),
            frozenset(
                int(value)
                for name, value in arguments.items()
                if name.lower() in _OF_COUNTS and isinstance(value, int) and 0 < value < _LARGEST_COUNT
            ),
        )

    def only(self, kinds: Collection[str]) -> Values:
        """Those of some kinds of detail, as goals name them: time, day, count."""
        days = "day" in kinds
        return Values(
            self.times if "time" in kinds else (),
            self.days if days else (),
            self.dates if days else (),
            self.counts if "count" in kinds else (),
        )

    def clash(self, of_call: Values) -> bool:
        """True where both name a value of a kind and no two of them are the same."""
        hours = self.times and of_call.times and not any(a.fits(b) for a in self.times for b in of_call.times)
        same = zip(self[1:], of_call[1:], strict=True)
        return bool(hours) or any(a and b and not set(a) & set(b) for a, b in same)

    def agrees(self, of_call: Values) -> bool:
        """True where both name the same value of some kind."""
        hours = any(a.fits(b) for a in self.times for b in of_call.times)
        return hours or any(set(a) & set(b) for a, b in zip(self[1:], of_call[1:], strict=True))


def named_things(action: Action) -> list[str]:
    """What a call is about, by the names in its arguments."""
    arguments = action.call.arguments.items()
    return [
        value
        for key, value in arguments
        if key.lower() in _OF_THINGS and isinstance(value, str) and _NAME.fullmatch(value)
    ]
