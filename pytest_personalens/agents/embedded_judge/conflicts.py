"""Finds deeds with another day, date, time, count or length than the user asked for.

A conflict needs three things: somebody asked for just this value, no reply says it, and a deed has another value.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.compared_values import BESIDE, Compared, Conflict
from pytest_personalens.agents.embedded_judge.time_conflicts import times
from pytest_personalens.agents.language import slots, value_mentions
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.language.value_mentions import OF_PERSONS, Mention, Quantity
from pytest_personalens.agents.reading.typed_values import dates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: A Monday. What a text says of days depends only on the day of the week.
_MONDAY: Final = dt.date(2026, 1, 5)
_BY: Final = re.compile(r"\b(?:before|by)\b[^,.;]*$")
_HANDED_OVER: Final = re.compile(
    r"\b(?:arriv\w*|deliver\w*|comes?|there|collect\w*|pick\w*|reach\w*|ready|due|appointment|booked|entered)\b"
)
_ALL_OF_THEM: Final = re.compile(
    r"\b(?:for|you|get|got|bought|booked) both\b|\bboth (?:of you|tickets?|seats?|places?|yours)\b|\bpair\b|\b(?:ticket|seat|place|one) each\b|\ball of you\b"
    r"|\byou and\b|\btwo of you\b"
)
#: What has a length that the user sets.
_SET_LENGTH: Final = re.compile(
    r"\b(?:remind\w*|warn\w*|limit\w*|alert\w*|timer|hire\w*|rent\w*|snooze|nudge|session|booked|booking|plan|a week|weekly|cap\w*)\b"
)
_AHEAD: Final = re.compile(r"\b(?:before|prior|ahead|earlier)\b")
#: A count above this is no party at a table.
_LARGEST_PARTY: Final = 12


def conflicts(
    scenario: Scenario, messages: Sequence[Message], statements: Sequence[Spoken]
) -> tuple[Conflict, ...]:
    """Return the conflicts of a dialogue, at most one of each kind."""
    compared = Compared(scenario, messages, statements)
    kinds = (days, deadlines, things, persons, lengths, times)
    return tuple(found for kind in kinds for found in [next(kind(compared), None)] if found is not None)


class Day(NamedTuple):
    """A day as a text names it: its weekday with Monday as 0, its month, and its number; None if it does not."""

    weekday: int | None
    month: int | None
    day: int | None

    def differs(self, other: Day) -> bool:
        """True if both name a part of the day and not the same one."""
        return any(a is not None and b is not None and a != b for a, b in zip(self, other, strict=True))

    def agrees(self, other: Day) -> bool:
        """True if both name the same weekday or number, and nothing else is different."""
        same = (self.weekday, self.day), (other.weekday, other.day)
        return not self.differs(other) and any(a is not None and a == b for a, b in zip(*same, strict=True))


def _days(compared: Compared, text: str, *, near: bool = False) -> list[tuple[Day, Mention]]:
    """Return the days in a folded text.

    With `near`, those relative to today count too, where the day of the week is known.
    """
    today = _MONDAY + dt.timedelta(days=compared.today or 0)
    found = []
    for value in dates(text, today.isoformat()):
        assert isinstance(value.value, tuple)
        weekday, month, day, iso = value.value
        mention = Mention(text, value.start, value.end)
        named = [number for number, start, _ in slots.day_mentions(text) if value.start <= start < value.end]
        if named:
            weekday = named[0]
        if iso and not any(c.isdigit() for c in mention.said):  # tomorrow
            if not near or compared.today is None:
                continue
            weekday, month, day = dt.date.fromisoformat(str(iso)).weekday(), None, None
        found.append((Day(weekday, month, day), mention))
    return found


def days(compared: Compared) -> Iterator[Conflict]:
    """Yield other weekdays, dates and months."""
    asked = [
        (day, mention)
        for text in compared.asked
        for day, mention in _days(compared, text)
        if mention.meaning == "exact" or (text is compared.goal and mention.meaning == "told")
    ]
    of_goal = any(mention.text is compared.goal for _, mention in asked)
    named = [
        day
        for text in compared.named
        for day, _ in _days(compared, re.sub(r"\w+ ?\?+", " ", text), near=True)  # "Sunday??"
    ]
    said = [day for day, _ in _days(compared, compared.replies, near=True)]
    weekend = "weekend" in compared.replies and any(day.weekday in (5, 6) for day, _ in asked)
    if not asked or weekend or any(day.agrees(other) for day, _ in asked for other in said):
        return
    for statement, text in compared.firm if of_goal else compared.deeds:
        for day, mention in _days(compared, text):
            other = next((words for one, words in asked if day.differs(one)), None)
            known = any(day.agrees(one) for one in named)
            if other and not known and mention.meaning != "limit" and not BESIDE.search(mention.before):
                yield Conflict("day", other.said, mention.said, statement)


def deadlines(compared: Compared) -> Iterator[Conflict]:
    """Yield what is handed over after the only day by which it was asked for."""
    limits = {
        day: mention
        for text in compared.asked
        for day, mention in value_mentions.days(text)
        if (_BY.search(mention.before) or text.startswith(" at the latest", mention.end))
        and not text.startswith("'s", mention.end)
    }
    if compared.today is None or len(limits) != 1:
        return
    ((limit, asked),) = limits.items()
    today = compared.today

    def ahead(day: int) -> int:
        return (day - today) % 7 or 7

    if any(ahead(day) <= ahead(limit) for day, _ in value_mentions.days(compared.replies)):
        return
    for statement, text in compared.told:
        if _HANDED_OVER.search(text) and "until" not in text and "return" not in text:
            for _, mention in value_mentions.days(text):
                yield Conflict("day", asked.said, mention.said, statement)


def things(compared: Compared) -> Iterator[Conflict]:
    """Yield numbers of things that are no units of length. Tickets and seats are things too here, people are not."""
    named = {q for text in compared.named for q, _ in value_mentions.quantities(text)}
    said = {q for q, _ in value_mentions.quantities(compared.replies)}
    for asked, wanted in _asked_quantities(compared):
        kept = {q for q in said if q.thing == asked.thing} & named
        # Replies name two seats as "both" and "row 2" has no two seats, so there only the word itself counts.
        elsewhere = asked.thing not in OF_PERSONS and compared.says(asked.number)
        if asked.thing == "people" or asked.minutes is not None or asked.number < 2 or kept or elsewhere:
            continue
        for statement, text in compared.told:
            for done, mention in value_mentions.quantities(text):
                if done.thing == asked.thing and done.number > 1 and mention.meaning != "limit":
                    yield Conflict("count", wanted.said, mention.said, statement)


def persons(compared: Compared) -> Iterator[Conflict]:
    """Yield numbers of people, and of the places for them."""
    asked = {q.number: m for q, m in _asked_quantities(compared) if q.thing in OF_PERSONS}
    named = {
        q.number
        for text in compared.named
        for q, _ in value_mentions.quantities(text)
        if q.thing in OF_PERSONS
    }
    said = {q.number for q, _ in value_mentions.quantities(compared.replies) if q.thing in OF_PERSONS}
    if len(named) != 1 or not asked or asked.keys() & said or _ALL_OF_THEM.search(compared.replies):
        return
    ((number, wanted),) = asked.items()
    if compared.says(number):
        return
    for statement, text in compared.told:
        for done, mention in value_mentions.quantities(text):
            if done.thing in OF_PERSONS and 0 < done.number < _LARGEST_PARTY and mention.meaning != "limit":
                yield Conflict("count", wanted.said, mention.said, statement)


def _asked_quantities(compared: Compared) -> list[tuple[Quantity, Mention]]:
    return [
        (quantity, mention)
        for text in compared.asked
        for quantity, mention in value_mentions.quantities(text)
        if mention.meaning != "limit"
    ]


def lengths(compared: Compared) -> Iterator[Conflict]:
    """Yield lengths of time that share a word with the request: a warning, a limit, a hire."""
    said = {q.minutes for q, _ in value_mentions.quantities(compared.replies)}
    for sentence in (plain(sentence) for text in compared.asked for sentence, _ in of_message(text)):
        for asked, wanted in value_mentions.quantities(sentence):
            if asked.minutes is None or asked.minutes in said or wanted.meaning_before == "limit":
                continue
            ahead = _AHEAD.search(wanted.around + sentence[wanted.end : wanted.end + 20])
            for statement, text in compared.deeds:
                for done, mention in value_mentions.quantities(text):
                    alike = done.thing == asked.thing or done.number == asked.number
                    if done.minutes is None or not alike or mention.meaning_before == "limit":
                        continue
                    about = content(mention.around) & content(sentence) and _SET_LENGTH.search(text)
                    if about or (ahead and _AHEAD.search(text)):
                        yield Conflict("length", wanted.said, mention.said, statement)
