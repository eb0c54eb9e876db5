"""Two sets of items held against each other scenario by scenario: two-sided, and corrected for all that is
tested together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.comparison import paired
from pytest_personalens.results.means import balanced, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.measure import Measure
    from pytest_personalens.results.means import Key, Pairs, TrialScores
    from pytest_personalens.results.values import Item


class Contrast(NamedTuple):
    """How far one set of items lies above another: the mean `change` over `pairs` scenarios, with its 95 %
    interval where it has one.

    `p` is two-sided; `adjusted` is the same after Holm's correction over all that is tested together, 0..1.
    """

    pairs: int
    change: float
    low: float | None
    high: float | None
    p: float
    adjusted: float


def contrast(base: Sequence[Item], other: Sequence[Item], dimension: Measure) -> Contrast | None:
    """`other` against `base` over the scenarios that both scored, not yet corrected; None where there is no
    such scenario.

    Signs are flipped with equal chance, so that a sum as high is as likely as one as low: the two-sided p is
    twice that of the direction that was seen.
    """
    pairs = _pairs(base, other, dimension)
    if not pairs:
        return None
    rise = sum(after - before for before, after in pairs.values())
    found = paired(dimension, pairs, improving=dimension.sign * rise > 0)
    p = min(1.0, 2 * found.p)
    return Contrast(found.pairs, found.change, found.low, found.high, p, p)


def corrected(found: Sequence[Contrast]) -> list[Contrast]:
    """The same contrasts, in their order, with p-values corrected over all of them."""
    return [
        one._replace(adjusted=p)
        for one, p in zip(found, holm_adjusted([one.p for one in found]), strict=True)
    ]


def holm_adjusted(ps: Sequence[float]) -> list[float]:
    """Each of `ps` as Holm's step-down procedure (1979) corrects it: at most the level exactly where `holm`
    rejects.

    >>> holm_adjusted([0.04, 0.02])
    [0.04, 0.04]
    """
    adjusted, least = [1.0] * len(ps), 0.0
    for left, i in zip(range(len(ps), 0, -1), sorted(range(len(ps)), key=lambda i: ps[i]), strict=True):
        least = max(least, min(1.0, left * ps[i]))
        adjusted[i] = least
    return adjusted


def _pairs(base: Sequence[Item], other: Sequence[Item], dimension: Measure) -> Pairs:
    """The scenarios that both scored. What changed in the dataset between two runs is another scenario."""
    then, now = ({item.scenario_key: item.content for item in side if item.content} for side in (base, other))
    changed = {key for key in then.keys() & now.keys() if then[key] != now[key]}
    before, after = (_by_test(side, dimension) for side in (base, other))
    return {key: pair for key, pair in balanced(before, after).items() if key not in changed}


def _by_test(items: Sequence[Item], dimension: Measure) -> dict[Key, TrialScores]:
    """The scores of each scenario in each test; where there is one test alone, its name is nothing to pair
    by.
    """
    scores = scores_of(items, dimension)
    return (
        {key[:2]: found for key, found in scores.items()} if len({key[2:] for key in scores}) == 1 else scores
    )
