"""Intervals and tests of figures that are no means, by resampling sums over the users."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.stats.intervals import LEAST, Interval
from pytest_personalens.results.stats.paired import DRAWS, FEW, all_sums, random_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.judging.metric import Row

    #: Sums -> a figure, or None if they do not determine it.
    FigureOf = Callable[[Row], float | None]

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
    Raise ValueError for a sum below 0.
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


def swap_of_sums(pairs: Sequence[tuple[Row, Row]], figure: FigureOf, sign: int) -> float:
    """Return the one-sided p of the paired randomization test of the gain in a `figure` of sums.

    `pairs` holds the sums of each user's answers (before, after). `sign` is 1 if a high figure is good, else
    -1. If the two runs were alike, the two sides of each user could as well be swapped. p is the share of all
    ways to swap them whose gain is at least as large: of all ways for up to 14 users with different sides,
    else (hits + 1) / (draws + 1) for 20,000 random ways (Phipson and Smyth 2010). It is the same for the same
    users in any order.
    """
    return _swapped(tuple(sorted(pairs)), figure, sign)


@lru_cache(maxsize=64)  # a run shows one lift in several reports
def _swapped(pairs: tuple[tuple[Row, Row], ...], figure: FigureOf, sign: int) -> float:
    grid = _Grid.of([row for pair in pairs for row in pair])
    sides = [(grid.packed(before), grid.packed(after)) for before, after in pairs]
    seen, both = sum(after for _, after in sides), sum(map(sum, sides))
    changes = [before - after for before, after in sides if before != after]
    if not changes:
        return 1.0
    figure_at = lru_cache(maxsize=None)(lambda place: figure(grid.row(place)))

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
    if few:
        return hits / (1 << len(changes))
    return (hits + 1) / (DRAWS + 1)


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
