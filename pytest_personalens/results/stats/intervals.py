"""How far a rate or a mean of scores can be trusted: intervals that hold for few scenarios, and for users
with several.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf, isinf, sqrt
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.stats.quantiles import beta_quantile, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Below so many scenarios, or users where they have several, an interval says nothing and none is given.
LEAST: Final = 3

Interval = tuple[float, float]


def interval(
    by_user: Sequence[Sequence[float | Fraction]],
    low: float | None,
    high: float | None,
    grid: float | Fraction = 1,
) -> Interval | None:
    """The 95 % interval of the mean of values on the scale `low`..`high`, which `by_user` holds for the
    scenarios of each user.

    A rate of single scenarios, all of them 0 or 1 and each of another user, has the exact one
    (`rate_interval`), any other mean that of `mean_interval`; of a rate, an end that would claim that nothing
    or everything fails, though some did and some did not, is the exact one instead. None for fewer than three
    users. Raises ValueError as `mean_interval` does.
    """
    found = mean_interval(by_user, low, high, grid=grid)
    if found is None or (low, high) != (0, 1):
        return found
    users, scenarios = len(by_user), sum(map(len, by_user))
    successes = sum((Fraction(value) for values in by_user for value in values), Fraction())
    exact = rate_interval(float(successes * users / scenarios), users)
    if all(len(values) == 1 and values[0] in (0, 1) for values in by_user):
        return exact
    return found[0] or exact[0], found[1] if found[1] < 1 else exact[1]


def rate_interval(successes: float, total: int, *, level: float = 0.95) -> Interval:
    """The exact interval of a rate (Clopper and Pearson 1934), both ends in 0..1; (0.0, 1.0) where `total` is
    0.

    Over independent scenarios it holds the true rate with a probability of `level` or more, whatever the rate
    and the total. `successes`, in 0..`total`, need not be whole: a scenario with several trials counts by its
    share of successes, and the interval is then wider than it need be. Raises ValueError for anything out of
    range.

    >>> [round(end, 3) for end in rate_interval(27, 30)]
    [0.735, 0.979]
    """
    check_level(level)
    if not 0 <= successes <= total:
        raise ValueError(f"expected 0 to {total} successes, found {successes}")
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
    """An interval for the mean of values on the scale `low`..`high`, its ends within it; None for fewer than
    three users.

    `by_user` holds the values of the scenarios of each user. What one user's scenarios have in common they
    share, so it is the users that are counted: each by the mean of its values, weighted by their number.

    It is Student's t interval of the users' means and of two more, one at `low` and one at `high`, with the
    weight of a typical user. These stand for scores that so few have not shown, as the successes and failures
    that Agresti and Coull (1998) add to a rate; without them few equal scores would claim to be certain. They
    matter less and less as the sample grows, so there is no size from which another method takes over. How
    often the interval holds is on the page Noise of the documentation, with the simulation.

    Where the scale has no end (None), the further value stands a step of the `grid` beyond the outermost one
    that was seen, and the interval may reach beyond it.

    Raises ValueError for a value off the scale, a user without a value, a scale without width and a level not
    between 0 and 1.

    >>> [round(end, 2) for end in mean_interval([[4]] * 30, 1, 4)]
    [3.71, 4.0]
    """
    check_level(level)
    lowest, highest = (-inf if low is None else low), (inf if high is None else high)
    if not lowest < highest:
        raise ValueError(f"expected a scale, found {low} to {high}")
    for value in (value for values in by_user for value in values):
        if not lowest <= value <= highest or isinf(value):  # also what is no number at all
            raise ValueError(f"expected values from {lowest} to {highest}, found {value}")
    if not all(by_user):
        raise ValueError("expected at least one value of each user, found none")
    if len(by_user) < LEAST:
        return None
    every = [value for values in by_user for value in values]
    ends = (
        float(min(every) - Fraction(grid)) if low is None else float(low),
        float(max(every) + Fraction(grid)) if high is None else float(high),
    )
    total = sum(map(len, by_user))
    typical = sum(len(values) ** 2 for values in by_user) / total
    points = [(float(sum(values)) / len(values), float(len(values))) for values in by_user]
    mean = fsum(value * weight for value, weight in points) / total
    points += [(end, typical) for end in ends]
    weights = fsum(weight for _, weight in points)
    middle = fsum(value * weight for value, weight in points) / weights
    # Of unequal weights, only so many users count.
    users = weights**2 / fsum(weight**2 for _, weight in points)
    squares = fsum((weight * (value - middle)) ** 2 for value, weight in points)
    reach = t_quantile(level, users - 1) * sqrt(squares / (1 - 1 / users)) / weights
    return max(lowest, min(mean, middle - reach)), min(highest, max(mean, middle + reach))


def check_level(level: float) -> None:
    """Raise ValueError unless `level` lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"expected a level between 0 and 1, found {level}")
