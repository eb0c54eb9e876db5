"""Finds when, how many, who and where in the intent.

The user needs these facts for questions that no preference answers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.style import first_person
from pytest_personalens.agents.language.text import stems

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Scenario

_WHEN: Final = re.compile(
    r"\b(tonight|tomorrow(?: morning| evening| night)?|today|this week(?:end)?|next (?:week(?:end)?|month)|the (?:coming )?week(?:end)?|the end of the month"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: at \w+)?|the coming (?:weeks|months))\b(?!')"
)
_NUMBER: Final = re.compile(
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+) (?:(?:more|library) )?(\w+s|people)\b"
)
_KIN: Final = (
    r"friends?|family|parents|mother|father|sister|brother|cousin|nephew|niece|grandmother|colleagues|people"
)
_WHO: Final = re.compile(
    rf"\b(?:with|to|for|and|invite|tell|let|send|take|visit) ((?:you and )?(?:your|a few|an?|two|the|an old)(?: \w+)? (?:{_KIN})(?: from school)?)\b(?!')"
)
_WHERE: Final = re.compile(r"\b((?:in|to) another city|to your family|at your place)\b")
_SPANS: Final = frozenset(stems("night week day hour minute month"))
_PEOPLE: Final = frozenset(stems("people friend parent"))
_GUESTS: Final = frozenset(stems("people person guest seat ticket party friend place"))
_SEATS: Final = frozenset(stems("ticket place seat"))


def when(scenario: Scenario) -> str:
    """Return the day or time in the intent, such as "Friday", or an empty text."""
    match = _WHEN.search(scenario.task.intent)
    return match[1] if match else ""


def how_many(scenario: Scenario, question: str) -> str:
    """Return the number in the intent that the question is about.

    Examples are "two tickets" and "me and two friends". The text is empty if there is none.
    """
    question_stems = set(stems(question))
    for match in _NUMBER.finditer(scenario.task.intent):
        noun = stems(match[2])[0]
        if noun in _PEOPLE and question_stems & _GUESTS:
            return f"me and {match[0]}"
        if noun in question_stems or (noun in _SEATS and question_stems & _GUESTS):
            return match[0]
    return ""


def how_long(scenario: Scenario) -> str:
    """Return the span of time in the intent, such as "two nights".

    The text is empty if there is none.
    """
    return next((f[0] for f in _NUMBER.finditer(scenario.task.intent) if stems(f[2])[0] in _SPANS), "")


def who(scenario: Scenario) -> str:
    """Return the people in the intent, such as "my parents", or an empty text."""
    match = _WHO.search(scenario.task.intent)
    return first_person(match[1]) if match else ""


def where(scenario: Scenario) -> str:
    """Return the place in the intent, such as "to another city", or an empty text."""
    match = _WHERE.search(scenario.task.intent)
    return first_person(match[1]) if match else ""
