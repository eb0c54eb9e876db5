"""The smallest drop that a gate can find, given how much scores differ between two runs without a change."""

from __future__ import annotations

from fractions import Fraction
from math import floor, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.stats.intervals import check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The step between the drops that are tried: a percentage point of a rate, or a hundredth of a score.
STEP: Final = Fraction(1, 100)


def detectable(
    by_user: Sequence[Sequence[Fraction | int]],
    *,
    level: float,
    margin: float = 0.0,
    power: float = 0.8,
    most: float = 1.0,
    step: Fraction | int = 1,
) -> float | None:
    """Return the smallest true drop that a gate on these scenarios would find.

    This is `smallest_drop` for the noise in the differences of each user's scenarios: the mean square of the
    users' sums, enlarged by one standard error. Without this, two runs that happen to differ little would
    promise a drop that is then missed more often than stated. If nothing differs, one scenario counts as
    different by a whole step, because equal runs do not prove that no run will ever differ.

    A score drops by one `step` of its scale (1: whole scores). If the assistant did change between the two
    runs, its change counts as noise: the result is then too large, and never too small. Raise ValueError
    without a difference, and as `smallest_drop` does.
    """
    if not by_user or not all(by_user):
        raise ValueError("expected at least one difference")
    size = float(step)
    squares = [float(sum(differences, Fraction()) / step) ** 2 for differences in by_user]
    if total := sum(squares):
        noise = (total + sqrt(sum(square * square for square in squares))) / len(squares)
    else:
        noise = 1 / len(squares)
    drop = smallest_drop(
        noise, list(map(len, by_user)), level=level, margin=margin / size, power=power, most=most / size
    )
    return None if drop is None else round(drop * size, 9)


def step_of(grid: Fraction) -> Fraction:
    """Return the step by which `detectable` lets scores drop, 100 times the distance between its drops.

    That distance is a hundredth of a whole score, or the grid if the grid is finer.
    """
    return 100 * min(grid, STEP)


def smallest_drop(
    noise: float,
    scenarios: Sequence[int],
    *,
    level: float,
    margin: float = 0.0,
    power: float = 0.8,
    most: float = 1.0,
) -> float | None:
    """Return the smallest true drop of the mean, a multiple of 0.01, that is found with probability `power`.

    `noise` is the variance of a user's sum of differences between two runs without a change, in squared steps
    of the score. `scenarios` holds the number of scenarios of each user. A drop is found if it fails a gate:
    `sign_flip` of the users' sums has p <= `level`, and the mean dropped by more than `margin`. Return None
    if not even a drop of `most` is found: the mean before, minus the low end of the scale.

    A score drops by one step in a random share of the scenarios, independently of the others, in addition to
    the noise. A drop of 1.25 is one step in all scenarios and one more in a quarter of them. The sum over all
    scenarios is taken as normal, and the test as a normal one with half a step of continuity. The results lie
    within 0.02 of a simulation of the exact test for 20 users and more, and are larger for fewer.

    Raise ValueError for a negative noise, for a level or power that is not between 0 and 1, for no user, and
    for a user without a scenario.

    >>> [smallest_drop(0.1, [1] * users, level=0.025) for users in (30, 100, 1000)]
    [0.33, 0.14, 0.04]
    """
    check_level(level)
    check_level(power)
    if not scenarios or min(scenarios) < 1:
        raise ValueError(f"expected at least one scenario, found {min(scenarios, default=0)}")
    if noise < 0:
        raise ValueError(f"expected a variance of 0 or more, found {noise}")
    likely, beyond = NormalDist().inv_cdf(power), NormalDist().inv_cdf(1 - level)
    total, squared, noise = sum(scenarios), sum(n * n for n in scenarios), noise * len(scenarios)
    for steps in range(1, floor(Fraction(most).limit_denominator(10**6) / STEP) + 1):
        drop = float(steps * STEP)
        own = total * (drop % 1) * (1 - drop % 1)  # the variance of how many scenarios lose one step more
        fall = total * drop - likely * sqrt(noise + own)  # the sum falls further with probability `power`
        # Where it falls by no more than that, fewer scenarios fell, and the squares are smaller too.
        squares = noise + (own + squared * drop * drop) * fall / (total * drop)
        if fall > max(0.0, margin * total) and fall - 1 >= beyond * sqrt(squares):
            return drop
    return None
