"""Finds names and words of facts that have no form of their own: places, persons, items, providers, texts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import content, fold, mentions
from pytest_personalens.agents.embedded.reader.values import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.embedded.reader.forms import Value
    from pytest_personalens.core.facts import FactKind

#: A shorter value is a size or a letter, and is found as it is written.
_SHORTEST: Final = 3
#: The share of a name's words by which it is said.
_MOST: Final = 0.6
_TITLES: Final = frozenset(
    "the your my aunt auntie uncle cousin mrs mr ms dr father mother grandma grandpa don dona".split()  # noqa: SIM905
)
#: Before the place that somebody leaves, or that is named for another reason.
_LEAVES: Final = re.compile(r"\b(?:from|via|leav\w*|home|near|live\w*|based)\b[^,.;]{0,16}$")


@lru_cache(maxsize=32_768)
def says(value: str, text: str, kind: FactKind = "text") -> bool:
    """True if a text says a value that is a name or words; a person also by the first name."""
    if len(value) <= _SHORTEST:
        return bool(re.search(rf"(?<![\w'’]){re.escape(value)}(?![\w'’])", text))
    if mentions(value, text):
        return True
    if kind in ("item", "text") and (wanted := _lengths(value)):
        # "two hours before" is "120 minutes before".
        return any(v.kind == "duration" and v.value == wanted[0].value for v in values(text)) and content(
            value
        ) - _LENGTH_WORDS <= content(text)
    if kind == "person":
        if (whole := fold(value).replace(".", "")) in fold(text).replace(".", ""):
            return bool(whole)
        first = first_name(value)
        return bool(first) and bool(re.search(rf"\b{re.escape(first)}\b", fold(text)))
    words = content(value)
    return len(words) > 1 and len(words & content(text)) / len(words) >= _MOST


_LENGTH_WORDS: Final = content("minutes hours days before half quarter") | frozenset(
    ("minut", "hour", "day", "half")
)


@lru_cache(maxsize=8192)
def _lengths(value: str) -> list[Value]:
    return [v for v in values(value) if v.kind == "duration"]


def said_in(value: str, text: str, kind: FactKind, synonyms: Mapping[str, Sequence[str]]) -> str:
    """Return the way in which a text says a value, itself or a synonym of it; empty if it does not."""
    if says(value, text, kind):
        return value
    return next((way for way in synonyms.get(value, ()) if says(way, text, kind)), "")


def first_name(name: str) -> str:
    """Return the folded first name of a person; empty for a title, and for less than three letters."""
    first = re.split(r"[ -]", fold(name))[0].rstrip(".")
    return first if len(first) > 2 and first not in _TITLES else ""


def is_start(place: str, folded: str) -> bool:
    """True if a folded text names a place only as the one that somebody leaves."""
    at = folded.find(fold(place))
    return at >= 0 and bool(_LEAVES.search(folded[:at]))
