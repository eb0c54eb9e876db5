"""Figures over several trials of one scenario: how reliable success is, and how much a score varies."""

from __future__ import annotations

from math import comb, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction


def pass_hat(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """Return pass^k, the mean probability that `k` trials all pass, 0 to 1 (tau-bench, Yao et al. 2024).

    `counts` holds (passed, trials) of each scenario. The estimate takes k of a scenario's trials in every
    possible way, which makes it unbiased. Scenarios with fewer than k trials are left out; None if no
    scenario is left. Raise ValueError for a k below 1, and if more trials passed than there are.

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
    """Return the share of choices of `k` trials in which all passed, of at least k `trials`: 0 to 1."""
    return comb(passed, k) / comb(trials, k)


def spread(scores: Sequence[Sequence[float | Fraction]]) -> float | None:
    """Return the pooled standard deviation of a score within scenarios, in steps of the scale.

    `scores` holds the scores of the trials of each scenario. Scenarios with fewer than two scores are left
    out; None if no scenario is left.

    >>> spread([[3, 4], [2, 2]])
    0.5
    """
    groups = [group for group in scores if len(group) > 1]
    squares = sum((score - fmean(group)) ** 2 for group in groups for score in group)
    return sqrt(squares / sum(len(group) - 1 for group in groups)) if groups else None
