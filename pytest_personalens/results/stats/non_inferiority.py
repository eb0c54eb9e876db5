"""How large a drop between two runs is not excluded: a bound that holds for few and for skewed changes."""

from __future__ import annotations

from collections import Counter
from math import atan, exp, log1p, pi, sin, sqrt
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.stats.intervals import LEAST, check_level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

#: The integral's step in the logarithm of its variable, and where it begins: its error is below 1e-8.
_STEP: Final = 0.1
_BEGIN: Final = -22.0
#: The integrand is nothing where the logarithm of its divisor is above this.
_NOTHING: Final = 45.0
_PRECISION: Final = 1e-6


def least_change(by_user: Sequence[Sequence[Fraction | int]], span: float, *, level: float) -> float | None:
    """Return the lowest mean change that is not excluded at the one-sided `level`.

    Return None for fewer than three users. `by_user` holds the changes of each user's scenarios, from -`span`
    to `span`. The true mean change is above the bound with a probability of 1 - `level` or more.

    It is the bound of Gaffke (2005) and of Learned-Miller and Thomas (2020): the `level` quantile of the mean
    of the changes and of one more at -`span`, when each has a random weight (an exponential one, as in the
    Bayesian bootstrap of Rubin 1981). Of changes that are 0 or -`span` it is the exact bound of Clopper and
    Pearson (1934). What one user's scenarios have in common they share, so each user has one weight, and the
    one more stands for a typical user. The sign-flip test is no test of this: it takes changes to be as
    likely to lie above their mean as below, and a rare large drop is not.

    Raise ValueError for a change off the span, a user without one, and a level not between 0 and 1.

    >>> round(least_change([[0]] * 30, 1, level=0.05), 3)
    -0.095
    """
    users = _weigh(by_user, span, level)
    if len(by_user) < LEAST:
        return None
    low, high = -float(span), float(span)
    while high - low > _PRECISION:
        middle = (low + high) / 2
        if _chance_below(users, middle) > level:
            high = middle
        else:
            low = middle
    return low


def excludes_drop(
    by_user: Sequence[Sequence[Fraction | int]], span: float, drop: float, *, level: float
) -> bool:
    """Return whether a mean drop of `drop` or more is excluded: faster than the bound, with its errors."""
    users = _weigh(by_user, span, level)
    return len(by_user) >= LEAST and _chance_below(users, -drop) <= level


def _weigh(
    by_user: Sequence[Sequence[Fraction | int]], span: float, level: float
) -> dict[tuple[float, float], int]:
    """Return how many users have a sum of changes and a number of scenarios, with the one more."""
    check_level(level)
    if not all(by_user):
        raise ValueError("expected at least one change of each user, found none")
    if not all(-span <= change <= span for changes in by_user for change in changes):
        raise ValueError(f"expected changes from {-span} to {span}")
    users = Counter((float(sum(changes)), float(len(changes))) for changes in by_user)
    total = sum(scenarios * number for (_, scenarios), number in users.items())
    typical = sum(scenarios**2 * number for (_, scenarios), number in users.items()) / max(total, 1)
    return users + Counter([(-span * typical, typical)])


def _chance_below(users: Mapping[tuple[float, float], int], mean: float) -> float:
    """Return the probability that the randomly weighted mean is `mean` or lower.

    That is where the sum of the weights times how far each user lies above it is 0 or lower: a sum of
    exponential variables, whose distribution Imhof's integral (1961) gives.
    """
    sizes = Counter[float]()
    for (change, scenarios), number in users.items():
        if size := change - mean * scenarios:
            sizes[size] += number
    if all(size > 0 for size in sizes) or all(size < 0 for size in sizes):
        return float(all(size < 0 for size in sizes))
    unit = sqrt(sum(number * size * size for size, number in sizes.items()))
    scaled = [(size / unit, number) for size, number in sizes.items()]
    area, place = 0.0, _BEGIN
    while True:
        t = exp(place)
        if (divisor := sum(n * log1p((a * t) ** 2) for a, n in scaled) / 2) > _NOTHING:
            break
        area += sin(sum(n * atan(a * t) for a, n in scaled)) * exp(-divisor)
        place += _STEP
    return 0.5 - area * _STEP / pi
