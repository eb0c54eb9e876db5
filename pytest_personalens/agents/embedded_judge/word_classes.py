"""Classes of words that say in which state a thing is: done, promised, proposed, refused, left to the user."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache

from pytest_personalens.agents.embedded_judge.weights import text
from pytest_personalens.core.once import once


@lru_cache(maxsize=8192)
def word_classes(plain_text: str) -> frozenset[str]:
    """The classes that a statement has a word of; `plain_text` as `statements.plain` gives it.

    >>> sorted(word_classes("the table is booked"))
    ['done']
    """
    return frozenset(name for name, pattern in _patterns().items() if pattern.search(plain_text))


@once
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: _pattern(words) for name, words in tomllib.loads(text("word_classes.toml")).items()}


def _pattern(words: list[str]) -> re.Pattern[str]:
    # A trie would be faster; the expression is made once, and statements are short.
    return re.compile(
        "|".join(
            rf"\b{re.escape(w.removesuffix('*'))}" + (r"\w*" if w.endswith("*") else r"\b")
            for w in sorted(words, key=len, reverse=True)
        )
    )
