"""Splits a reply into the statements that the user hears."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_personalens.agents.language.statements import of_message

#: The end of an hour may be the end of its sentence: "at 6 pm. Is there anything else?"
_AFTER_HOUR: Final = re.compile(
    r"(?<=\b[ap]m\.)\s+(?=[A-Z][a-z']*\s)|(?<=\d[ap]m\.)\s+(?=[A-Z][a-z']*\s)|(?<=[ap]\.m\.)\s+(?=(?:Is|Would|Do|Does|Shall|Can|Your|The|I|It|You|We|Enjoy|Anything|Want)\b)"
)

#: Long runs of characters that say nothing. Regular expressions would take minutes on them.
_RUN: Final = re.compile(r"([^\S\n]{3})[^\S\n]+|(\d{20})\d+|([*_=~#-]{20})[*_=~#-]+")


@lru_cache(maxsize=4096)
def statements_of(content: str) -> tuple[tuple[str, str], ...]:
    """Return the statements of one message, each with the piece that holds it."""
    statements: list[tuple[str, str]] = []
    for text, quote in of_message(_RUN.sub(lambda m: m[1] or m[2] or m[3], content)):
        parts = _AFTER_HOUR.split(text)
        statements += [(part, quote) for part in parts] if len(parts) > 1 else [(text, quote)]
    return tuple(statements)
