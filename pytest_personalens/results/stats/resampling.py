"""Intervals and tests of figures that are no means, by resampling sums over the users."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm, prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from pytest_personalens.results.stats.intervals import LEAST, Interval
from pytest_personalens.results.stats.paired import DRAWS, FEW, WORK, Test, all_sums, random_sums, sign_flip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.judging.evaluation import Row

    #: Sums -> a figure, or None if they do not determine it.
    FigureOf = Callable[[Row], float | None]

#: The most sums whose figures are computed for an exact test: about 0.2 s.
_MOST_SUMS: Final = 60_000
#: Up to this number of users, the samples of a bootstrap are kept for the next figure: 4 MB for 1,000.
_KEPT: Final = 4_000
#: Floats that differ by less, as a share of their size, are ties.
_ROUNDING: Final = 1e-12


def bootstrap_of_sums(rows: Sequence[Row], figure: FigureOf, p: float | None = None) -> Interval | None:
    """Return the 95 % interval of a figure of sums of each user's answers, as `bootstrap_interval` does."""
    if len(rows) < LEAST or len(set(rows)) == 1:
        return None
    figures = map(figure, _resampled(tuple(rows)))
    return middle_95([value for value in figures if value is not None], p)


def swap_of_sums(pairs: Sequence[tuple[Row, Row]], figure: FigureOf, sign: int) -> Test:
    """Return the paired randomization test of the gain in a figure of sums, as `swap_test` does.

    `pairs` holds the sums of each user's answers (before, after). `sign` is 1 if a high figure is good, else
    -1.

    If the users differ in one sum only, as in that of the squared errors, this is `sign_flip` of its changes.
    Else the function counts the ways that lead to each possible pair of sums. For F1 that is a product of
    binomial distributions. If there are too many sums, p is (hits + 1) / (draws + 1) for 20,000 random ways
    (Phipson and Smyth 2010). It is the same for the same users in any order.
    """
    return _swapped(tuple(sorted(pairs)), figure, sign)


@lru_cache(maxsize=64)  # a run shows one lift in several reports
def _swapped(pairs: tuple[tuple[Row, Row], ...], figure: FigureOf, sign: int) -> Test:
    swaps = _Swaps.of(pairs)
    if not swaps.sides:
        return Test(1.0, exact=True)
    figure_at = lru_cache(maxsize=None)(lambda place: figure(swaps.row(place)))
    if sum(count > 1 for count in swaps.counts) == 1:
        least, most = figure_at(0), figure_at(swaps.places - 1)
        if least is not None and most is not None and least != most:
            rises = sign if least < most else -sign
            return sign_flip([rises * (before - after) for before, after in swaps.sides])

    def gain(place: int) -> tuple[float, float]:
        """Return the gain, and how far rounding may have moved it."""
        now, before = figure_at(place), figure_at(swaps.other(place))
        if now is None or before is None:
            return float("-inf"), 0.0
        return sign * (now - before), _ROUNDING * (abs(now) + abs(before))

    seen, seen_within = gain(sum(after for _, after in swaps.sides))
    hits = 0
    for place, ways in _ways(swaps):
        gained, within = gain(place)
        hits += ways * (gained >= seen - max(seen_within, within))
    if swaps.countable:
        return Test(hits / (1 << len(swaps.sides)), exact=True)
    return Test((hits + 1) / (DRAWS + 1), exact=False)


@lru_cache(maxsize=4)  # figures of the same sums share their counts
def _ways(swaps: _Swaps) -> list[tuple[int, int]]:
    """Return places with the number of ways to reach each: of all ways, or of those that are drawn."""
    if swaps.few or not swaps.countable:
        return list(Counter(swaps.reached()).items())
    return list(swaps.counted())


@lru_cache(maxsize=32)  # figures of the same sums share their samples
def _resampled(rows: tuple[Row, ...]) -> list[Row]:
    """Return the sums of the samples that `bootstrap_interval` draws."""
    users, grid = len(rows), _Grid.of(rows)
    value_of = [grid.packed(row) for row in rows].__getitem__
    samples = _samples(users) if users <= _KEPT else _drawn_users(users)
    return [grid.row(sum(map(value_of, sample))) for sample in samples]


@lru_cache(maxsize=1)  # drawing takes longer than adding
def _samples(users: int) -> list[array[int]]:
    return list(_drawn_users(users))


def _drawn_users(users: int) -> Iterator[array[int]]:
    chance = random.Random(0)
    return (
        array("H" if users <= _KEPT else "L", chance.choices(range(users), k=users)) for _ in range(SAMPLES)
    )


