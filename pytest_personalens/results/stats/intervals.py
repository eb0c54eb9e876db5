"""Intervals of means and rates over few scores, with the quantiles that they need."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, fsum, inf, lgamma, log, log1p, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The smallest number of users for which an interval has a meaning.
LEAST: Final = 3
#: The most steps of the continued fraction, which needs about the square root of the larger parameter.
_STEPS: Final = 10_000
_ENOUGH: Final = 1e-15
#: Replaces a zero in the continued fraction.
_TINY: Final = 1e-300
#: The number of halvings of 0 to 1, after which both ends are the same float or nearly so.
_HALVINGS: Final = 60

Interval = tuple[float, float]


def beta_share(x: float, a: float, b: float) -> float:
    """Return the share of a beta distribution, with `a` and `b` above 0, below `x`: 0 to 1.

    It is computed from the continued fraction by Lentz's method (Press et al., Numerical Recipes, 6.4).
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    fraction = d
    for m in range(1, _STEPS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d or _TINY)
            c = 1 + step / c or _TINY
            fraction *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    return front * fraction


@lru_cache(maxsize=1024)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the `x` below which a `share`, 0 to 1, of the beta distribution lies."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def t_quantile(level: float, freedom: float) -> float:
    """Return the t with a share `level` of Student's distribution between -t and t.

    `level` is between 0 and 1. `freedom`, the degrees of freedom, is 1 or more and need not be whole.

    >>> round(t_quantile(0.95, 30), 3)
    2.042
    """
    x = beta_quantile(level, 0.5, freedom / 2)
    return sqrt(freedom * x / (1 - x))


def interval(
    by_user: Sequence[Sequence[float | Fraction]],
    low: float | None,
    high: float | None,
    grid: float | Fraction = 1,
) -> Interval | None:
    """Return the 95 % interval of a mean on the scale `low` to `high`; None for fewer than three users.

    `by_user` holds the values for the scenarios of each user. A rate of single scenarios (all values are 0 or
    1, each of another user) gets the exact interval of `rate_interval`, any other mean that of
    `mean_interval`. If the latter would begin at 0 or end at 1 for a rate although some scenarios passed and
    some failed, the end of the exact interval replaces that end.
    """
    ends = mean_interval(by_user, low, high, grid=grid)
    if ends is None or (low, high) != (0, 1):
        return ends
    users, scenarios = len(by_user), sum(map(len, by_user))
    successes = sum((Fraction(value) for values in by_user for value in values), Fraction())
    exact = rate_interval(float(successes * users / scenarios), users)
    if all(len(values) == 1 and values[0] in (0, 1) for values in by_user):
        return exact
    return ends[0] or exact[0], ends[1] if ends[1] < 1 else exact[1]


def rate_interval(successes: float, total: int, *, level: float = 0.95) -> Interval:
    """Return the exact interval of a rate (Clopper and Pearson 1934), within 0 to 1.

    For independent scenarios, it contains the true rate with a probability of `level` or more. It is (0.0,
    1.0) if `total` is 0. `successes`, from 0 to `total`, need not be whole: a scenario with several trials
    counts by its share of successes, and the interval is then wider than necessary.

    >>> [round(end, 3) for end in rate_interval(27, 30)]
    [0.735, 0.979]
    """
    outside = (1 - level) / 2
    low = beta_quantile(outside, successes, total - successes + 1) if successes else 0.0
    return low, beta_quantile(1 - outside, successes + 1, total - successes) if successes < total else 1.0


def mean_interval(
    by_user: Sequence[Sequence[float | Fraction]],
    low: float | None,
    high: float | None,
    *,
    level: float = 0.95,
    grid: float | Fraction = 1,
) -> Interval | None:
    """Return an interval for the mean on the scale `low` to `high`; None for fewer than three users.

    `by_user` holds the values of each user's scenarios, at least one. The scenarios of one user resemble each
    other, so the method counts users: each by the mean of its values, with their number as its weight.

    The result is Student's t interval of the users' means and of two extra values, one at `low` and one at
    `high`, each with the weight of a typical user. They stand for scores that a small sample has not shown,
    as do the successes and failures that Agresti and Coull (1998) add to a rate: without them, a few equal
    scores would give an interval of no width. If the scale has no end (None), the extra value lies one step
    of the `grid` beyond the outermost value seen, and the interval may reach beyond that. The page Noise of
    the documentation says how often the interval holds, with the simulation.

    >>> [round(end, 2) for end in mean_interval([[4]] * 30, 1, 4)]
    [3.71, 4.0]
    """
    if len(by_user) < LEAST:
        return None
    every = [value for values in by_user for value in values]
    ends = (
        float(min(every) - Fraction(grid)) if low is None else float(low),
        float(max(every) + Fraction(grid)) if high is None else float(high),
    )
    typical = sum(len(values) ** 2 for values in by_user) / len(every)
    points = [(float(sum(values)) / len(values), float(len(values))) for values in by_user]
    mean = fsum(value * weight for value, weight in points) / len(every)
    points += [(end, typical) for end in ends]
    weights = fsum(weight for _, weight in points)
    middle = fsum(value * weight for value, weight in points) / weights
    # With unequal weights, the effective number of users is smaller.
    users = weights**2 / fsum(weight**2 for _, weight in points)
    squares = fsum((weight * (value - middle)) ** 2 for value, weight in points)
    reach = t_quantile(level, users - 1) * sqrt(squares / (1 - 1 / users)) / weights
    lowest, highest = (-inf if low is None else low), (inf if high is None else high)
    return max(lowest, min(mean, middle - reach)), min(highest, max(mean, middle + reach))
