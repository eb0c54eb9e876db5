"""Understands what the embedded user says by the phrases that it says it with."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_personalens.agents.embedded_user.voice.phrases import banks
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import sentences
from pytest_personalens.core.runtime.once import once

#: Banks that only openings use: "Could you {x}?" fits many other sentences.
_OF_OPENINGS: Final = frozenset(
    {"order", "want", "need", "help", "list", "tail_statement", "tail_question", "greeting"}
)


@lru_cache(maxsize=2048)
def heard(message: str) -> tuple[tuple[str, dict[str, str]], ...]:
    """Return the banks whose phrases a message is made of, in order, with the values in their places, folded."""
    folded = plain(" ".join(message.split())).strip()
    found = []
    start = 0
    ends = [len(folded)]
    for sentence in sentences(folded):
        at = folded.find(sentence, start)
        if at >= 0:
            ends.append(at + len(sentence))
    ends = sorted(set(ends))
    starts = sorted({0, *(e + 1 for e in ends if e < len(folded))})
    for first in starts:
        if first < start:
            continue
        for end in reversed([e for e in ends if e > first]):
            text = folded[first:end].strip().rstrip(".!?")
            match = next(((bank, m) for bank, pattern in _patterns() if (m := pattern.fullmatch(text))), None)
            if match:
                found.append(
                    (match[0], {name.lower(): value for name, value in match[1].groupdict().items() if value})
                )
                start = end
                break
    return tuple(found)


@once
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return a pattern for each phrase, those with most words first, and those of openings last."""
    rows = [
        (bank, phrase)
        for bank, manners in banks().items()
        for phrases in manners.values()
        for phrase in phrases
        if any(c.isalpha() for c in re.sub(r"\{\w+\}", "", phrase))
    ]
    rows.sort(key=lambda row: (row[0] in _OF_OPENINGS, -len(re.sub(r"\{\w+\}", "", row[1]))))
    return [(bank, _pattern(phrase)) for bank, phrase in rows]


def _pattern(phrase: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", phrase)
    pattern, seen = "", set[str]()
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            text = plain(piece)
            pattern += re.escape(text.rstrip(".!? ") if i == len(pieces) - 1 else text)
        elif piece.lower() in seen:
            pattern += f"(?P={piece.lower()})"
        else:
            seen.add(piece.lower())
            pattern += f"(?P<{piece.lower()}>.+?)"
    return re.compile(pattern)
