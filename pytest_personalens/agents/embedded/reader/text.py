"""Words, sentences and phrases of a text. The functions are small and deterministic."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"utc[+-]?\d{1,2}(?::\d{2})?|\d{1,2}[:.]\d{2}|\d+|[^\W\d_]+(?:'[^\W\d_]+)?")
_SENTENCE: Final = re.compile(r"[^.!?\n;]*(?:[.!?](?![\s\n]|$)[^.!?\n;]*)*[.!?;]*")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_MARKUP: Final = re.compile(r"\*\*|__|`|~~")
_ENDINGS: Final = (("'s", ""), ("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", ""))  # fmt: skip
_NAME: Final = re.compile(r"(?<![.!?:\"“*#>|\n]\s)(?<!^)(?<![.!?:\"“*#>|\n])\b([A-ZÀ-ÝŁŚŽČŠ][\w'’\-À-ÿ]+)")

_PLAIN: Final = str.maketrans("\u2019\u2018\u2013\u201c\u201d\xa0\u202f", "''-\"\"  ") | {
    0x2014: " - ",
    0x2026: "...",
}

#: Accents, and characters that are not seen.
_INVISIBLE: Final = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)

#: Words without a topic of their own. A match on one of these shows nothing.
STOPWORDS: Final = frozenset(
    """
    a about above after again all almost already also although always am an and another any anything are around as ask asked asks at away back be
    because been before being below best better between both but by came can come comes could day days did different do does doing done down each
    either else end enough ever every everything few first for found from further gave get gets give gives go goes going gone good got had half hand
    has have having he her here hers herself him himself his how however i if in instead into is it its itself just keep keeps kept kind know known
    knows large last later least less let like likes liked little long look looks lot made make makes making many matter may me might mine more most
    much must my myself near need needs never new next no nor not nothing now of off often old on once one ones only onto or other others our out
    over own part past people place please point prefer preferred prefers put quite rather really right said same saw say says second see seem seen
    set several she should show since small so some someone something sometimes soon still such sure take taken takes than that the their them then
    there these they thing things think this those though three through time times to today together tomorrow too took toward two under until up
    upon us use used user uses usual usually very want wanted wants was way we week weeks well went were what when where whether which while who
    whole whom whose why will with within without word words work would yes yet you your yours yourself assistant conversation conversations told
    tell tells asking year years month months
    don't doesn't didn't isn't aren't wasn't won't can't i'm i'd i'll i've you're you'd you'll you've it's that's there's he's she's they're we're let's
    """.split()  # noqa: SIM905  (a block of words reads better than 250 literals)
)


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Return the text in lower case, without accents and control characters, with plain quotes and dashes."""
    text = text.translate(_PLAIN)
    if text.isascii() and text.replace("\n", "").isprintable():
        return text.lower()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKD", text)).lower()


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Return the text folded and without marks of bold, code and the like."""
    return fold(_MARKUP.sub("", text))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a word without its most common English endings; singular and plural, verb and gerund match."""
    if len(word) <= 3 or word[0].isdigit():
        return word
    for ending, replacement in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word.endswith("ss"))
        ):
            word = word[: -len(ending)] + replacement
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


@lru_cache(maxsize=8192)
def _read(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the stems of all words, and of those that have a topic."""
    words = _WORD.findall(fold(text))
    found = tuple([stem(w.replace(".", ":") if w[0].isdigit() else w) for w in words])
    topics = [s for w, s in zip(words, found, strict=True) if len(w) > 2 and w not in STOPWORDS]
    return found, frozenset(topics)


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of all words, in order; times are written ``6:15``."""
    return _read(text)[0]


@lru_cache(maxsize=16_384)
def _row(text: str) -> str:
    """Return the stems in a row, each between spaces."""
    return f" {' '.join(stems(text))} "


@lru_cache(maxsize=8192)
def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def content(text: str) -> frozenset[str]:
    """Return the stems of the words that have a topic."""
    return _read(text)[1]


def runs(text: str, n: int) -> set[tuple[str, ...]]:
    """Return every run of `n` words, as stems."""
    words = stems(text)
    return {words[i : i + n] for i in range(len(words) - n + 1)}


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences and list items, in order."""
    pieces: list[str] = []
    for line in text.splitlines():
        pieces += [s.strip() for s in _SENTENCE.findall(_BULLET.sub("", line)) if s.strip(" .!?;")]
    return tuple(pieces)


@lru_cache(maxsize=8192)
def names(text: str) -> frozenset[str]:
    """Return the words with a capital letter inside of sentences, folded."""
    stop = {"I", "I'm", "I've", "I'll", "I'd"}
    return frozenset(
        m[1].lower().replace("’", "'").removesuffix("'s") for m in _NAME.finditer(text) if m[1] not in stop
    )


@lru_cache(maxsize=16_384)
def _needle(phrase: str) -> tuple[str, frozenset[str]]:
    # Text in brackets explains a value: "10 minutes before (calls)".
    core = re.sub(r"\([^)]*\)", " ", phrase).strip() or phrase
    return _row(core), content(core)


@lru_cache(maxsize=32_768)
def mentions(phrase: str, text: str) -> bool:
    """True if a text says a phrase: its words in a row, or most of its content words close together.

    A phrase of two content words must have both.

    >>> mentions("window", "A window seat, as always")
    True
    >>> mentions("gradual increase", "It gets gradually louder")
    False
    """
    row, words = _needle(phrase)
    if not row.strip():
        return False
    if row in _row(text):
        return True
    if len(words) < 2:
        return False
    present = words & _stem_set(text)
    if len(words) == 2:
        return present == words and _span(stems(text), words) <= 5
    return len(present) / len(words) > 0.66 and _span(stems(text), present) <= 3 * len(words)


def _span(hay: tuple[str, ...], words: frozenset[str]) -> int:
    """Return the length of the narrowest window that holds every word."""
    last: dict[str, int] = {}
    best = len(hay)
    for i, word in enumerate(hay):
        if word in words:
            last[word] = i
            if len(last) == len(words):
                best = min(best, i - min(last.values()) + 1)
    return best
