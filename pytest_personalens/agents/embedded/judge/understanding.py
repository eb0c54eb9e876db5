"""Checks that the judge can read a dialogue: it reads English."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import STOPWORDS, plain
from pytest_personalens.core.errors import JudgeFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.message import Message

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][\w'’-]+")
#: Everyday words of other languages that English does not have.
_OTHERS: Final = frozenset(
    """
    der die das und ist nicht ein eine ich sie mit fur auf den dem des wird werden haben habe ihre ihr wir sind zum zur von bei oder auch noch
    el la los las un una es esta por para con que del se su sus y lo le ha he muy pero tambien usted
    le les est une des du et vous votre pour avec dans sur je nous que qui pas ce cette au aux sont
    il lo gli della di che per non sono con una alla nel ho hai suo sua e
    o os um uma e para com que nao voce seu sua em na no da do por foi esta
    het een en van ik je niet met voor zijn uw wij dat op te
    jest nie na do sie i z w ze pana pani dla od po czy prosze
    och det att som har inte for er jeg ikke til ja kyll
    bir ve bu icin ile
    """.split()  # noqa: SIM905
)
#: Fewer words do not show the language.
_FEWEST: Final = 8
#: In English, at least this share of words are everyday English.
_EVERYDAY: Final = 0.12
_LATIN: Final = 0.6
_ADVICE: Final = "the embedded judge reads English; use a model as the judge (--personalens-judge-model)"


def require_english(messages: Sequence[Message]) -> None:
    """Raise `JudgeFault` in one line if the assistant's replies are in another language than English."""
    text = "\n".join(m.content for m in messages if m.role == "assistant")
    letters = [c for c in text if c.isalpha()] if not text.isascii() else []
    latin = sum(c.isascii() or unicodedata.name(c, "").startswith("LATIN") for c in letters)
    if letters and latin < _LATIN * len(letters):
        raise JudgeFault(f"could not read the replies: most letters are not Latin; {_ADVICE}")
    words = _WORD.findall(plain(_NAME.sub(" ", text)))  # names are the same in every language
    if len(words) < _FEWEST:
        return
    english = sum(word in STOPWORDS for word in words)
    other = sum(word in _OTHERS and word not in STOPWORDS for word in words)
    if other > english or (english < _EVERYDAY * len(words) and other):
        raise JudgeFault(f"could not read the replies: they are not in English; {_ADVICE}")
