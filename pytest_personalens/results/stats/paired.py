"""Tests of drops and lifts, which drop they would find or exclude, and intervals by resampling over users."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import atan, exp, floor, gcd, lcm, log1p, pi, sin, sqrt
from operator import getitem
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.stats.intervals import LEAST, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.measure import Row

    #: Sums -> a figure, or None if they do not determine it.
    FigureOf = Callable[[Row], float | None]

#: The limit of exact counting: the square of the number of differences, times their sum. Counting takes 0.2 s
#: at this limit, for about 1,400 differences of one or two steps.
WORK: Final = 4_000_000_000
DRAWS: Final = 20_000
#: Up to this number of differences, all choices are counted one by one: no more than `DRAWS`.
FEW: Final = 14


def sign_flip(differences: Sequence[Fraction | int]) -> float:
    """Return the one-sided p of the paired randomization test (Fisher 1935; Edgington 1969) of a drop.

    It is the probability of a sum as low as this one, or lower, by chance. `differences` are after -
    before, one for each user: that of its only scenario, or the sum over its scenarios, which need not be
    independent of each other. Without a change, each could as well have the other sign. p is the share of all
    2^n choices of signs whose sum is not higher than the one seen; 1 if all differences are zero. For
    differences of one size, this is McNemar's exact test (1947).

    Counting all choices would take too long for thousands of nonzero differences, or for more than 14
    fractions with large denominators. p is then (hits + 1) / (draws + 1) for 20,000 random choices (Phipson
    and Smyth 2010), the same for the same differences in any order. Its standard error is 0.0015 near 0.05.

    >>> sign_flip([-1, -1, 0, -1, -1, 0, 1])
    0.1875
    """
    changed = [Fraction(difference) for difference in differences if difference]
    one = lcm(*(difference.denominator for difference in changed))
    whole = [difference.numerator * (one // difference.denominator) for difference in changed]
    common = gcd(*whole)
    units = sorted(unit // common for unit in whole)
    sizes, fallen = [abs(unit) for unit in units], -sum(unit for unit in units if unit < 0)
    count = len(sizes)
    if count <= FEW:
        return sum(total >= fallen for total in all_sums(sizes)) / (1 << count)
    if max(sizes) == 1:  # as many or more fell where as many or fewer rose: the sum of their binomials
        ways = accumulate(range(count - fallen), lambda ways, k: ways * (count - k) // (k + 1), initial=1)
        return sum(ways) / (1 << count)
    if count**2 * sum(sizes) <= WORK:
        return _counted_share(sizes, fallen)
    hits = sum(total >= fallen for total in random_sums(sizes, repr(units)))
    return (hits + 1) / (DRAWS + 1)


def _counted_share(sizes: Sequence[int], fallen: int) -> float:
    """Return the exact share of choices of `sizes`, whole numbers above 0, that sum to `fallen` or more.

    One long integer holds, every `width` bits, the number of choices for the next sum. Each size doubles the
    number of choices.
    """
    width = len(sizes) + 1
    ways = 1
    for size in sizes:
        ways += ways << (width * size)
    # The sum of the digits of a number in base b equals the number modulo b - 1, if the sum is smaller than b
    # - 1.
    return ((ways >> (width * fallen)) % ((1 << width) - 1)) / (1 << len(sizes))


def flip_interval(
    by_user: Sequence[Sequence[Fraction]], p: float, outside: float = 0.025
) -> tuple[float, float] | None:
    """Return the interval of the mean change, of which `sign_flip` rejects no value as the true one.

    `outside` is the share beyond each end: 0.025 for an interval of 95 %.

    `by_user` holds the improvements of each user's scenarios, and `p` is the one-sided p of their rise. The
    means over random choices of users are as often above the true change as below it (Hartigan 1969), so
    their middle is the interval. It begins above 0 exactly if p is at most `outside`. Return None for so few
    users that the test rejects nothing (fewer than six, at 0.025), and if all changes are equal.
    """
    users = len(by_user)
    if 2**-users > outside or len({change for of_user in by_user for change in of_user}) < 2:
        return None
    sums = [sum(of_user, Fraction()) for of_user in by_user]
    one = lcm(*(total.denominator for total in sums))
    above = 1 + sum(map(len, by_user))
    packed = sorted(
        int(total * one) * above + len(of_user) for total, of_user in zip(sums, by_user, strict=True)
    )
    split = (divmod(number, above) for number in random_sums(packed, repr(packed)))
    means = sorted(total / (one * count) for total, count in split if count)
    cut = int(outside * len(means))
    low, high = means[cut], means[-1 - cut]
    if p <= outside:  # exact, where the draws are not
        low = low if low > 0 else next(mean for mean in means if mean > 0)
    return (low if p <= outside else min(low, 0.0)), high


def holm(ps: Sequence[float]) -> list[float]:
    """Return each of `ps` as the step-down procedure of Holm (1979) corrects it.

    If each hypothesis is rejected whose corrected p is at most a level, the probability of any wrong
    rejection is at most that level.

    >>> holm([0.04, 0.02])
    [0.04, 0.04]
    """
    adjusted, least = [1.0] * len(ps), 0.0
    for left, i in zip(range(len(ps), 0, -1), sorted(range(len(ps)), key=lambda i: ps[i]), strict=True):
        least = max(least, min(1.0, left * ps[i]))
        adjusted[i] = least
    return adjusted


def all_sums(sizes: Sequence[int]) -> list[int]:
    """Return the sums of all choices of the sizes: 2^n of them."""
    sums = [0]
    for size in sizes:
        sums += [total + size for total in sums]
    return sums


def random_sums(sizes: Sequence[int], seed: str) -> Iterator[int]:
    """Yield the sums of 20,000 random choices of the sizes; each is chosen with a probability of one half."""
    chance = random.Random(seed)
    # A random byte gives eight choices.
    padded = [*sizes, *[0] * (-len(sizes) % 8)]
    tables = [all_sums(padded[start : start + 8]) for start in range(0, len(padded), 8)]
    for _ in range(DRAWS):
        yield sum(map(getitem, tables, chance.randbytes(len(tables))))


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
    runs, its change counts as noise: the result is then too large, and never too small.
    """
    size = float(step)
    squares = [float(sum(differences, Fraction()) / step) ** 2 for differences in by_user]
    noise = (sum(squares) + sqrt(sum(square * square for square in squares))) or 1
    scenarios = list(map(len, by_user))
    drop = smallest_drop(
        noise / len(squares), scenarios, level=level, margin=margin / size, power=power, most=most / size
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

    >>> [smallest_drop(0.1, [1] * users, level=0.025) for users in (30, 100, 1000)]
    [0.33, 0.14, 0.04]
    """
    # Of the level itself, since 1 minus a tiny level is 1.
    likely, beyond = NormalDist().inv_cdf(power), -NormalDist().inv_cdf(level)
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

    >>> round(least_change([[0]] * 30, 1, level=0.05), 3)
    -0.095
    """
    if len(by_user) < LEAST:
        return None
    users = Counter((float(sum(changes)), float(len(changes))) for changes in by_user)
    typical = sum(len(changes) ** 2 for changes in by_user) / sum(map(len, by_user))
    users += Counter([(-span * typical, typical)])
    low, high = -float(span), float(span)
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if _chance_below(users, middle) > level else (middle, high)
    return low


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
            return 0.5 - area * _STEP / pi
        area += sin(sum(n * atan(a * t) for a, n in scaled)) * exp(-divisor)
        place += _STEP


SAMPLES: Final = 2_000
#: The share of the samples beyond each end of an interval.
_OUTSIDE: Final = 0.025
#: Up to this number of users, the samples of a bootstrap are kept for the next figure: 4 MB for 1,000.
_KEPT: Final = 4_000
#: Floats that differ by less, as a share of their size, are ties.
_ROUNDING: Final = 1e-12


def bootstrap_of_sums(rows: Sequence[Row], figure: FigureOf, p: float | None = None) -> Interval | None:
    """Return the 95 % interval of a `figure` of the sums of all rows, by bootstrap (Efron 1979).

    `rows` holds the sums of each user's answers, 0 or more. The ends are percentiles over 2,000 samples of
    the users with replacement, with a fixed seed. With the one-sided `p` of a gain, they begin above 0
    exactly if p is at most 0.025, so that the two never contradict each other. Return None for fewer than
    three users or equal ones, if most samples do not determine the figure, and if all figures are equal.
    """
    if len(rows) < LEAST or len(set(rows)) == 1:
        return None
    figures = sorted(value for value in map(figure, _resampled(tuple(rows))) if value is not None)
    if len(figures) < SAMPLES / 2:
        return None
    outside = len(figures) // 40
    low, high = figures[outside], figures[-1 - outside]
    if p is not None and (p <= _OUTSIDE) != (low > 0):
        low = 0.0 if p > _OUTSIDE else next((value for value in figures if value > 0), low)
    return (low, high) if low < high else None


@lru_cache(maxsize=32)  # figures of the same sums share their samples
def _resampled(rows: tuple[Row, ...]) -> list[Row]:
    users, (pack, read) = len(rows), _packing(rows)
    value_of = list(map(pack, rows)).__getitem__
    samples = _samples(users) if users <= _KEPT else _drawn_users(users)
    return [read(sum(map(value_of, sample))) for sample in samples]


@lru_cache(maxsize=1)  # drawing takes longer than adding
def _samples(users: int) -> list[array[int]]:
    return list(_drawn_users(users))


def _drawn_users(users: int) -> Iterator[array[int]]:
    chance = random.Random(0)
    kind = "H" if users <= _KEPT else "L"
    return (array(kind, chance.choices(range(users), k=users)) for _ in range(SAMPLES))


@lru_cache(maxsize=64)  # a run shows one lift in several reports
def swap_of_sums(pairs: tuple[tuple[Row, Row], ...], figure: FigureOf, sign: int) -> float:
    """Return the one-sided p of the paired randomization test of the gain in a `figure` of sums.

    `pairs` holds the sums of each user's answers (before, after), sorted. `sign` is 1 if a high figure is
    good, else -1. If the two runs were alike, the two sides of each user could as well be swapped. p is the
    share of all ways to swap them whose gain is at least as large: of all ways for up to 14 users with
    different sides, else (hits + 1) / (draws + 1) for 20,000 random ways (Phipson and Smyth 2010).
    """
    pack, read = _packing([row for pair in pairs for row in pair])
    sides = [(pack(before), pack(after)) for before, after in pairs]
    seen, both = sum(after for _, after in sides), sum(map(sum, sides))
    changes = [before - after for before, after in sides if before != after]
    figure_at = lru_cache(maxsize=None)(lambda place: figure(read(place)))

    def gain(place: int) -> tuple[float, float]:
        """Return the gain, and how far rounding may have moved it."""
        now, before = figure_at(place), figure_at(both - place)
        if now is None or before is None:
            return float("-inf"), 0.0
        return sign * (now - before), _ROUNDING * (abs(now) + abs(before))

    few = len(changes) <= FEW
    seed = ",".join(f"{change:x}" for change in changes)  # a decimal text may be too long for Python
    ways = Counter(all_sums(changes) if few else random_sums(changes, seed))
    gained, within = gain(seen)
    hits = 0
    for change, number in ways.items():
        other, off = gain(seen + change)
        hits += number * (other >= gained - max(within, off))
    return hits / (1 << len(changes)) if few else (hits + 1) / (DRAWS + 1)


def _packing(rows: Sequence[Row]) -> tuple[Callable[[Row], int], Callable[[int], Row]]:
    """Return how a row is written as one whole number, and read back; sums of numbers are those of rows.

    Each column takes the bits of the largest sum of as many rows, in units of 1 / its common denominator.
    """
    columns = list(zip(*rows, strict=True))
    ones = [lcm(*(Fraction(value).denominator for value in column)) for column in columns]
    widths = [
        int(max(column) * one * len(rows)).bit_length() for column, one in zip(columns, ones, strict=True)
    ]
    places = [sum(widths[n + 1 :]) for n in range(len(widths))]

    def pack(row: Row) -> int:
        return sum(int(value * one) << place for value, one, place in zip(row, ones, places, strict=True))

    def read(packed: int) -> Row:
        parts = (packed >> place & (1 << width) - 1 for place, width in zip(places, widths, strict=True))
        return tuple(p if one == 1 else Fraction(p, one) for p, one in zip(parts, ones, strict=True))

    return pack, read