class _Grid(NamedTuple):
    """Rows as single whole numbers, whose sums are the sums of as many rows.

    Each column takes `widths` bits, in units of 1 / `ones`.
    """

    ones: tuple[int, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> _Grid:
        columns = list(zip(*rows, strict=True))
        if any(value < 0 for column in columns for value in column):
            raise ValueError("expected sums of 0 or more")
        ones = tuple(lcm(*(Fraction(value).denominator for value in column)) for column in columns)
        highest = (int(max(column) * one) for column, one in zip(columns, ones, strict=True))
        return cls(ones, tuple((most * len(rows)).bit_length() for most in highest))

    def packed(self, row: Row) -> int:
        number = 0
        for value, one, width in zip(row, self.ones, self.widths, strict=True):
            number = number << width | int(value * one)
        return number

    def row(self, packed: int) -> Row:
        values: list[int | Fraction] = []
        for one, width in zip(reversed(self.ones), reversed(self.widths), strict=True):
            part = packed & ((1 << width) - 1)
            values.append(part if one == 1 else Fraction(part, one))
            packed >>= width
        return tuple(reversed(values))


class _Swaps(NamedTuple):
    """All sums that swaps of users can lead to, each with a place: a whole number from 0 on.

    The place of a sum is the sum of one number for each user: that of the side that counts, in `sides`
    (before, after). Users with equal sides are left out. `least` are the lowest sums, `units` the steps of
    each column, and `counts` the number of steps in it, with 0.
    """

    sides: tuple[tuple[int, int], ...]
    least: Row
    units: Row
    counts: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Row, Row]]) -> _Swaps:
        lows = [tuple(map(min, before, after)) for before, after in pairs]
        changes = [tuple(abs(b - a) for b, a in zip(before, after, strict=True)) for before, after in pairs]
        columns = list(zip(*changes, strict=True))
        units = tuple(_common_unit(column) for column in columns)
        counts = tuple(int(sum(column) / unit) + 1 for column, unit in zip(columns, units, strict=True))

        def place(row: Row, low: Row) -> int:
            number = 0
            for value, least, unit, count in zip(row, low, units, counts, strict=True):
                number = number * count + int((value - least) / unit)
            return number

        sides = (
            (place(before, low), place(after, low)) for (before, after), low in zip(pairs, lows, strict=True)
        )
        least = tuple(sum(column) for column in zip(*lows, strict=True))
        return cls(tuple(sorted(pair for pair in sides if pair[0] != pair[1])), least, units, counts)

    @property
    def places(self) -> int:
        return prod(self.counts)

    @property
    def few(self) -> bool:
        """True if all ways can be tried one by one."""
        return len(self.sides) <= FEW

    @property
    def countable(self) -> bool:
        """True if counting all ways takes little time."""
        return self.few or (self.places <= _MOST_SUMS and self.places * len(self.sides) ** 2 <= WORK)

    def other(self, place: int) -> int:
        return self.places - 1 - place

    def row(self, place: int) -> Row:
        steps: list[int] = []
        for count in reversed(self.counts):
            place, step = divmod(place, count)
            steps.append(step)
        return tuple(
            least + step * unit
            for least, unit, step in zip(self.least, self.units, reversed(steps), strict=True)
        )

    def counted(self) -> Iterator[tuple[int, int]]:
        """Yield each place that can be reached, with the number of ways to reach it.

        One long integer holds the number of ways, a few bytes for each place. Each user adds the ways that
        lead to a place over either side.
        """
        size = len(self.sides) // 8 + 1
        ways = 1
        for before, after in self.sides:
            ways = (ways << (8 * size * before)) + (ways << (8 * size * after))
        digits = ways.to_bytes(size * self.places, "little")
        for place in range(self.places):
            if number := int.from_bytes(digits[size * place : size * (place + 1)], "little"):
                yield place, number

    def reached(self) -> Iterator[int]:
        """Yield the place of each way to swap few users, or of each random way to swap many."""
        start = sum(after for _, after in self.sides)
        changes = [before - after for before, after in self.sides]
        seed = ",".join(f"{change:x}" for change in changes)  # a decimal text may be too long for Python
        return (start + change for change in (all_sums(changes) if self.few else random_sums(changes, seed)))


def _common_unit(values: Sequence[int | Fraction]) -> int | Fraction:
    """Return the largest number of which all values are multiples; 1 if all are 0."""
    one = lcm(*(Fraction(value).denominator for value in values))
    unit = Fraction(gcd(*(int(value * one) for value in values)), one)
    return (unit if one > 1 else int(unit)) or 1


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
