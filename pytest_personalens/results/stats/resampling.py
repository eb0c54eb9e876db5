"""Intervals of figures that are no mean of scenarios, and the test whether one differs between two arms."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, TypeVar

from pytest_personalens.results.stats.intervals import LEAST, Interval
from pytest_personalens.results.stats.paired import DRAWS, FEW, Test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Value = TypeVar("_Value")
SAMPLES: Final = 2_000
#: The share of the samples beyond each end of an interval.
_OUTSIDE: Final = 0.025


def bootstrap_interval(
    by_user: Sequence[Sequence[_Value]],
    figure: Callable[[Sequence[_Value]], float | None],
    p: float | None = None,
) -> Interval | None:
    """Return the 95 % interval of a `figure` of all values, by bootstrap (Efron 1979).

    The ends are percentiles over 2,000 samples of the users with replacement, with a fixed seed. `p` is the
    one-sided p of a figure that is a gain. Return None for fewer than three users, and if most samples do not
    determine the figure.
    """
    if len(by_user) < LEAST:
        return None
    chance, figures = random.Random(0), list[float]()
    for _ in range(SAMPLES):
        sample = [value for values in chance.choices(by_user, k=len(by_user)) for value in values]
        if (value := figure(sample)) is not None:
            figures.append(value)
    return middle_95(figures, p)


def middle_95(figures: list[float], p: float | None = None) -> Interval | None:
    """Return the ends of the middle 95 % of the figures of `SAMPLES` samples.

    With the one-sided `p` of a gain, they begin above 0 exactly if p is at most 0.025, so that the two never
    contradict each other. Return None if most samples gave no figure, and if all figures are equal.
    """
    if len(figures) < SAMPLES / 2:
        return None
    figures = sorted(figures)
    outside = len(figures) // 40
    low, high = figures[outside], figures[-1 - outside]
    if p is not None and (p <= _OUTSIDE) != (low > 0):
        low = 0.0 if p > _OUTSIDE else next((value for value in figures if value > 0), low)
    return (low, high) if low < high else None


def swap_test(
    by_user: Sequence[Sequence[tuple[_Value, _Value]]],
    gain: Callable[[Sequence[tuple[_Value, _Value]]], float],
) -> Test:
    """Return the paired randomization test of a `gain` that is no mean.

    `by_user` holds (before, after) of each user's scenarios. If the two arms were alike, the two sides of
    each user could as well be swapped. p is the share of all ways to swap them whose gain is at least as
    large: of all ways for up to 14 users, else of 20,000 with a fixed seed.
    """
    users, swapped = list(by_user), [[(after, before) for before, after in pairs] for pairs in by_user]
    seen = gain([pair for pairs in users for pair in pairs])

    def hit(mask: int) -> bool:
        sides = (swapped[n] if mask >> n & 1 else users[n] for n in range(len(users)))
        return gain([pair for pairs in sides for pair in pairs]) >= seen

    if len(users) <= FEW:
        ways = 1 << len(users)
        return Test(sum(map(hit, range(ways))) / ways, exact=True)
    chance = random.Random(0)
    hits = sum(hit(chance.getrandbits(len(users))) for _ in range(DRAWS))
    return Test((hits + 1) / (DRAWS + 1), exact=False)
