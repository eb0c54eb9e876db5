"""Compares two sets of items by scenario.

The tests are two-sided, and corrected for all that are made together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.comparison.pairs import compare_pairs
from pytest_personalens.results.means import pair_means, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.means import Key, Pairs, TrialScores
    from pytest_personalens.results.values.item import Item


class Contrast(NamedTuple):
    """The difference between two sets of items: the mean `change` over `pairs` scenarios of `users`.

    `low` to `high` is the 95 % interval of the change, or None. `p` is two-sided. `adjusted` is `p` after
    Holm's correction over all tests that are made together, 0 to 1.
    """

    pairs: int
    users: int
    change: float
    low: float | None
    high: float | None
    p: float
    adjusted: float


def contrast(base: Sequence[Item], other: Sequence[Item], dimension: Measure) -> Contrast | None:
    """Return the contrast of `other` with `base`, before the correction.

    It covers the scenarios with a score in both, and is None if there is none. The test flips signs with
    equal probability, so that a high sum is as likely as an equally low one. The two-sided p is therefore
    twice the p of the direction that was seen. A drop is measured as a rise from `other` to `base`, so that
    its interval comes from the same test as its p.
    """
    pairs = _pairs(base, other, dimension)
    if not pairs:
        return None
    rise = sum(after - before for before, after in pairs.values())
    if dropped := dimension.sign * rise < 0:
        pairs = {key: (after, before) for key, (before, after) in pairs.items()}
    result = compare_pairs(dimension, pairs, improving=True)
    change, low, high = result.change, result.low, result.high
    if dropped:
        change, low, high = -change, None if high is None else -high, None if low is None else -low
    p = min(1.0, 2 * result.p)
    return Contrast(result.pairs, result.users, change, low, high, p, p)


def adjust_contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Return the same contrasts in the same order, with corrected p-values.

    The correction covers all of them.
    """
    return [
        one._replace(adjusted=p)
        for one, p in zip(contrasts, adjust_holm([one.p for one in contrasts]), strict=True)
    ]


def adjust_holm(ps: Sequence[float]) -> list[float]:
    """Return each of `ps` as Holm's step-down procedure (1979) corrects it.

    A corrected p is at most the level exactly if `holm` rejects the hypothesis at that level.

    >>> adjust_holm([0.04, 0.02])
    [0.04, 0.04]
    """
    adjusted, least = [1.0] * len(ps), 0.0
    for left, i in zip(range(len(ps), 0, -1), sorted(range(len(ps)), key=lambda i: ps[i]), strict=True):
        least = max(least, min(1.0, left * ps[i]))
        adjusted[i] = least
    return adjusted


def _pairs(base: Sequence[Item], other: Sequence[Item], dimension: Measure) -> Pairs:
    """Return the means of the scenarios that have a score in both sets.

    A scenario that changed in the dataset between the two runs counts as another scenario.
    """
    then, now = ({item.scenario_key: item.content for item in side} for side in (base, other))
    changed = {key for key in then.keys() & now.keys() if then[key] != now[key]}
    before, after = (_by_test(side, dimension) for side in (base, other))
    return {key: pair for key, pair in pair_means(before, after).items() if key not in changed}


def _by_test(items: Sequence[Item], dimension: Measure) -> dict[Key, TrialScores]:
    """Return the scores of each scenario in each test.

    If there is only one test, its name does not count for the pairs.
    """
    scores = scores_of(items, dimension)
    return (
        {key[:2]: trial_scores for key, trial_scores in scores.items()}
        if len({key[2:] for key in scores}) == 1
        else scores
    )
