"""Classes of words that show the state of a thing.

The states are done, promised, proposed, refused and left to the user.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache

from pytest_personalens.agents.language.weights import text
from pytest_personalens.core.runtime.once import once


@lru_cache(maxsize=8192)
def word_classes(plain_text: str) -> frozenset[str]:
    """Return the classes of which a statement has a word.

    `plain_text` has the form that `statements.plain` returns.

    >>> sorted(word_classes("the table is booked"))
    ['done']
    """
    return frozenset(name for name, pattern in _patterns().items() if pattern.search(plain_text))


@once
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: _pattern(words) for name, words in tomllib.loads(text("word_classes.toml")).items()}


def _pattern(words: list[str]) -> re.Pattern[str]:
    # A trie would be faster. But the expression is made only once, and statements are short.
    return re.compile(
        "|".join(
            rf"\b{re.escape(w.removesuffix('*'))}" + (r"\w*" if w.endswith("*") else r"\b")
            for w in sorted(words, key=len, reverse=True)
        )
    )
