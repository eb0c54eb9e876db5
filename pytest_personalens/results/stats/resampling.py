"""Intervals and tests of figures that are no means, by resampling sums over the users."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.stats.intervals import LEAST, Interval
from pytest_personalens.results.stats.paired import DRAWS, FEW, all_sums, random_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.judging.measure import Row

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
