"""Measures of diversity for values and texts: Shannon evenness, Dist-n, Ent-n and Self-BLEU."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
Gram = tuple[str, ...]


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def grams(tokens: Sequence[str], n: int) -> Counter[Gram]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def evenness(counts: Iterable[int]) -> float:
    """Return the Shannon evenness, 0 to 1 (PersonaLens, Eq. 1); it is 0 for a single value."""
    seen = [c for c in counts if c > 0]
    total = sum(seen)
    if len(seen) < 2:
        return 0.0
    return -sum(c / total * math.log(c / total) for c in seen) / math.log(len(seen))


def distinct(texts: Sequence[Sequence[str]], n: int) -> float:
    """Return Dist-n, 0 to 1: distinct n-grams over all n-grams (Li et al., NAACL 2016; PersonaLens, A.4)."""
    counts = _pooled(texts, n)
    total = counts.total()
    return len(counts) / total if total else 0.0


def entropy(texts: Sequence[Sequence[str]], n: int = 4) -> float:
    """Return Ent-n in nats, of the n-grams of all texts (Zhang et al., NeurIPS 2018; PersonaLens, A.4)."""
    counts = _pooled(texts, n)
    total = counts.total()
    return -sum(c / total * math.log(c / total) for c in counts.values()) if total else 0.0


def self_bleu(texts: Sequence[Sequence[str]], n: int = 4) -> float:
    """Return Self-BLEU, 0 to 1; lower is more diverse (Zhu et al., SIGIR 2018; PersonaLens, A.4).

    It is the mean BLEU-n of each text against all others. Counts of zero are smoothed to 0.1 (Chen and Cherry
    2014, method 1). The two highest counts of an n-gram suffice to clip the count of any text.
    """
    if len(texts) < 2:
        return 0.0
    per_text = [[grams(t, k) for t in texts] for k in range(1, n + 1)]
    best = [_two_highest(counts) for counts in per_text]
    lengths = Counter(len(t) for t in texts)
    return sum(_bleu(i, texts[i], per_text, best, lengths) for i in range(len(texts))) / len(texts)


def within_words(texts: Mapping[str, str], limit: int) -> list[list[str]]:
    """Return texts of about `limit` words, drawn by the digest of their keys, to compare datasets with."""
    chosen: list[list[str]] = []
    left = limit
    for key in sorted(texts, key=lambda k: hashlib.sha256(k.encode()).digest()):
        if left <= 0:
            break
        tokens = words_in(texts[key])[:left]
        left -= len(tokens)
        chosen.append(tokens)
    return chosen


def verbatim(value: str, text: str) -> bool:
    """True if a value stands in a text word for word; case does not matter."""
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", text.lower()) is not None


def _pooled(texts: Sequence[Sequence[str]], n: int) -> Counter[Gram]:
    pooled: Counter[Gram] = Counter()
    for tokens in texts:
        pooled.update(grams(tokens, n))
    return pooled


def _two_highest(counts: Sequence[Counter[Gram]]) -> dict[Gram, tuple[int, int, int]]:
    """Return, for each n-gram, its highest count, the index of that text, and the highest of the others."""
    best: dict[Gram, tuple[int, int, int]] = {}
    for i, counter in enumerate(counts):
        for gram, count in counter.items():
            first, owner, second = best.get(gram, (0, -1, 0))
            if count > first:
                best[gram] = (count, i, first)
            elif count > second:
                best[gram] = (first, owner, count)
    return best


def _bleu(
    i: int,
    tokens: Sequence[str],
    per_text: Sequence[Sequence[Counter[Gram]]],
    best: Sequence[Mapping[Gram, tuple[int, int, int]]],
    lengths: Counter[int],
) -> float:
    logs = 0.0
    for n, (counts, highest) in enumerate(zip(per_text, best, strict=True), 1):
        mine = counts[i]
        clipped = sum(
            min(c, second if owner == i else first)
            for g, c in mine.items()
            for first, owner, second in (highest[g],)
        )
        if n == 1 and clipped == 0:
            return 0.0  # no word in common with any other text
        logs += math.log((clipped or 0.1) / max(1, mine.total())) / len(best)
    other_lengths = [length for length, k in lengths.items() if k > (length == len(tokens))]
    closest = min(other_lengths, key=lambda length: (abs(length - len(tokens)), length))
    brevity = 1.0 if len(tokens) > closest else math.exp(1 - closest / max(1, len(tokens)))
    return brevity * math.exp(logs)
