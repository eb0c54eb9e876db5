"""Offers the options of a question by letters, and reads which of them a reply names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import stems
from pytest_personalens.datasets.draws import digest
from pytest_personalens.suites.questions.values import Expected

if TYPE_CHECKING:
    from collections.abc import Sequence

_LETTERS: Final = "ABCDEFGHIJ"
#: Where a reply names a letter, the plainest form first. An "A" that begins a sentence is a word.
_NAMED: Final = (
    re.compile(r"^\W*([A-Ja-j])\W*$"),
    re.compile(r"\\boxed\{\W*([A-J])\W*\}"),
    re.compile(
        r"(?i:\b(?:answer|option|choice|letter|choose|pick|select|go with))\b(?i:\W+(?:is|would be|option))?"
        r"[\W_]*\b([A-J])\b(?!\s[a-z])"
    ),
    re.compile(r"\b([A-J])(?=\s*[):]|\*\*|\.\s|\.?\s*$)"),
)  # fmt: skip


def offer(question: str, options: Sequence[str], key: str) -> tuple[str, Expected]:
    """Return the user's whole request, and what is right: the first of the `options`.

    Their order is that of a digest of `key` and the option, the same in every process.
    """
    order = sorted(options, key=lambda option: digest(key, option))
    lines = [f"{letter}) {option}" for letter, option in zip(_LETTERS, order, strict=False)]
    asks = "\n".join([question, "", "Which of these is right for me? Reply with one letter.", *lines])
    right = _LETTERS[order.index(options[0])]
    return asks, Expected(answer=options[0], options=tuple(order), letter=right)


def read_letter(reply: str, options: Sequence[str]) -> str:
    """Return the letter of the one option that a reply names, by letter or by its text; else nothing."""
    letters = _LETTERS[: len(options)]
    for pattern in _NAMED:
        named = {letter.upper() for letter in pattern.findall(reply)} & set(letters)
        if named:
            return named.pop() if len(named) == 1 else ""
    said = f" {' '.join(stems(reply))} "
    texts = [
        letter
        for letter, option in zip(letters, options, strict=True)
        if f" {' '.join(stems(option))} " in said
    ]
    return texts[0] if len(texts) == 1 else ""
