"""The words with which the user asks for a part of the goal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.style import lower_first

if TYPE_CHECKING:
    from pytest_personalens.agents.reading.work import Stand
    from pytest_personalens.core.scenario import Scenario

_CLAUSE: Final = re.compile(
    r"\b(?:is|are|has|have|was|were|will|can|stands|runs|repeats|rings|sits|comes|agree|lie|agrees)\b"
)
_WH: Final = re.compile(
    r"(?:(?:at|on|in|for|under) )?(?:who|whom|whose|where|why|what|which|how|when|whether)\b"
)
#: A goal speaks of the user, who speaks of itself.
_OF_USER: Final = (
    (re.compile(r"\bthe user's\b"), "my"),
    (re.compile(r"\bthe user has\b"), "I have"),
    (re.compile(r"\bthe user is\b"), "I am"),
    (re.compile(r"\b(for|to|suits|fits|with) the user\b"), r"\1 me"),
    (re.compile(r"\bthe user (\w+?)(?:(?<=[hso])es|s)\b"), r"I \1"),
    (re.compile(r"\bthe user\b"), "I"),
)


def bank_of_part(stand: Stand, scenario: Scenario) -> str:
    """Return the bank of phrases that asks for a part."""
    words = part_words(stand, scenario)
    if _WH.match(words):
        return "ask_wh"
    if stand.part.kind == "done":
        return "ask_to" if stand.part.ask else "ask_deed"
    return "ask_deed" if _CLAUSE.search(words) else "ask_part"


def part_words(stand: Stand, scenario: Scenario) -> str:
    """Return how a person asks for a part of the goal: ``when it leaves``, ``book the table``.

    Without the words of the dataset it is the text of the part: ``the hour``, ``the table is reserved``.
    """
    if stand.part.ask:
        return stand.part.ask.removeprefix("that ")
    text = stand.part.text
    facts = [f for f in scenario.task.facts if f.name in stand.part.facts]
    if stand.part.kind == "told" and _CLAUSE.search(text) and facts and facts[0].what[:1].islower():
        return facts[0].what
    for pattern, mine in _OF_USER:
        text = lower_first(pattern.sub(mine, text))
    return text.split(", ")[0] if stand.part.kind == "told" else text
