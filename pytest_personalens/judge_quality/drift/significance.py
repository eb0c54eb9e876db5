"""How likely a difference is by chance: an exact sign test, and a permutation test of two changes."""

from __future__ import annotations

import random
from collections import defaultdict
from math import comb
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDS: Final = 1999


def sign_test(up: int, down: int) -> float:
    """Return the two-sided p of the exact sign test, without ties."""
    n = up + down
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(up, down) + 1)) / (1 << n))


def permutation_test(reference: Sequence[tuple[int, int]], seen: Sequence[tuple[int, int]]) -> float:
    """Return the p of a test whether `seen` moved otherwise than `reference`.

    Both are pairs (before, after). The test compares the changes only among pairs with the same score before,
    because a score at the end of its scale can move only one way. The p is 1.0 if the two sets have no score
    before in common. The test draws permutations with a fixed seed: equal input gives an equal p.
    """
    strata: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, pairs in enumerate((reference, seen)):
        for before, after in pairs:
            strata[before][side].append(after - before)
    both = [(a, b) for a, b in strata.values() if a and b]
    observed = abs(_distance(both)) - 1e-9
    chance = random.Random(0)
    hits = 0
    for _ in range(_ROUNDS if both else 0):
        drawn = []
        for a, b in both:
            pool = a + b
            chance.shuffle(pool)
            drawn.append((pool[: len(a)], pool[len(a) :]))
        hits += abs(_distance(drawn)) >= observed
    return (1 + hits) / (1 + _ROUNDS) if both else 1.0


def _distance(strata: Sequence[tuple[list[int], list[int]]]) -> float:
    return sum(len(b) * (sum(b) / len(b) - sum(a) / len(a)) for a, b in strata)
