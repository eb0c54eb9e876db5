"""How often simple guesses find the class of a target of sentiment.

A good set of posts cannot be guessed by its commonest class, or by the words of the reply alone.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.datasets.quality.diversity import words_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FOLDS: Final = 40
_CLASSES: Final = (True, False)


class Labelled(NamedTuple):
    """A reply of a user with its class: True is positive."""

    user: str
    text: str
    positive: bool


class Target(NamedTuple):
    """A target of sentiment, with the classes of the user's replies in earlier posts."""

    reply: Labelled
    earlier: tuple[bool, ...]


def by_majority(targets: Sequence[Target]) -> float | None:
    """Return the share of the commoner class, 0.5 to 1, or None without targets."""
    positive = sum(target.reply.positive for target in targets)
    return max(positive, len(targets) - positive) / len(targets) if targets else None


def by_earlier_labels(targets: Sequence[Target]) -> float | None:
    """Return how often the commoner class of the user's earlier replies is right; a tie is half right."""
    return _share_right((sum(1 if each else -1 for each in t.earlier), t.reply.positive) for t in targets)


def by_words(targets: Sequence[Target], replies: Sequence[Labelled]) -> float | None:
    """Return how often the words of a reply alone tell its class, 0 to 1, or None without targets.

    Naive Bayes learns from the `replies` of other users: users are dealt to forty folds by digest, and each
    fold is predicted by the others.
    """
    words: dict[tuple[int, bool], Counter[str]] = defaultdict(Counter)
    texts: Counter[tuple[int, bool]] = Counter()
    for reply in replies:
        key = _fold(reply.user), reply.positive
        words[key].update(set(words_in(reply.text)))
        texts[key] += 1
    every = {c: sum((each for key, each in words.items() if key[1] is c), Counter()) for c in _CLASSES}
    number = {c: sum(each for key, each in texts.items() if key[1] is c) for c in _CLASSES}

    def score(reply: Labelled) -> float:
        fold = _fold(reply.user)
        seen = {c: number[c] - texts[fold, c] for c in _CLASSES}
        total = math.log((seen[True] + 1) / (seen[False] + 1))
        for word in set(words_in(reply.text)):
            positive, negative = (
                (every[c][word] - words[fold, c][word] + 1) / (seen[c] + 2) for c in _CLASSES
            )
            total += math.log(positive / negative)
        return total

    return _share_right((score(target.reply), target.reply.positive) for target in targets)


def _share_right(guesses: Iterable[tuple[float, bool]]) -> float | None:
    """Return the share of scores with the sign of the class; a score of 0 is half right."""
    right = [0.5 if score == 0 else float((score > 0) is positive) for score, positive in guesses]
    return math.fsum(right) / len(right) if right else None


def _fold(user: str) -> int:
    digest = hashlib.sha256(user.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % _FOLDS
