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
    from collections.abc import Sequence

_FOLDS: Final = 40


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
    """Return how often the commoner class of the user's earlier replies is right, 0 to 1.

    A tie is half right. Return None without targets.
    """
    right = [_half_right(sum(1 if each else -1 for each in t.earlier), t.reply.positive) for t in targets]
    return math.fsum(right) / len(right) if right else None


def by_words(targets: Sequence[Target], replies: Sequence[Labelled]) -> float | None:
    """Return how often the words of a reply alone tell its class, 0 to 1.

    Naive Bayes learns from the `replies` of other users: users are dealt to forty folds by digest, and each
    fold is told by the others. Return None without targets.
    """
    counts: dict[tuple[int, bool], Counter[str]] = defaultdict(Counter)
    texts: Counter[tuple[int, bool]] = Counter()
    for reply in replies:
        key = _fold(reply.user), reply.positive
        counts[key].update(set(words_in(reply.text)))
        texts[key] += 1
    both = (True, False)
    every = {
        positive: sum((c for k, c in counts.items() if k[1] is positive), Counter()) for positive in both
    }
    number = {positive: sum(n for k, n in texts.items() if k[1] is positive) for positive in both}
    right = []
    for target in targets:
        fold = _fold(target.reply.user)
        seen = {positive: number[positive] - texts[fold, positive] for positive in both}
        score = math.log((seen[True] + 1) / (seen[False] + 1))
        for word in set(words_in(target.reply.text)):
            among = [
                (every[positive][word] - counts[fold, positive][word] + 1) / (seen[positive] + 2)
                for positive in both
            ]
            score += math.log(among[0] / among[1])
        right.append(_half_right(score, target.reply.positive))
    return math.fsum(right) / len(right) if right else None


def _half_right(score: float, positive: bool) -> float:
    return 0.5 if score == 0 else float((score > 0) is positive)


def _fold(user: str) -> int:
    digest = hashlib.sha256(user.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % _FOLDS
