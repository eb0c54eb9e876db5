"""Pairs of means of the same scenarios, held against each other."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.means import by_user
from pytest_personalens.results.stats.intervals import mean_interval
from pytest_personalens.results.stats.paired import flip_interval, sign_flip
from pytest_personalens.results.values.changes import PairedChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.means import Pairs

#: Figures are rounded to as many places.
PLACES: Final = 6


def compare_pairs(measure: Measure, pairs: Pairs, *, improving: bool = False) -> PairedChange:
    """Return at least one pair of means (before, after) as a comparison.

    `p` is that of a change for the worse, or of one for the better if `improving`.
    """
    changes = changes_in(pairs)
    span = measure.span
    lowest = None if span is None else -span
    every = [change for of_user in changes for change in of_user]
    better = gains(changes, measure)
    totals = [sum(of_user, Fraction()) for of_user in better]
    p = sign_flip([-total for total in totals] if improving else totals).p
    ends = mean_interval(changes, lowest, span, grid=measure.grid)
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
