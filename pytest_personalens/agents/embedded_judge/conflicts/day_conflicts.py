"""Finds deeds on another day or date than the user asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.conflicts.compared import BESIDE, Conflict
from pytest_personalens.agents.language import slots, value_mentions
from pytest_personalens.agents.language.value_mentions import Mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.agents.embedded_judge.conflicts.compared import Compared

_HANDED_OVER: Final = re.compile(
    r"\b(?:arriv\w*|deliver\w*|comes?|there|collect\w*|pick\w*|reach\w*|ready|due|appointment|booked|entered)\b"
)
_BY: Final = re.compile(r"\b(?:before|by)\b[^,.;]*$")
_NEAR: Final = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "tomorrow": 1, "day after tomorrow": 2, "yesterday": 6,
}  # fmt: skip
_WEEKEND: Final = frozenset({5, 6})


def days(compared: Compared) -> Iterator[Conflict]:
    """Yield days of the week."""
    of_goal = {day: m for day, m in value_mentions.days(compared.goal) if m.meaning != "limit"}
    asked = _exact_days(compared) | of_goal
    named = {
        day
        for text in (*map(_without_echoes, compared.user), compared.goal)
        for day, _ in value_mentions.days(text)
    }
    said = {day for day, _ in value_mentions.days(compared.replies)}
    near = _near(compared, compared.replies)
    whole_weekend = "weekend" in compared.replies and asked.keys() & _WEEKEND and not said & _WEEKEND
    if not asked or asked.keys() & (said | near) or whole_weekend or _same_date(compared):
        return
    near_user = _near(compared, " ".join(compared.user))
    for statement, text in compared.firm if of_goal else compared.deeds:
        for day, mention in value_mentions.days(text):
            if (
                day not in named | near_user
                and mention.meaning != "limit"
                and not BESIDE.search(mention.before)
            ):
                yield Conflict("day", next(iter(asked.values())).said, mention.said, statement)


def _exact_days(compared: Compared) -> dict[int, Mention]:
    return {d: m for text in compared.asked for d, m in value_mentions.days(text) if m.meaning == "exact"}


def _same_date(compared: Compared) -> bool:
    """True if a reply has a date that somebody named beside a day."""
    named = {date[1] for text in compared.named for date, _ in value_mentions.dates(text)}
    return bool(named & {date[1] for date, _ in value_mentions.dates(compared.replies)})


def _near(compared: Compared, text: str) -> set[int]:
    """Return the days that the text names from today on."""
    if compared.today is None:
        return set()
    return {(compared.today + away) % 7 for words, away in _NEAR.items() if words in text}


def _without_echoes(text: str) -> str:
    """Return the text without words that the user repeats in surprise ("Sunday??")."""
    return re.sub(r"\w+ ?\?+", " ", text)


def deadlines(compared: Compared) -> Iterator[Conflict]:
    """Yield what is handed over after the only day by which it was asked for."""
    if compared.today is None:
        return
    limits = {
        day: mention
        for text in compared.asked
        for day, mention in value_mentions.days(text)
        if (_BY.search(mention.before) or text.startswith(" at the latest", mention.end))
        and not text.startswith("'s", mention.end)
    }
    if len(limits) != 1:
        return
    ((limit, asked),) = limits.items()
    if any(
        _ahead(compared, day) <= _ahead(compared, limit) for day, _ in value_mentions.days(compared.replies)
    ):
        return
    for statement, text in compared.told:
        if _HANDED_OVER.search(text) and "until" not in text and "return" not in text:
            for _, mention in value_mentions.days(text):
                yield Conflict("day", asked.said, mention.said, statement)


def _ahead(compared: Compared, day: int) -> int:
    return (day - (compared.today or 0)) % 7 or 7


def dates(compared: Compared) -> Iterator[Conflict]:
    """Yield dates with another day of the month, or with another month."""
    asked = {
        date: mention
        for text in compared.asked
        for date, mention in value_mentions.dates(text)
        if mention.meaning == "exact" or (text is compared.goal and mention.meaning == "told")
    }
    if not asked:
        return
    everything = " ".join(compared.named)
    named = {date[1] for text in compared.named for date, _ in value_mentions.dates(text)}
    months = {
        slots.MONTH_FORMS[word] for word in re.findall(r"[a-z]+", everything) if word in slots.MONTH_FORMS
    }
    numbers = {int(n) for n in re.findall(r"\b(\d{1,2})\b", compared.replies)}
    numbers |= {date[1] for date, _ in value_mentions.dates(compared.replies)}
    weekdays = {d for text in compared.named for d, _ in value_mentions.days(text)}
    told = bool(
        {day for _, day in asked} & numbers
        or weekdays & {d for d, _ in value_mentions.days(compared.replies)}
    )
    words = next(iter(asked.values())).said
    for statement, text in compared.deeds:
        for (month, day), mention in value_mentions.dates(text):
            other_month = month and months and month not in months and day in {d for _, d in asked}
            other_day = (
                not told
                and day not in named
                and mention.meaning != "limit"
                and not BESIDE.search(mention.before)
            )
            if other_month or other_day:
                yield Conflict("date", words, mention.said, statement)


def dated_days(compared: Compared) -> Iterator[Conflict]:
    """Yield days that have another date, or dates that are another day, than somebody named together."""
    texts = compared.named
    asked = {pair: m for text in texts for pair, m in value_mentions.dated_days(text)}
    named = {day for text in texts for day, _ in value_mentions.days(text)}
    named_dates = {date[1] for text in texts for date, _ in value_mentions.dates(text)} | {
        d for _, d in asked
    }
    if asked.keys() & {pair for pair, _ in value_mentions.dated_days(compared.replies)}:
        return
    for statement, text in compared.told:
        for (day, date), mention in value_mentions.dated_days(text):
            for (asked_day, asked_date), wanted in asked.items():
                other_day = date == asked_date and day not in named
                other_date = day == asked_day and date not in named_dates
                if (other_day or other_date) and not BESIDE.search(mention.before):
                    yield Conflict("date", wanted.said, mention.said, statement)
