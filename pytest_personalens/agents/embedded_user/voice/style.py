"""How the person of the embedded user agent speaks.

The person speaks in the first person. The manner fits age, English, device and place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Scenario

Manner = Literal["brief", "casual", "plain", "formal", "simple"]

_OBJECT: Final = (
    r"for|to|with|of|let|let's|give|show|tell|remind|near|around|by|from|at|on|help|suits?|fits?|wakes?|meets?|takes?|gets?|keeps?|"
    r"brings?|sends?|asks?|interests?|costs?|leaves?|behind|without|about|between|reach|reaches|makes?|gives?|lets?|tells?|allows?|owe|owes|"
    r"past|into|worth|serves?|matters? to|expects?|invited?|waiting for|picks?|drops?|helps?|joins?|follows?|bothers?|lasts?"
)
_SWAPS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\byou're\b", "I'm"), (r"\byou are\b", "I am"), (r"\byou were\b", "I was"), (r"\bare you\b", "am I"),
        (r"\byou aren't\b", "I'm not"), (r"\byou weren't\b", "I wasn't"),
        (r"\byou've\b", "I've"), (r"\byou'd\b", "I'd"), (r"\byou'll\b", "I'll"), (r"\byours\b", "mine"), (r"\byourself\b", "myself"),
        (r"\b(two|three|four|five|six|seven|eight|nine|ten|\d+) of you\b", r"\1 of us"),
        (r"\byour\b", "my"), (r"\b(\w+) you(?=[.,;!?]|$)", r"\1 me"),
        (rf"\b({_OBJECT}) you\b", r"\1 me"),
        (r"\byou\b", "I"),
    )
)  # fmt: skip


def first_person(text: str) -> str:
    """Return a text about "you" as that person would say it.

    >>> first_person("You want your alarm back, so that it wakes you on time.")
    'I want my alarm back, so that it wakes me on time.'
    """
    for pattern, replacement in _SWAPS:

        def swap(match: re.Match[str], replacement: str = replacement) -> str:
            new = match.expand(replacement)
            return new[0].upper() + new[1:] if match[0][0].isupper() else new

        text = pattern.sub(swap, text)
    return text


def manner(scenario: Scenario) -> Manner:
    """Return the manner that fits the person, the device and the place.

    A person who knows little English is "simple", and a smartwatch makes the manner "brief".
    """
    about = scenario.demographics
    if re.match(r"basic|intermediate|beginner|limited", about.get("english_proficiency", ""), re.IGNORECASE):
        return "simple"
    if scenario.situation.device == "Smartwatch":
        return "brief"
    digits = re.match(r"\d+", about.get("age", ""))
    age = int(digits[0]) if digits else 40
    if age >= 55:
        return "formal"
    return "casual" if age < 30 else "plain"


def upper_first(text: str) -> str:
    """Return `text` with a capital at its start."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """Return `text` in the form that follows a comma.

    Names of days, abbreviations and "I" keep their capital.
    """
    return text if re.match(r"I\b|[A-Z][A-Z]|[A-Z][a-z]+day\b", text) else text[:1].lower() + text[1:]
