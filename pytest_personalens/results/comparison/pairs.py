"""Compares pairs of means of the same scenarios, one-sided for gates and two-sided for tables."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.means import by_user, pair_means, scores_of
from pytest_personalens.results.stats.intervals import mean_interval
from pytest_personalens.results.stats.paired import flip_interval, sign_flip
from pytest_personalens.results.values.changes import PairedChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.means import Key, Pairs, TrialScores
    from pytest_personalens.results.values.item import Item

#: Figures are rounded to as many places.
PLACES: Final = 6


def compare_pairs(measure: Measure, pairs: Pairs, *, improving: bool = False) -> PairedChange:
    """Return at least one pair of means (before, after) as a comparison.

    `p` is that of a change for the worse, or of one for the better if `improving`.
    """
    changes, span = changes_in(pairs), measure.span
    every = [change for of_user in changes for change in of_user]
    better = gains(changes, measure)
    totals = [sum(of_user, Fraction()) for of_user in better]
    p = sign_flip([-total for total in totals] if improving else totals).p
    ends = mean_interval(changes, None if span is None else -span, span, grid=measure.grid)
    if improving and (found := flip_interval(better, p)) is not None:
        # By the same test as p, so that they never contradict each other.
        ends = found if measure.sign > 0 else (-found[1], -found[0])
    low, high = ends or (None, None)
    return PairedChange(
        dimension=measure,
        pairs=len(pairs),
        users=len(changes),
        before=round(fmean(before for before, _ in pairs.values()), PLACES),
        after=round(fmean(after for _, after in pairs.values()), PLACES),
        change=round(fmean(every), PLACES),
        low=None if low is None else round(low, PLACES),
        high=None if high is None else round(high, PLACES),
        better=sum(measure.sign * change > 0 for change in every),
        worse=sum(measure.sign * change < 0 for change in every),
        p=round(p, PLACES),
    )


def changes_in(pairs: Pairs) -> list[list[Fraction]]:
    """Return after - before of each user's scenarios."""
    return by_user({scenario: after - before for scenario, (before, after) in pairs.items()})


def gains(changes: Sequence[Sequence[Fraction]], dimension: Measure) -> list[list[Fraction]]:
    """Return the changes with positive numbers for improvements."""
    return [[dimension.sign * change for change in of_user] for of_user in changes]


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
    """Return the contrast of `other` with `base` before the correction; None without a score in both.

    A scenario that changed in the dataset between the two runs counts as another scenario. The test flips
    signs with equal probability, so that a high sum is as likely as an equally low one. The two-sided p is
    therefore twice the p of the direction that was seen. A drop is measured as a rise from `other` to `base`,
    so that its interval comes from the same test as its p.
    """
    then, now = ({item.scenario_key: item.content for item in side} for side in (base, other))
    means = pair_means(_by_test(base, dimension), _by_test(other, dimension))
    pairs = {key: pair for key, pair in means.items() if then[key[0], key[1]] == now[key[0], key[1]]}
    if not pairs:
        return None
    if dropped := dimension.sign * sum(after - before for before, after in pairs.values()) < 0:
        pairs = {key: (after, before) for key, (before, after) in pairs.items()}
    result = compare_pairs(dimension, pairs, improving=True)
    change, low, high = result.change, result.low, result.high
    if dropped:
        change, low, high = -change, None if high is None else -high, None if low is None else -low
    p = min(1.0, 2 * result.p)
    return Contrast(result.pairs, result.users, change, low, high, p, p)


def adjust_contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Return the same contrasts in the same order, with p-values corrected for all of them."""
    adjusted = adjust_holm([one.p for one in contrasts])
    return [one._replace(adjusted=p) for one, p in zip(contrasts, adjusted, strict=True)]


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


def _by_test(items: Sequence[Item], dimension: Measure) -> dict[Key, TrialScores]:
    """Return the scores of each scenario in each test; the name of an only test does not count."""
    scores = scores_of(items, dimension)
    single = len({key[2:] for key in scores}) == 1
    return {key[:2] if single else key: trial_scores for key, trial_scores in scores.items()}
