"""Checks whether the judge can read a dialogue: its language, its script and its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import STOPWORDS
from pytest_personalens.agents.language.visible import foreign
from pytest_personalens.agents.language.weights import words
from pytest_personalens.core.errors import JudgeFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Message

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
#: The text is in another language, or in none, if less than `_KNOWN` of the assistant's words are known. The
#: same holds if less than `_FEW` are known and less than `_EVERYDAY` are words of everyday English.
_KNOWN: Final = 0.45
_FEW: Final = 0.65
_EVERYDAY: Final = 0.12
#: Fewer words do not show the language.
_FEWEST: Final = 12


def require(messages: Sequence[Message]) -> None:
    """Raise `JudgeFault` ("could not read ...") if too few of the assistant's words are known."""
    text = "\n".join(m.content for m in messages if m.role == "assistant")
    if foreign(text):
        raise JudgeFault("could not read the dialogue: most letters are not Latin; use a model as the judge")
    # Names are unknown words in every language.
    tokens = _WORD.findall(plain(_without_names(text)))
    if len(tokens) < _FEWEST:
        return
    share_known = sum(w in words("known") for w in tokens) / len(tokens)
    everyday = sum(w in STOPWORDS for w in tokens) / len(tokens)
    if share_known < _KNOWN or (share_known < _FEW and everyday < _EVERYDAY):
        raise JudgeFault(
            f"could not read the dialogue: {share_known:.0%} of the assistant's words are known; use a model as the judge"
        )


def _without_names(text: str) -> str:
    return re.sub(r"(?<=[a-z,] )[A-ZÀ-Þ][\w'’-]+", " ", text)
