"""How the user speaks: in the first person, in a manner that fits the person, and never one sentence twice."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.agents.embedded.reader.text import fold, sentences
from pytest_personalens.core.runtime import once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.scenario import Scenario

#: How a person speaks; "simple" is one who knows little English.
Manner = Literal["casual", "plain", "formal", "simple"]

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
        (rf"\b({_OBJECT}) you\b(?! (?:will|can|could|would|have|need|want|must)\b)", r"\1 me"),
        (r"\byou\b", "I"),
    )
)  # fmt: skip


def first_person(text: str) -> str:
    """Return a text about "you" as that person would say it: "I want my alarm back" for "You want your alarm back"."""
    for pattern, replacement in _SWAPS:
        text = pattern.sub(lambda m, new=replacement: _as_start(m, m.expand(new)), text)  # type: ignore[misc]
    return text


def _as_start(match: re.Match[str], text: str) -> str:
    return upper_first(text) if match[0][0].isupper() else text


def upper_first(text: str) -> str:
    """Return the text with a capital at its start."""
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """Return the text as it follows a comma; names of days, abbreviations and "I" keep their capital."""
    return text if re.match(r"I\b|[A-Z][A-Z]|[A-Z][a-z]+day\b", text) else text[:1].lower() + text[1:]


def manner(scenario: Scenario) -> Manner:
    """Return the manner that fits the person's English and age."""
    about = scenario.demographics
    if re.match(r"basic|intermediate|beginner|limited", about.get("english_proficiency", ""), re.IGNORECASE):
        return "simple"
    digits = re.match(r"\d+", about.get("age", ""))
    age = int(digits[0]) if digits else 40
    return "formal" if age >= 55 else "casual" if age < 30 else "plain"


def drawn_number(*key: str) -> int:
    """Return a number drawn from `key`, the same on every machine."""
    text = "\x1f".join(key).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big")


@once
def _banks() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))


def phrases_for(bank: str, how: Manner) -> list[str]:
    """Return the phrases of an occasion: for everybody and of a manner; where there are any, only the simple ones."""
    phrases = _banks()[bank]
    own = phrases.get(how, [])
    return own if how == "simple" and own else [*own, *phrases["any"]]


class SpeechlessError(Exception):
    """The user has said every phrase of a bank."""


class Speaker:
    """A speaker who draws phrases by `key`, among those whose sentences were not `said` yet."""

    def __init__(self, key: str, how: Manner, said: Iterable[str]) -> None:
        self.key, self.how = key, how
        self.said = {_folded(sentence) for text in said for sentence in sentences(text)}

    def say(self, bank: str, **values: str) -> str:
        """Return a phrase of a bank with its values filled in; a name in capitals begins with a capital.

        Raise `SpeechlessError` if all phrases were said.
        """
        filled = values | {name.upper(): upper_first(value) for name, value in values.items()}
        choices = phrases_for(bank, self.how)
        start = drawn_number(self.key, bank, str(len(self.said)))
        for i in range(len(choices)):
            text = upper_first(choices[(start + i) % len(choices)].format(**filled))
            if self.is_new(text):
                self.said |= {_folded(sentence) for sentence in sentences(text)}
                return text
        raise SpeechlessError(bank)

    def has_said(self, bank: str) -> bool:
        """True if a phrase of a bank, one without values, was said."""
        return any(not self.is_new(phrase) for phrase in phrases_for(bank, self.how))

    def is_new(self, text: str) -> bool:
        """True if no sentence of the text was said."""
        return all(_folded(sentence) not in self.said for sentence in sentences(text))


def _folded(sentence: str) -> str:
    return fold(sentence).strip(" .!?;")
