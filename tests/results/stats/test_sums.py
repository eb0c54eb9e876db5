"""Figures of sums: the swap test equals all swaps counted one by one, and SciPy's; intervals those of resampled answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import sqrt
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pytest_personalens.core.judging.measure import Row, total
from pytest_personalens.results.stats.paired import bootstrap_of_sums, swap_of_sums

Pairs = Sequence[tuple[Row, Row]]
#: True and false positives of a user on two sides, how many are true, and how many there are: the same on both.
COUNTS = st.tuples(*(st.integers(0, 2),) * 4).map(lambda n: ((n[0], n[1], 2, 4), (n[2], n[3], 2, 4)))
ERRORS = st.tuples(st.fractions(0, 40, max_denominator=6), st.integers(0, 10**9)).map(
    lambda e: ((e[0], 1), (e[1], 1))
)


def f1(sums: Row) -> float | None:
    tp, fp, positive, _ = sums
    return float(2 * tp / (tp + fp + positive)) if positive else None


def root(sums: Row) -> float | None:
    return sqrt(sums[0] / sums[1])


def one_by_one(pairs: Pairs, figure: Callable[[Row], float | None], sign: int) -> float:
    """The share of all ways to swap users that gain as much, each way added up on its own."""

    def gain(swaps: Sequence[bool]) -> float:
        sides = [pair[::-1] if swap else pair for pair, swap in zip(pairs, swaps, strict=True)]
        before, after = (figure(total([side[n] for side in sides])) for n in (0, 1))
        assert before is not None and after is not None
        return sign * (after - before)

    least = gain([False] * len(pairs))
    least -= 1e-11 * (1 + abs(least))
    return fmean(gain(swaps) >= least for swaps in product((False, True), repeat=len(pairs)))


@settings(max_examples=30, deadline=None)
@given(
    st.one_of(
        *(
            st.tuples(st.just(figure), st.lists(rows, min_size=1, max_size=6))
            for figure, rows in ((f1, COUNTS), (root, ERRORS))
        )
    ),
    st.sampled_from([1, -1]),
)
def test_the_ways_are_counted_one_by_one(of: tuple[Callable[[Row], float | None], Pairs], sign: int) -> None:
    figure, pairs = of
    found = swap_of_sums(tuple(sorted(pairs)), figure, sign)
    assert found == pytest.approx(one_by_one(pairs, figure, sign), abs=1e-12)


def counts(seed: int, users: int) -> list[tuple[Row, Row]]:
    """Two predictors of two classes, the second somewhat better; one answer of each user."""
    chance = np.random.default_rng(seed)
    truths = chance.random(users) < 0.4
    before, after = (np.where(chance.random(users) < right, truths, ~truths) for right in (0.62, 0.7))

    def row(true: bool, said: bool) -> Row:
        return int(true and said), int(said and not true), int(true), 1

    return [(row(t, b), row(t, a)) for t, b, a in zip(truths, before, after, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_the_test_of_f1_is_scipys(seed: int) -> None:
    pairs = counts(seed, 200)
    before, after = (np.array([pair[side] for pair in pairs]) for side in (0, 1))

    def gain_of(*sides: np.ndarray) -> float:
        both = np.vstack([before, after])
        was, is_now = (f1(tuple(both[places.astype(int)].sum(axis=0))) for places in sides)
        assert was is not None and is_now is not None
        return is_now - was

    numbers = np.arange(200)
    expected = scipy_stats.permutation_test(
        (numbers, numbers + 200), gain_of, permutation_type="samples", alternative="greater",
        n_resamples=4_000, vectorized=False, rng=np.random.default_rng(seed),
    )  # fmt: skip
    found = swap_of_sums(tuple(sorted(pairs)), f1, 1)
    assert found == pytest.approx(expected.pvalue, abs=5 * sqrt(found * (1 - found) / 4_000) + 1e-3)


def test_sides_that_are_alike_gain_nothing() -> None:
    assert swap_of_sums((((1, 0, 1, 1), (1, 0, 1, 1)),) * 9, f1, 1) == 1.0
    assert swap_of_sums((((0, 1, 1, 2), (0, 0, 1, 2)),) * 9, f1, 1) == 1.0, "without a hit F1 is 0"


def test_the_interval_of_a_mean_is_scipys_bootstrap() -> None:
    rows = [(int(n % 7 < 4), 1) for n in range(40)]
    mean = lambda sums: float(sums[0] / sums[1])  # noqa: E731
    expected = scipy_stats.bootstrap(
        ([float(row[0]) for row in rows],), np.mean, n_resamples=2_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval  # fmt: skip
    assert bootstrap_of_sums(rows, mean) == pytest.approx((expected.low, expected.high), abs=0.03)
    assert bootstrap_of_sums(rows[:2], mean) is None
    assert bootstrap_of_sums([(1, 1)] * 30, root) is None
