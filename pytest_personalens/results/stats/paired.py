"""Whether scores dropped between two runs over the same scenarios: tests that take nothing for granted but
the pairs.
"""

from __future__ import annotations

import random
from fractions import Fraction
from math import gcd, lcm
from operator import getitem
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.stats.intervals import check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The square of the number of differences, times their sum, up to which all signs are counted: 0.2 s, for
#: some 1,400 of a step or two.
_WORK: Final = 4_000_000_000
_DRAWS: Final = 20_000


class Test(NamedTuple):
    """What a test found: the one-sided `p`, 0..1, and whether it is exact or drawn, with a standard error of
    0.0015 near 0.05.
    """

    p: float
    exact: bool


def sign_flip(differences: Sequence[Fraction | int]) -> Test:
    """The paired randomization test (Fisher 1935; Edgington 1969) of a drop: how likely a sum as low as this,
    or lower, is by chance.

    `differences` are after - before, one a user: of its one scenario, or the sum over its scenarios, which
    need not be independent of each other. Had nothing changed, each could as well have had the other sign: p
    is the share of all 2^n ways to give them signs whose sum is no higher than the one seen. Zeros say
    nothing, and without another difference p is 1. For differences of one size this is McNemar's exact test.

    All ways are counted; where that takes too long, for thousands of differences (but zeros) or for odd
    fractions, p is (hits + 1) / (draws + 1) of 20,000 random signs (Phipson and Smyth 2010), the same for the
    same differences in any order.

    >>> sign_flip([-1, -1, 0, -1, -1, 0, 1])
    Test(p=0.1875, exact=True)
    """
    units = _units(differences)
    sizes, fallen = [abs(unit) for unit in units], -sum(unit for unit in units if unit < 0)
    if not units:
        return Test(1.0, exact=True)
    if max(sizes) == 1:
        return Test(mcnemar(fallen, len(units) - fallen), exact=True)
    if len(sizes) ** 2 * sum(sizes) <= _WORK:
        return Test(flipped(sizes, fallen), exact=True)
    return Test(_drawn(units, sizes, fallen), exact=False)


def flipped(sizes: Sequence[int], fallen: int) -> float:
    """The exact share of the ways to let each of `sizes` (whole, above 0) fall or not in which those that
    fall sum to `fallen` or more.

    One long number holds, every `width` bits, in how many ways the next sum comes about; each size doubles
    the ways.
    """
    width = len(sizes) + 1
    ways = 1
    for size in sizes:
        ways += ways << (width * size)
    # The digits of a number to the base b sum to the number modulo b - 1, as long as the sum is smaller than
    # that.
    return ((ways >> (width * fallen)) % ((1 << width) - 1)) / (1 << len(sizes))


def mcnemar(broken: int, mended: int) -> float:
    """The one-sided p of McNemar's test (1947), exact: that of `broken` or more of all changed pairs if each
    broke by the toss of a coin.

    1.0 where nothing changed. Raises ValueError for a negative count.

    >>> mcnemar(6, 0)
    0.015625
    """
    if broken < 0 or mended < 0:
        raise ValueError(f"expected counts, found {broken} and {mended}")
    changed = broken + mended
    total, ways = 0, 1
    for k in range(mended + 1):  # `broken` heads or more are `mended` tails or fewer
        total += ways
        ways = ways * (changed - k) // (k + 1)
    return total / (1 << changed)


def holm(ps: Sequence[float], level: float) -> list[bool]:
    """Which of several hypotheses are rejected, in the order given, so that any of them is rejected wrongly
    at `level` at most.

    The step-down procedure of Holm (1979). Raises ValueError for a level not between 0 and 1 and for a p not
    in 0..1.

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
    """The differences but the zeros, in order, as multiples of the largest number that divides them all."""
    changed = [Fraction(difference) for difference in differences if difference]
    one = lcm(*(difference.denominator for difference in changed))
    whole = [difference.numerator * (one // difference.denominator) for difference in changed]
    common = gcd(*whole)
    return sorted(unit // common for unit in whole)


def _drawn(units: Sequence[int], sizes: Sequence[int], fallen: int) -> float:
    chance = random.Random(repr(units))
    # A random byte gives eight signs; what falls with each byte is looked up.
    tables = []
    for start in range(0, len(sizes), 8):
        sums = [0]
        for size in [*sizes[start : start + 8], *[0] * (start + 8 - len(sizes))]:
            sums += [total + size for total in sums]
        tables.append(sums)
    hits = sum(sum(map(getitem, tables, chance.randbytes(len(tables)))) >= fallen for _ in range(_DRAWS))
    return (hits + 1) / (_DRAWS + 1)
