"""Statistics of few scenarios: against SciPy, by their laws, and by simulation what a gate of them promises."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import exp, nan, sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np
import pytest
from scipy import stats as scipy_stats

from pytest_personalens.results.stats.intervals import (
    beta_quantile,
    beta_share,
    interval,
    mean_interval,
    pass_hat,
    rate_interval,
    spread,
    t_quantile,
)
from pytest_personalens.results.stats.paired import (
    detectable,
    flip_interval,
    holm,
    mcnemar,
    sign_flip,
    smallest_drop,
)
from tests.support.processes.commands import command

THIRDS = [Fraction(part, 3) for part in range(-9, 10)]


def scores(seed: int, count: int, *, trials: int = 1, sure: float = 0.4) -> list[Fraction]:
    """Scores on the scale 1..4, each a mean over trials."""
    chance = random.Random(seed)
    return [
        Fraction(sum(4 if chance.random() < sure else chance.randint(1, 4) for _ in range(trials)), trials)
        for _ in range(count)
    ]


def changes(
    seed: int, count: int, sizes: Sequence[Fraction | int] = (-2, -1, -1, 0, 0, 0, 1, 1)
) -> list[Fraction | int]:
    return random.Random(seed).choices(sizes, k=count)


# Intervals


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("total", [1, 2, 7, 30, 1000])
def test_the_interval_of_a_rate_is_scipys_exact_one(total: int, level: float) -> None:
    for successes in sorted({0, 1, total // 3, total - 1, total}):
        expected = scipy_stats.binomtest(successes, total).proportion_ci(level, method="exact")
        assert rate_interval(successes, total, level=level) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )


@pytest.mark.parametrize("freedom", [1, 2.05, 4, 31, 999.5, 100_001])
def test_students_t_is_scipys(freedom: float) -> None:
    for level in (0.5, 0.8, 0.95, 0.999):
        assert t_quantile(level, freedom) == pytest.approx(
            scipy_stats.t.ppf((1 + level) / 2, freedom), rel=1e-9
        )


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 400), (3, 28), (30, 1), (700.5, 301)])
def test_the_beta_distribution_is_scipys(a: float, b: float) -> None:
    for share in (0.001, 0.025, 0.5, 0.975):
        x = beta_quantile(share, a, b)
        assert x == pytest.approx(scipy_stats.beta.ppf(share, a, b), rel=1e-9)
        assert beta_share(x, a, b) == pytest.approx(share, rel=1e-9)
    assert (beta_share(0, a, b), beta_share(1, a, b)) == (0, 1)


def each(values: Sequence[Fraction | int]) -> list[list[Fraction | int]]:
    """One scenario a user."""
    return [[value] for value in values]


def mean_of(
    values: Sequence[Fraction | int], low: int = 1, high: int = 4, *, level: float = 0.95
) -> tuple[float, float]:
    found = mean_interval(each(values), low, high, level=level)
    assert found is not None
    return found


@pytest.mark.parametrize("count", [3, 5, 30, 1000])
@pytest.mark.parametrize("trials", [1, 3])
def test_the_interval_of_a_mean_is_scipys_t_with_a_score_at_each_end(count: int, trials: int) -> None:
    values = scores(count, count, trials=trials)
    more = [*map(float, values), 1.0, 4.0]
    expected = scipy_stats.ttest_1samp(more, 0).confidence_interval(0.95)
    assert mean_of(values) == pytest.approx((max(1, expected.low), min(4, expected.high)))


def test_a_rate_of_single_scenarios_has_the_exact_interval_and_no_other_mean() -> None:
    assert interval([[1]] * 20 + [[0]] * 10, 0, 1) == rate_interval(20, 30)
    pairs, shares = [[1, 1]] * 10 + [[0, 0]] * 5, [[0.5], *[[1.0]] * 20, *[[0.0]] * 9]
    assert interval(pairs, 0, 1) == mean_interval(pairs, 0, 1) != rate_interval(20, 30)
    assert interval(shares, 0, 1) == mean_interval(shares, 0, 1)


def test_equal_scores_are_not_certain() -> None:
    low, high = mean_of([4] * 30)
    assert high == 4
    assert 4 - low == pytest.approx(3 * 3 / 30, rel=0.06), "the rule of three"
    # If that share of other scenarios had the lowest score, all 30 would miss it about once in twenty.
    assert (1 - (4 - low) / 3) ** 30 == pytest.approx(0.05, abs=0.01)
    low, high = mean_of([2] * 30)
    assert 1 < low < 2 < high < 4
    assert mean_of([4] * 300)[0] > mean_of([4] * 30)[0]


@pytest.mark.parametrize("trials", [1, 3])
def test_an_interval_holds_the_mean_and_widens_with_its_level(trials: int) -> None:
    for seed in range(20):
        values = scores(seed, 3 + 4 * seed, trials=trials)
        shuffled = random.Random(seed).sample(values, k=len(values))
        narrow, wide = mean_of(values, level=0.8), mean_of(shuffled, level=0.99)
        assert 1 <= wide[0] <= narrow[0] <= fmean(values) <= narrow[1] <= wide[1] <= 4
        assert mean_of(shuffled, level=0.8) == narrow
        mirrored = mean_of([5 - v for v in values], level=0.8)
        assert mirrored == pytest.approx((5 - narrow[1], 5 - narrow[0]))


# Tests


@pytest.mark.parametrize(
    "sizes",
    [(-1, 0, 1), (-2, -1, 0, 1, 2), (-3, -1, 0, 0, 1, 2), THIRDS],
    ids=["unit", "two", "three", "thirds"],
)
@pytest.mark.parametrize("count", [1, 2, 5, 9, 12])
def test_sign_flip_is_scipys(sizes: Sequence[Fraction | int], count: int) -> None:
    for seed in range(3):
        differences = changes(seed, count, sizes)
        whole = np.array([int(3 * d) for d in differences])
        expected = (
            scipy_stats.permutation_test(
                (whole,),
                np.sum,
                permutation_type="samples",
                alternative="less",
                n_resamples=np.inf,
                vectorized=False,
            )
            if any(differences) and count > 1
            else None
        )
        found = sign_flip(differences)
        if expected is not None:
            assert found == pytest.approx(expected.pvalue)


def test_of_differences_of_one_size_it_is_mcnemars() -> None:
    for broken, mended in product(range(12), repeat=2):
        p = mcnemar(broken, mended)
        for size in (1, Fraction(1, 3), 2):
            assert sign_flip([-size] * broken + [0] * 3 + [size] * mended) == pytest.approx(p, abs=1e-15)
    assert sign_flip([-1] * 2600 + [1] * 2400) == pytest.approx(
        scipy_stats.binomtest(2600, 5000, alternative="greater").pvalue
    )


def test_sign_flip_asks_neither_for_the_order_nor_for_the_unit() -> None:
    for sizes in ((-2, -1, 0, 1, 2), THIRDS):
        differences = changes(1, 60, sizes)
        found = sign_flip(differences)
        for seed in range(5):
            assert sign_flip(random.Random(seed).sample(differences, k=60)) == found
        assert sign_flip([Fraction(d) / 7 for d in differences]) == found
        assert sign_flip([*differences, *[0] * 40]) == found


def test_a_lower_score_never_raises_p() -> None:
    for seed in range(30):
        differences = changes(seed, 15)
        steeper = list(differences)
        steeper[seed % 15] = min(differences[seed % 15], -differences[seed % 15])
        assert sign_flip(steeper) <= sign_flip(differences)
        up, down = sign_flip(differences), sign_flip([-d for d in differences])
        assert up + down >= 1, "both hold what was seen"


def test_too_many_sums_are_drawn_and_come_close() -> None:
    chance = random.Random(4)
    differences = [Fraction(round(chance.gauss(-0.04, 0.6) * 99991), 99991) for _ in range(400)]
    many = sign_flip(differences)
    assert many == sign_flip(differences[::-1])
    z = sum(differences) / Fraction(sqrt(sum(d * d for d in differences)))
    assert many == pytest.approx(NormalDist().cdf(float(z)), abs=0.02)
    # What is drawn is what is counted: the same differences, twice, once with an odd one that says next to
    # nothing.
    plain = changes(5, 1000, (-2, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 2))
    odd = [*(d * 10**6 for d in plain), 1]
    assert sign_flip(odd) == pytest.approx(sign_flip(plain), abs=0.02)
    assert 0 < sign_flip([d - 5 * 10**6 for d in odd]) < 0.001, "never 0, which no draw can show"


def test_holm_rejects_step_by_step() -> None:
    assert holm([], 0.05) == []
    assert holm([0.05], 0.05) == [True]
    assert holm([0.03, 0.03], 0.05) == [False, False]
    assert holm([0.03, 0.025], 0.05) == [True, True]
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [True, False, False, True]
    # The same as: every set of hypotheses that it is in is rejected by Bonferroni's rule (Marcus, Peritz and
    # Gabriel 1976).
    chance = random.Random(9)
    for _ in range(200):
        ps = [chance.random() ** 3 for _ in range(chance.randint(1, 5))]
        sets = [held for size in range(1, len(ps) + 1) for held in combinations(range(len(ps)), size)]
        kept = {i for held in sets if min(ps[i] for i in held) > 0.05 / len(held) for i in held}
        assert holm(ps, 0.05) == [i not in kept for i in range(len(ps))]


# Trials


def test_pass_hat_is_the_share_of_choices_that_all_pass() -> None:
    assert pass_hat([], 1) is None
    assert pass_hat([(2, 2)], 3) is None
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
    chance = random.Random(1)
    varied = [[level + chance.gauss(0, 0.7) for _ in range(3)] for level in range(500)]
    assert spread(varied) == pytest.approx(0.7, abs=0.05)


# Power


#: The size of a scenario's difference between two runs without a change -> its share of all scenarios.
Noise = dict[Fraction, float]


def power_of(
    drop: float, noise: Noise, scenarios: int, *, level: float, margin: float = 0.0, pairs: int = 3000
) -> float:
    """The same question answered the long way: scores drawn anew, and every pair tested exactly."""
    chance = random.Random(11)
    sizes, shares = [Fraction(0), *noise], [1 - sum(noise.values()), *noise.values()]
    found = 0
    for _ in range(pairs):
        noises = [chance.choice((-1, 1)) * size for size in chance.choices(sizes, shares, k=scenarios)]
        differences = [change - int(drop) - (chance.random() < drop % 1) for change in noises]
        found += -fmean(differences) > margin and sign_flip(differences) <= level
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
def test_the_smallest_drop_is_found_and_a_smaller_one_is_not(
    noise: Noise, scenarios: int, margin: float
) -> None:
    variance = float(sum(size**2 * Fraction(share) for size, share in noise.items()))
    drop = smallest_drop(variance, [1] * scenarios, level=0.025, margin=margin, most=3)
    assert drop is not None
    pairs = min(2000, 60_000 // scenarios)
    error = 2.6 * sqrt(0.16 / pairs)
    assert power_of(drop, noise, scenarios, level=0.025, margin=margin, pairs=pairs) > 0.78 - error
    assert power_of(drop - 0.05, noise, scenarios, level=0.025, margin=margin, pairs=pairs) < 0.8 + error


def test_more_scenarios_less_noise_a_higher_level_and_less_power_find_smaller_drops() -> None:
    def drop(
        noise: float = 0.4, scenarios: int = 50, level: float = 0.025, power: float = 0.8, margin: float = 0.0
    ) -> float:
        found = smallest_drop(noise**2, [1] * scenarios, level=level, power=power, margin=margin)
        assert found is not None
        return found

    assert drop(scenarios=20) > drop() > drop(scenarios=200)
    assert drop(noise=0.8) > drop() > drop(noise=0)
    assert drop(level=0.005) > drop() > drop(level=0.1)
    assert drop(power=0.95) > drop() > drop(power=0.5)
    assert drop(margin=0.3) > 0.3 > drop()


def test_what_cannot_be_found_is_none() -> None:
    assert detectable([[0]] * 3, level=0.05) is None, "three scenarios, all worse, are one in eight"
    assert detectable([[0]] * 30, level=0.025, most=0.1) is None
    assert detectable([[0]] * 30, level=0.025, most=0) is None
    assert detectable([[0]] * 30, level=0.025, margin=1.0) is None


# What a gate promises


class Assistant:
    """Every scenario has its own probability of task completion, and its own distribution of personalization."""

    def __init__(self, chance: random.Random, scenarios: int, trials: int) -> None:
        self.chance, self.trials = chance, trials
        self.tc = [1.0 if chance.random() < 0.55 else chance.betavariate(2, 1.5) for _ in range(scenarios)]
        centers = [min(4.0, max(1.0, chance.gauss(3.0, 0.8))) for _ in range(scenarios)]
        self.p = [
            [exp(-((score - center) ** 2) / (2 * 0.5**2)) for score in (1, 2, 3, 4)] for center in centers
        ]
        self.reducible = fmean(sum(weights[1:]) / sum(weights) for weights in self.p)

    def run(self, *, less_tc: float = 0.0, less_p: float = 0.0) -> tuple[list[Fraction], list[Fraction]]:
        """The scores of a run, of an assistant whose true means are lower by this much."""
        random, k = self.chance.random, self.trials
        keep, lose = 1 - less_tc / fmean(self.tc), less_p / self.reducible
        assert keep >= 0
        assert lose <= 1
        tc = [Fraction(sum(random() < rate * keep for _ in range(k)), k) for rate in self.tc]
        drawn = [self.chance.choices((1, 2, 3, 4), weights, k=k) for weights in self.p]
        return tc, [
            Fraction(sum(score - (score > 1 and random() < lose) for score in trials), k) for trials in drawn
        ]


Run = tuple[list[Fraction], list[Fraction]]


def differences_of(before: Run, after: Run) -> list[list[Fraction]]:
    return [
        [b - a for a, b in zip(one, other, strict=True)] for one, other in zip(before, after, strict=True)
    ]


def gate_fails(before: Run, after: Run) -> bool:
    return any(holm([sign_flip(differences) for differences in differences_of(before, after)], 0.05))


def rates(
    seed: int, scenarios: int, trials: int, *, assistants: int = 10, pairs: int = 100
) -> tuple[float, float, float]:
    """How often the gate fails without a change, with the drop of task completion that it said it would find,
    and with that of P.
    """
    chance = random.Random(seed)
    fails = [0, 0, 0]
    for _ in range(assistants):
        assistant = Assistant(chance, scenarios, trials)
        tc, p = differences_of(assistant.run(), assistant.run())
        less_tc, less_p = detectable(each(tc), level=0.025), detectable(each(p), level=0.025, most=3)
        assert less_tc is not None
        assert less_p is not None
        for _ in range(pairs):
            before = assistant.run()
            for i, after in enumerate(
                (assistant.run(), assistant.run(less_tc=less_tc), assistant.run(less_p=less_p))
            ):
                fails[i] += gate_fails(before, after)
    wrongly, tc_found, p_found = (count / (assistants * pairs) for count in fails)
    return wrongly, tc_found, p_found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenarios", "trials"),
    [(30, 1), (100, 1), (30, 3)],
    ids=["30 scenarios", "100 scenarios", "30 scenarios of 3 trials"],
)
def test_a_gate_keeps_its_promises(scenarios: int, trials: int) -> None:
    wrongly, tc_found, p_found = rates(1, scenarios, trials)
    assert wrongly <= scipy_stats.binom.ppf(0.99, 1000, 0.05) / 1000
    assert tc_found >= scipy_stats.binom.ppf(0.01, 1000, 0.8) / 1000
    assert p_found >= scipy_stats.binom.ppf(0.01, 1000, 0.8) / 1000


# The command, and values that are none


def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_personalens.cli.before_a_run.SCENARIOS", (3, 30, 100))
    assert command("sample-size")(["--tests", "2"]) == 0
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()
    ]
    assert lines[0] == [
        "scenarios",
        "TCR, 0% flip",
        "TCR, 10% flip",
        "TCR, 20% flip",
        "P, sd 0",
        "P, sd 0.5",
        "P, sd 0.8",
    ]
    assert set(lines[1]) == {"---:"}
    assert lines[2] == ["3", *"------"]
    assert [row[0] for row in lines[2:]] == ["3", "30", "100"]
    for cells in zip(*lines[3:], strict=True):
        assert float(cells[0]) > float(cells[1]) or cells == ("30", "100")
    for row in lines[3:]:
        assert [*map(float, row[1:4])] == sorted(map(float, row[1:4]))
        assert [*map(float, row[4:])] == sorted(map(float, row[4:]))


@pytest.mark.parametrize(
    "arguments", [["--level", "0"], ["--level", "5%"], ["--power", "1"], ["--tests", "0"], ["--tests", "two"]]
)
def test_options_that_cannot_be(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        command("sample-size")(arguments)
    assert exit_.value.code == 4
    assert f"argument {arguments[0]}: expected a" in capsys.readouterr().err


@pytest.mark.parametrize(
    "call",
    [
        lambda: rate_interval(4, 3),
        lambda: rate_interval(-1, 3),
        lambda: rate_interval(1, -1),
        lambda: rate_interval(nan, 3),
        lambda: rate_interval(1, 3, level=1),
        lambda: mean_of([0, 1, 1]),
        lambda: mean_of([5, 4, 4]),
        lambda: mean_interval([[2], [nan], [3]], 1, 4),
        lambda: mean_interval([[2], [], [3], [4]], 1, 4),
        lambda: mean_of([4, 4, 4], 4, 4),
        lambda: mean_of([2, 2, 2], level=0),
        lambda: mcnemar(-1, 2),
        lambda: mcnemar(2, -1),
        lambda: holm([0.1], 0),
        lambda: holm([1.1], 0.05),
        lambda: holm([nan], 0.05),
        lambda: pass_hat([(1, 2)], 0),
        lambda: pass_hat([(3, 2)], 1),
        lambda: pass_hat([(-1, 2)], 1),
        lambda: smallest_drop(-0.1, [1] * 30, level=0.05),
        lambda: detectable([], level=0.05),
        lambda: detectable([[1], []], level=0.05),
        lambda: detectable([[0]], level=0),
        lambda: detectable([[0]], level=0.05, power=1),
        lambda: smallest_drop(0, [], level=0.05),
    ],
)
def test_values_that_cannot_be(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^expected "):
        call()


@pytest.mark.parametrize(
    "by_user",
    [
        [[Fraction(1)]] * 29 + [[Fraction(2, 3)]],
        [[Fraction(1), Fraction(1)]] * 28 + [[Fraction(1), Fraction(0)]],
        [[Fraction(1)]] * 4 + [[Fraction(1, 3)]],
    ],
    ids=["trials", "users with several scenarios", "few"],
)
def test_the_interval_of_a_rate_with_a_failure_does_not_reach_one(by_user: list[list[Fraction]]) -> None:
    low, high = interval(by_user, 0, 1) or (None, None)
    rate = float(sum(map(sum, by_user)) / sum(map(len, by_user)))
    assert low is not None and high is not None
    assert low < rate < high < 1
    mirrored = interval([[1 - value for value in values] for values in by_user], 0, 1)
    assert mirrored == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("seed", range(40))
def test_the_interval_of_a_lift_never_contradicts_its_p(seed: int) -> None:
    chance = random.Random(seed)
    shift = chance.choice((0.0, 0.1, 0.3))
    users = [
        [Fraction(chance.choice((-1, 0, 0, 0, 1, 1 if chance.random() < shift else 0)))]
        for _ in range(chance.randrange(6, 40))
    ]
    p = sign_flip([-sum(user) for user in users])
    ends = flip_interval(users, p)
    if ends is None:
        assert len({user[0] for user in users}) == 1
        return
    mean = float(sum(user[0] for user in users)) / len(users)
    assert (ends[0] > 0) == (p <= 0.025)
    assert ends[0] <= mean <= ends[1]
    for level in (0.01, 0.05, 0.1):
        narrower = flip_interval(users, p, level)
        assert narrower is None or (narrower[0] > 0) == (p <= level)


def test_too_few_users_have_no_interval_of_a_lift() -> None:
    changes = [[Fraction(1)], [Fraction(0)], [Fraction(1)]]
    assert flip_interval(changes, sign_flip([-1, 0, -1])) is None
