"""Tests whether scores dropped between two runs of the same scenarios, assuming nothing but the pairs."""

from __future__ import annotations

import random
from fractions import Fraction
from math import gcd, lcm
from operator import getitem
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.stats.intervals import check_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The limit of exact counting: the square of the number of differences, times their sum. Counting takes 0.2 s
#: at this limit, for about 1,400 differences of one or two steps.
WORK: Final = 4_000_000_000
DRAWS: Final = 20_000
#: Up to this number of differences, all choices are counted one by one: no more than `DRAWS`.
FEW: Final = 14


class Test(NamedTuple):
    """The result of a test: the one-sided `p`, 0 to 1, and whether it is `exact`.

    A p that is not exact comes from random draws, with a standard error of 0.0015 near 0.05.
    """

    p: float
    exact: bool


def sign_flip(differences: Sequence[Fraction | int]) -> Test:
    """Return the paired randomization test (Fisher 1935; Edgington 1969) of a drop.

    Its p is the probability of a sum as low as this one, or lower, by chance. `differences` are after -
    before, one for each user: that of its only scenario, or the sum over its scenarios, which need not be
    independent of each other. Without a change, each could as well have the other sign. p is the share of all
    2^n choices of signs whose sum is not higher than the one seen; 1 if all differences are zero. For
    differences of one size, this is McNemar's exact test.

    Counting all choices would take too long for thousands of nonzero differences, or for more than 14
    fractions with large denominators. p is then (hits + 1) / (draws + 1) for 20,000 random choices (Phipson
    and Smyth 2010), the same for the same differences in any order.

    >>> sign_flip([-1, -1, 0, -1, -1, 0, 1])
    Test(p=0.1875, exact=True)
    """
    units = _units(differences)
    sizes, fallen = [abs(unit) for unit in units], -sum(unit for unit in units if unit < 0)
    if not units:
        return Test(1.0, exact=True)
    if max(sizes) == 1:
        return Test(mcnemar(fallen, len(units) - fallen), exact=True)
    if len(sizes) <= FEW and sum(sizes) > DRAWS:  # fewer choices than sums
        return Test(sum(total >= fallen for total in all_sums(sizes)) / (1 << len(sizes)), exact=True)
    if len(sizes) ** 2 * sum(sizes) <= WORK:
        return Test(flip_share(sizes, fallen), exact=True)
    return Test(_share_of_draws(units, sizes, fallen), exact=False)


def flip_interval(by_user: Sequence[Sequence[Fraction]], p: float) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean change, of which `sign_flip` rejects no value as the true one.

    `by_user` holds the improvements of each user's scenarios, and `p` is the one-sided p of their rise. The
    means over random choices of users are as often above the true change as below it (Hartigan 1969), so
    their middle 95 % is the interval. It begins above 0 exactly if p is at most 0.025. Return None for fewer
    than six users, whose test rejects nothing, and if all changes are equal.
    """
    users, outside = len(by_user), 0.025
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


def flip_share(sizes: Sequence[int], fallen: int) -> float:
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


def mcnemar(broken: int, mended: int) -> float:
    """Return the one-sided p of McNemar's exact test (1947); raise ValueError for a negative count.

    It is the probability that `broken` or more of all changed pairs break, if each breaks with a probability
    of one half; 1.0 if nothing changed.

    >>> mcnemar(6, 0)
    0.015625
    """
    if broken < 0 or mended < 0:
        raise ValueError(f"expected counts, found {broken} and {mended}")
    changed = broken + mended
    total, ways = 0, 1
    for k in range(mended + 1):  # `broken` or more pairs break exactly if `mended` or fewer are mended
        total += ways
        ways = ways * (changed - k) // (k + 1)
    return total / (1 << changed)


def holm(ps: Sequence[float], level: float) -> list[bool]:
    """Return which of several hypotheses the step-down procedure of Holm (1979) rejects, in their order.

    The probability of any wrong rejection is at most `level`. Raise ValueError for a level that is not
    between 0 and 1, and for a p outside 0 to 1.

    >>> holm([0.04, 0.02], 0.05)
    [True, True]
    """
    check_level(level)
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError(f"expected ps from 0 to 1, found {list(ps)}")
    rejected = [False] * len(ps)
    for left, i in zip(range(len(ps), 0, -1), sorted(range(len(ps)), key=lambda i: ps[i]), strict=True):
        if ps[i] > level / left:
            break
        rejected[i] = True
    return rejected


def _units(differences: Sequence[Fraction | int]) -> list[int]:
    """Return the nonzero differences in order, as multiples of their largest common divisor."""
    changed = [Fraction(difference) for difference in differences if difference]
    one = lcm(*(difference.denominator for difference in changed))
    whole = [difference.numerator * (one // difference.denominator) for difference in changed]
    common = gcd(*whole)
    return sorted(unit // common for unit in whole)


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


def _share_of_draws(units: Sequence[int], sizes: Sequence[int], fallen: int) -> float:
    hits = sum(total >= fallen for total in random_sums(sizes, repr(units)))
    return (hits + 1) / (DRAWS + 1)
