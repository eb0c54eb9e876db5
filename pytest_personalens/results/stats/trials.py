"""What several trials of one scenario say that one cannot: how reliable success is, and how much a score
varies by itself.
"""

from __future__ import annotations

from math import comb, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction


def pass_hat(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """pass^k (tau-bench, Yao et al. 2024): the probability, 0..1, that `k` trials of a scenario all pass, as
    a mean over scenarios.

    `counts` holds (passed, trials) of each scenario; out of its trials, k are taken in every possible way,
    which estimates the probability without bias. Scenarios with fewer than k trials are left out; None where
    none is left. Raises ValueError for a k below 1 and for more passed than trials.

    >>> pass_hat([(3, 4), (4, 4)], 2)
    0.75
    """
    if k < 1:
        raise ValueError(f"expected at least one trial, found {k}")
    if not all(0 <= passed <= trials for passed, trials in counts):
        raise ValueError(f"expected no more passed than trials, found {list(counts)}")
    shares = [pass_share(passed, trials, k) for passed, trials in counts if trials >= k]
    return fmean(shares) if shares else None


def pass_share(passed: int, trials: int, k: int) -> float:
    """The share, 0..1, of the ways to take `k` of a scenario's `trials`, at least k, in which all have
    `passed`.
    """
    return comb(passed, k) / comb(trials, k)


def spread(scores: Sequence[Sequence[float | Fraction]]) -> float | None:
    """How much a score varies by itself: the pooled standard deviation within scenarios, in steps of the
    scale.

    `scores` holds the scores of the trials of each scenario; those with fewer than two say nothing. None
    where none is left.

    >>> spread([[3, 4], [2, 2]])
    0.5
    """
    groups = [group for group in scores if len(group) > 1]
    squares = sum((score - fmean(group)) ** 2 for group in groups for score in group)
    return sqrt(squares / sum(len(group) - 1 for group in groups)) if groups else None
