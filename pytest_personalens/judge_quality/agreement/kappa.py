"""Chance-corrected agreement: Cohen's kappa, plain and weighted, and Fleiss' kappa."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

#: The resamples of a bootstrap. Its interval holds the middle 95 % of them.
RESAMPLES: Final = 1000


def cohen(pairs: Sequence[tuple[int, int]], *, quadratic: bool = False) -> float | None:
    """Return Cohen's kappa of two raters (Cohen 1960), at most 1.

    Return None where it is undefined: without pairs, or if both raters give one and the same score
    throughout. With `quadratic` weights a disagreement counts by the square of its distance (Cohen 1968).
    """
    n = len(pairs)
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)

    def weight(a: int, b: int) -> float:
        return float((a - b) ** 2) if quadratic else float(a != b)

    observed = sum(weight(a, b) for a, b in pairs) * n
    expected = sum(weight(a, b) * rows[a] * columns[b] for a in rows for b in columns)
    return None if expected == 0 else 1 - observed / expected


def fleiss(ratings: Sequence[Sequence[int]]) -> float | None:
    """Return Fleiss' kappa among any number of raters (Fleiss 1971).

    Return None where it is undefined. Subjects with fewer than two ratings are left out, because they show no
    agreement. The other subjects may differ in their number of ratings.
    """
    rated = [Counter(r) for r in ratings if len(r) > 1]
    total = sum(c.total() for c in rated)
    if not total:
        return None
    agreement = sum(
        (sum(k * k for k in c.values()) - c.total()) / (c.total() * (c.total() - 1)) for c in rated
    ) / len(rated)
    pooled: Counter[int] = sum(rated, Counter())
    chance = sum((k / total) ** 2 for k in pooled.values())
    return None if chance == 1 else (agreement - chance) / (1 - chance)


def interval(
    groups: Mapping[Hashable, Sequence[tuple[int, int]]],
    statistic: Callable[[Sequence[tuple[int, int]]], float | None],
    *,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return a 95 % bootstrap interval of `statistic` (percentile method).

    Each resample draws whole groups, because dialogues of one scenario are not independent. Return None if
    the statistic is defined on fewer than half of the resamples.
    """
    names = list(groups)
    chance = random.Random(seed)
    values = []
    for _ in range(RESAMPLES if names else 0):
        drawn = chance.choices(names, k=len(names))
        if (value := statistic([pair for name in drawn for pair in groups[name]])) is not None:
            values.append(value)
    if len(values) < RESAMPLES / 2:
        return None
    values.sort()
    return values[round(0.025 * (len(values) - 1))], values[round(0.975 * (len(values) - 1))]
