"""Finds values in texts, and the words of an assistant that does not know something."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.text import fold

if TYPE_CHECKING:
    from pytest_personalens.suites.memory.arcs import Value

#: Before a value that is named, and not used: "no longer whole milk", "instead of the bus".
_PUT_ASIDE: Final = re.compile(
    r"(?:\b(?:no|not|never|without|nor|avoid\w*|skip\w*|instead of|rather than|than|from|used to|leave out"
    r"|left out|free of|drop(?:ped)?|cancel\w*|gave up|given up|stopp\w+|quit|delet\w+|replac\w+)\b|n't\b)"
    r"[^,.;:!?\n]{0,30}$"
)
_PUT_ASIDE_BEHIND: Final = re.compile(r"^(?:-free\b|[^,.;:!?\n]{0,12}\b(?:any ?more|no longer)\b)")
_UNKNOWN: Final = re.compile(
    r"\b(?:(?:do|does|did|have|has|could|can)(?:n't| not)|cannot|never|not)\b[^.;!?\n]{0,20}"
    r"\b(?:know|recall|remember|see|told|tell|mention(?:ed)?|shared?|said|say|find|found|have|sure|aware"
    r"|stored?|saved?|noted?|given)\b"
    r"|\b(?:no|without any?) (?:notes?|records?|memory|information|details?|idea|mention|trace)\b|\bunknown\b"
    r"|\b(?:what|which|who|whose|when|where|how)\b[^.!?\n]*\?"
    r"|\b(?:please|(?:can|could|would|will) you)\b[^.!?\n]{0,20}\b(?:tell|remind|share|give|let me know)\b"
)


def first_way(value: Value, text: str) -> str | None:
    """Return the words by which the text names the value, or None."""
    match = _pattern(value.ways).search(fold(text))
    return None if match is None else match[0]


def used_way(value: Value, text: str) -> str | None:
    """Return the words by which the text uses the value, or None if it says only that it is not used."""
    folded = fold(text)
    for match in _pattern(value.ways).finditer(folded):
        behind = _PUT_ASIDE_BEHIND.search(folded[match.end() :])
        if not behind and not _PUT_ASIDE.search(folded[: match.start()]):
            return match[0]
    return None


def says_unknown(text: str) -> bool:
    """True if the text says that something is not known, or asks for it."""
    return bool(_UNKNOWN.search(fold(text)))


@lru_cache(maxsize=4096)
def _pattern(ways: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted((fold(way) for way in ways), key=len, reverse=True)
    words = "|".join(r"\s+".join(map(re.escape, way.split())) for way in longest_first)
    return re.compile(rf"(?<!\w)(?:{words})(?:s|es)?(?!\w)")
