"""Statistics of few scenarios: against SciPy, by their laws, and by simulation what a gate of them promises."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pytest_personalens.results.comparison.pairs import pass_hat, spread
from pytest_personalens.results.stats.intervals import (
    beta_quantile,
    beta_share,
    interval,
    mean_interval,
    rate_interval,
    t_quantile,
)
from pytest_personalens.results.stats.paired import detectable, flip_interval, holm, sign_flip, smallest_drop
from tests.support.processes.commands import command, refusal

Numbers = Sequence[Fraction | int]
THIRDS = st.integers(-9, 9).map(lambda part: Fraction(part, 3))
CHANGES = st.one_of(st.lists(st.integers(-3, 3), max_size=40), st.lists(THIRDS, max_size=40))
#: Scores on the scale 1..4, each a mean over three trials.
SCORES = st.lists(st.integers(3, 12).map(lambda part: Fraction(part, 3)), min_size=3, max_size=60)
few = settings(max_examples=40, deadline=None)


def each(values: Numbers) -> list[list[Fraction | int]]:
    """One scenario a user."""
    return [[value] for value in values]


def mean_of(values: Numbers, *, level: float = 0.95) -> tuple[float, float]:
    return mean_interval(each(values), 1, 4, level=level) or (0, 0)


# Intervals


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("total", [1, 2, 7, 30, 1000])
def test_the_interval_of_a_rate_is_scipys_exact_one(total: int, level: float) -> None:
    for successes in sorted({0, 1, total // 3, total - 1, total}):
        expected = scipy_stats.binomtest(successes, total).proportion_ci(level, method="exact")
        found = rate_interval(successes, total, level=level)
        assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 400), (3, 28), (30, 1), (700.5, 301)])
def test_the_distributions_are_scipys(a: float, b: float) -> None:
    for share in (0.001, 0.025, 0.5, 0.975):
        x = beta_quantile(share, a, b)
        assert x == pytest.approx(scipy_stats.beta.ppf(share, a, b), rel=1e-9)
        assert beta_share(x, a, b) == pytest.approx(share, rel=1e-9)
        t = scipy_stats.t.ppf((1 + share) / 2, a + b)
        assert t_quantile(share, a + b) == pytest.approx(t, rel=1e-9)
    assert (beta_share(0, a, b), beta_share(1, a, b)) == (0, 1)


@few
@given(SCORES)
def test_the_interval_of_a_mean_is_scipys_t_with_a_score_at_each_end(scores: Numbers) -> None:
    expected = scipy_stats.ttest_1samp([*map(float, scores), 1.0, 4.0], 0).confidence_interval(0.95)
    assert mean_of(scores) == pytest.approx((max(1, expected.low), min(4, expected.high)))


@few
@given(SCORES, st.randoms(use_true_random=False))
def test_an_interval_holds_the_mean_and_can_widen(scores: list[Fraction], chance: random.Random) -> None:
    shuffled = chance.sample(scores, k=len(scores))
    narrow, wide = mean_of(scores, level=0.8), mean_of(shuffled, level=0.99)
    assert 1 <= wide[0] <= narrow[0] <= fmean(scores) <= narrow[1] <= wide[1] <= 4
    assert mean_of(shuffled, level=0.8) == narrow
    mirrored = mean_of([5 - score for score in scores], level=0.8)
    assert mirrored == pytest.approx((5 - narrow[1], 5 - narrow[0]))


def test_equal_scores_are_not_certain() -> None:
    low, high = mean_of([4] * 30)
    assert high == 4
    assert 4 - low == pytest.approx(3 * 3 / 30, rel=0.06), "the rule of three"
    # If that share of other scenarios had the lowest score, all 30 would miss it about once in twenty.
    assert (1 - (4 - low) / 3) ** 30 == pytest.approx(0.05, abs=0.01)
    assert mean_of([4] * 300)[0] > low


def test_a_rate_of_single_scenarios_has_the_exact_interval_and_no_other_mean() -> None:
    assert interval([[1]] * 20 + [[0]] * 10, 0, 1) == rate_interval(20, 30)
    for other in ([[1, 1]] * 10 + [[0, 0]] * 5, [[0.5], *[[1.0]] * 20, *[[0.0]] * 9]):
        assert interval(other, 0, 1) == mean_interval(other, 0, 1) != rate_interval(20, 30)


@pytest.mark.parametrize(
    "by_user",
    [
        [[Fraction(1)]] * 29 + [[Fraction(2, 3)]],  # a mean over trials
        [[Fraction(1), Fraction(1)]] * 28 + [[Fraction(1), Fraction(0)]],  # users with several scenarios
        [[Fraction(1)]] * 4 + [[Fraction(1, 3)]],
    ],
)
def test_the_interval_of_a_rate_with_a_failure_does_not_reach_one(by_user: list[list[Fraction]]) -> None:
    low, high = interval(by_user, 0, 1) or (0, 1)
    assert 0 < low < float(sum(map(sum, by_user)) / sum(map(len, by_user))) < high < 1
    mirrored = interval([[1 - value for value in values] for values in by_user], 0, 1)
    assert mirrored == pytest.approx((1 - high, 1 - low))


# Tests


@few
@given(st.lists(THIRDS, min_size=2, max_size=11).filter(any))
def test_sign_flip_is_scipys(differences: Numbers) -> None:
    thirds = np.array([int(3 * d) for d in differences])
    expected = scipy_stats.permutation_test(
        (thirds,), np.sum, permutation_type="samples", alternative="less", n_resamples=np.inf, vectorized=False
    )  # fmt: skip
    assert sign_flip(differences) == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(("broken", "mended"), [(0, 0), (3, 1), (9, 4), (40, 20), (0, 30), (2600, 2400)])
def test_of_differences_of_one_size_it_is_mcnemars(broken: int, mended: int) -> None:
    changed = broken + mended
    p = scipy_stats.binomtest(broken, changed, alternative="greater").pvalue if changed else 1
    for size in (1, Fraction(1, 3), 2):
        assert sign_flip([-size] * broken + [0] * 3 + [size] * mended) == pytest.approx(p)


@few
@given(CHANGES, st.randoms(use_true_random=False), st.integers(0, 39))
def test_the_laws_of_the_sign_flip(differences: list[Fraction], chance: random.Random, place: int) -> None:
    found = sign_flip(differences)
    assert sign_flip(chance.sample(differences, k=len(differences))) == found
    assert sign_flip([*(Fraction(d) / 7 for d in differences), *[0] * 40]) == found
    assert found + sign_flip([-d for d in differences]) >= 1, "both hold what was seen"
    lower = list(differences)
    lower[place : place + 1] = [-abs(d) for d in differences[place : place + 1]]
    assert sign_flip(lower) <= found


def test_too_many_sums_are_drawn_and_come_close() -> None:
    chance = random.Random(4)
    differences = [Fraction(round(chance.gauss(-0.04, 0.6) * 99991), 99991) for _ in range(400)]
    many = sign_flip(differences)
    assert many == sign_flip(differences[::-1])
    z = sum(differences) / Fraction(sqrt(sum(d * d for d in differences)))
    assert many == pytest.approx(NormalDist().cdf(float(z)), abs=0.02)
    # What is drawn is what is counted: the same differences, once with an odd one that says next to nothing.
    plain = random.Random(5).choices((-2, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 2), k=1000)
    odd = [*(d * 10**6 for d in plain), 1]
    assert sign_flip(odd) == pytest.approx(sign_flip(plain), abs=0.02)
    assert 0 < sign_flip([d - 5 * 10**6 for d in odd]) < 0.001, "never 0, which no draw can show"


@few
@given(st.lists(st.floats(0, 1).map(lambda p: p**3), max_size=5))
def test_holm_rejects_what_every_bonferroni_test_of_a_set_rejects(ps: list[float]) -> None:
    """The closed test of Marcus, Peritz and Gabriel (1976)."""
    sets = [held for size in range(1, len(ps) + 1) for held in combinations(range(len(ps)), size)]
    kept = {i for held in sets if len(held) * min(ps[i] for i in held) > 0.05 for i in held}
    assert [p <= 0.05 for p in holm(ps)] == [i not in kept for i in range(len(ps))]


@few
@given(st.integers(0, 10**6), st.integers(6, 40), st.sampled_from([0.0, 0.1, 0.3]))
@pytest.mark.slow
def test_the_interval_of_a_lift_never_contradicts_its_p(seed: int, count: int, shift: float) -> None:
    chance = random.Random(seed)
    rises = [chance.choice((-1, 0, 0, 0, 1, 1 if chance.random() < shift else 0)) for _ in range(count)]
    p, users = sign_flip([-rise for rise in rises]), [[Fraction(rise)] for rise in rises]
    assert flip_interval(users[:3], 0.125) is None, "too few"
    for outside in (0.01, 0.025, 0.05, 0.1):
        if (ends := flip_interval(users, p, outside)) is None:
            assert len({*rises}) == 1 or 2**-count > outside
            continue
        assert (ends[0] > 0) == (p <= outside)
        assert ends[0] <= fmean(rises) <= ends[1] or outside > 0.025


def test_holms_adjusted_p_is_what_statsmodels_computes() -> None:
    """By its multipletests(method="holm"), 0.15.0."""
    adjusted = holm([0.04, 0.001, 0.3, 0.02, 0.02, 1.0, 0.0005])
    assert adjusted == pytest.approx([0.12, 0.006, 0.6, 0.1, 0.1, 1.0, 0.0035])


def test_the_interval_of_a_lift_is_nearly_students() -> None:
    chance = random.Random(3)
    rises = [chance.choice((-2, -1, 0, 1, 2, 3)) for _ in range(80)]
    for outside in (0.005, 0.025, 0.1):
        ends = flip_interval(
            [[Fraction(rise)] for rise in rises], sign_flip([-rise for rise in rises]), outside
        )
        expected = scipy_stats.ttest_1samp(rises, 0).confidence_interval(1 - 2 * outside)
        assert ends == pytest.approx((expected.low, expected.high), abs=0.05)


# Trials


def test_pass_hat_is_the_share_of_choices_that_all_pass() -> None:
    assert pass_hat([], 1) is pass_hat([(2, 2)], 3) is None
    assert pass_hat([(1, 2), (3, 4), (0, 1)], 1) == pytest.approx((1 / 2 + 3 / 4 + 0) / 3)
    assert pass_hat([(1, 2), (3, 4), (0, 1)], 2) == pytest.approx((0 + 3 / 6) / 2)
    for passed, trials, k in [(3, 5, 2), (5, 5, 4), (2, 6, 3)]:
        choices = [all(choice) for choice in combinations([1] * passed + [0] * (trials - passed), k)]
        assert pass_hat([(passed, trials)], k) == pytest.approx(fmean(choices))


def test_spread_is_pooled_within_scenarios() -> None:
    assert spread([]) is spread([[3], [1], []]) is None
    assert spread([[1, 1, 1], [4, 4], [2]]) == 0, "between scenarios is not within"
    assert spread([[1, 2, 4]]) == pytest.approx(stdev([1, 2, 4]))
    assert spread([[3, 4], [2, 2]]) == pytest.approx(0.5)


# Power


#: The size of a scenario's difference between two runs without a change -> its share of all scenarios.
Noise = dict[Fraction, float]


def power_of(drop: float, noise: Noise, scenarios: int, *, margin: float, pairs: int) -> float:
    """The same question answered the long way: scores drawn anew, and every pair tested exactly."""
    chance, found = random.Random(11), 0
    sizes, shares = [Fraction(0), *noise], [1 - sum(noise.values()), *noise.values()]
    for _ in range(pairs):
        noises = [chance.choice((-1, 1)) * size for size in chance.choices(sizes, shares, k=scenarios)]
        differences = [change - int(drop) - (chance.random() < drop % 1) for change in noises]
        found += -fmean(differences) > margin and sign_flip(differences) <= 0.025
    return found / pairs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "scenarios", "margin"),
    [
        ({}, 30, 0.0),
        ({Fraction(1): 0.1}, 20, 0.0),
        ({Fraction(1): 0.2}, 60, 0.1),
        ({Fraction(1): 0.64}, 20, 0.0),
        ({Fraction(1, 3): 0.3, Fraction(2, 3): 0.15, Fraction(2): 0.05}, 30, 0.0),
        ({Fraction(1): 0.3, Fraction(2): 0.05}, 150, 0.0),
    ],
)
def test_the_smallest_drop_is_found_and_no_smaller_one(noise: Noise, scenarios: int, margin: float) -> None:
    variance = float(sum(size**2 * Fraction(share) for size, share in noise.items()))
    drop = smallest_drop(variance, [1] * scenarios, level=0.025, margin=margin, most=3)
    assert drop is not None
    pairs = min(2000, 60_000 // scenarios)
    error = 2.6 * sqrt(0.16 / pairs)
    assert power_of(drop, noise, scenarios, margin=margin, pairs=pairs) > 0.78 - error
    assert power_of(drop - 0.05, noise, scenarios, margin=margin, pairs=pairs) < 0.8 + error


def test_more_scenarios_less_noise_a_higher_level_and_less_power_find_smaller_drops() -> None:
    def drop(noise: float = 0.4, scenarios: int = 50, level: float = 0.025, **how: float) -> float:
        found = smallest_drop(noise**2, [1] * scenarios, level=level, **how)
        assert found is not None
        return found

    assert drop(scenarios=20) > drop() > drop(scenarios=200)
    assert drop(noise=0.8) > drop() > drop(noise=0)
    assert drop(level=0.005) > drop() > drop(level=0.1)
    assert drop(power=0.95) > drop() > drop(power=0.5)
    assert drop(margin=0.3) > 0.3 > drop()


def test_what_cannot_be_found_is_none() -> None:
    assert detectable([[0]] * 3, level=0.05) is None, "three scenarios, all worse, are one in eight"
    for how in ({"most": 0.1}, {"most": 0}, {"margin": 1.0}):
        assert detectable([[0]] * 30, level=0.025, **how) is None
    assert detectable([[0]] * 30, level=1e-300) is None, "a level that 1 minus it does not show"


# The command


def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_personalens.cli.before_a_run.SCENARIOS", (3, 30, 100))
    assert command("sample-size")(["--tests", "2"]) == 0
    head, rule, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()
    )
    of_rate, of_score = (f"TCR, {flips} flip" for flips in ("0%", "10%", "20%")), ("0", "0.5", "0.8")
    assert head == ["scenarios", *of_rate, *(f"P, sd {noise}" for noise in of_score)]
    assert set(rule) == {"---:"}
    assert rows[0] == ["3", *"------"]
    few, many = ([float(cell) for cell in row] for row in rows[1:])
    assert (few[0], many[0]) == (30, 100)
    assert all(of_few > of_many for of_few, of_many in zip(few[1:], many[1:], strict=True))
    for row in (few, many):  # more noise hides more
        assert [row[1:4], row[4:]] == [sorted(row[1:4]), sorted(row[4:])]


@pytest.mark.parametrize(
    "arguments", [["--level", "0"], ["--level", "5%"], ["--power", "1"], ["--tests", "0"], ["--tests", "two"]]
)
def test_options_that_cannot_be(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert f"argument {arguments[0]}: expected a" in refusal(capsys, "sample-size", *arguments)
