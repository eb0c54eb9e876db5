"""The gate against a baseline, lifts and intervals count users, and keep what they promise, whatever the sample."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.stats.intervals import NATURALNESS, PERSONALIZATION, coverage, ours, rate_coverage
from benchmarks.stats.users import ASSISTANTS, SAMPLES, Scores, alarms, changes, held
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.options.gate import read_gate
from pytest_personalens.core.suite import get_suite
from pytest_personalens.results.comparison.baseline import baseline_of
from pytest_personalens.results.comparison.compare import compare_with_baseline
from pytest_personalens.results.comparison.pairs import lift
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.means import estimate
from pytest_personalens.results.stats.intervals import mean_interval, rate_interval
from pytest_personalens.results.stats.paired import detectable, flip_interval, holm, sign_flip
from pytest_personalens.results.values.figures import Comparison
from pytest_personalens.results.values.results import Results
from tests.support.results.scored_items import items, run

P = Dimension.PERSONALIZATION
SUITE = get_suite("personalens")


def run_of(p: Scores, tc: Scores | None = None, *, control: str = "") -> Results:
    """A run in which each user has scenarios with these scores; without others, all tasks are completed."""
    flat = [(f"u{number}", score) for number, user in enumerate(p) for score in user]
    done = [score for user in tc or [[1] * len(flat)] for score in user]
    told = [{"user": user} for user, _ in flat]
    return run(
        items(len(flat), done.__getitem__, lambda n: flat[n][1], told=told.__getitem__, control=control)
    )


def compared(before: Results, after: Results) -> Comparison:
    return compare_with_baseline(baseline_of(before), after, name="base.json", level=0.05, margins={})


def summed(by_user: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    return [sum(user, Fraction()) for user in by_user]


@pytest.mark.parametrize("shape", [(1,) * 30, (3, 5, 2, 4, 6, 1, 7, 4)], ids=["one each", "several each"])
def test_figures_are_over_users(shape: tuple[int, ...]) -> None:
    chance, assistant, several = random.Random(2), ASSISTANTS[0], max(shape) > 1
    levels = assistant.users(chance, shape)
    before, after = assistant.run(chance, levels), assistant.run(chance, levels)
    by_user, now = changes(before, after), run_of(after)
    found = next(d for d in compared(run_of(before), now).differences if d.dimension is P)
    assert found.p == pytest.approx(sign_flip(summed(by_user)), abs=1e-6)
    outside = (1 - found.confidence) / 2
    ends = flip_interval([[-change for change in user] for user in by_user], found.p, outside)
    assert ends is not None
    assert (found.low, found.high) == pytest.approx((-ends[1], -ends[0]), abs=1e-6)
    # At half the level: what Holm's procedure asks of the smaller p of two.
    assert found.detectable == detectable(by_user, level=0.025, most=found.before - 1)
    moves = [change for user in by_user for change in user]
    assert (found.better, found.worse) == (sum(m > 0 for m in moves), sum(m < 0 for m in moves))
    users, scenarios = len(shape), sum(shape)
    assert (found.users, found.pairs) == (users, scenarios)
    read = estimate(now.own, P)
    assert (read.low, read.high) == mean_interval(after, 1, 4)
    assert (read.users, read.scenarios, read.dialogues) == (users, scenarios, scenarios)
    gates = check_gates(now, [read_gate(text, SUITE) for text in ("tcr >= 0.5", "p >= 1")])
    everybody = mean_interval([[1] * len(user) for user in after], 0, 1) if several else rate_interval(30, 30)
    for gate, expected in zip(gates, (everybody, (read.low, read.high)), strict=False):
        assert gate.message.endswith(f"over {scenarios} scenarios" + f" of {users} users" * several)
        assert (gate.low, gate.high) == pytest.approx(expected, abs=1e-6)
    assert gates[0].low is not None
    assert not several or gates[0].low < rate_interval(scenarios, scenarios)[0], "wider than if independent"


def test_a_drop_is_significant_where_holm_rejects_and_its_interval_excludes_no_change() -> None:
    decided = []
    for seed in range(30):
        chance, assistant = random.Random(seed), ASSISTANTS[seed % 3]
        levels = assistant.users(chance, [chance.choice((1, 1, 3)) for _ in range(chance.randrange(12, 40))])
        fall = chance.choice((0, 0.1, 0.25, 0.4, 0.6))
        before, after = assistant.run(chance, levels), assistant.run(chance, levels, lower=fall)
        done, failed = ([[int(chance.random() > x) for _ in user] for user in levels] for x in (0, fall / 3))
        ps = [sign_flip(summed(changes(*sides))) for sides in ((done, failed), (before, after))]
        comparison = compared(run_of(before, done), now := run_of(after, failed))
        assert [d.regressed for d in comparison.differences] == [p <= 0.05 for p in holm(ps)]
        for d in comparison.differences:
            assert d.high is None or d.regressed == (d.high < 0), d
            assert d.high is None or d.confidence >= 0.9
        gates = check_gates(now.model_copy(update={"comparison": comparison}), [])
        decided.append(all(gate.passed for gate in gates))
        assert decided[-1] == (not any(d.regressed for d in comparison.differences))
    assert 5 <= sum(decided) <= 25


def test_a_lift_is_over_users() -> None:
    without, own = [[1, 2], [1, 1], [2, 2], [1, 1], [2, 1]], [[3, 3], [2, 3], [4, 3], [2, 1], [3, 4]]
    found = lift(run_of(without, control="none").items, run_of(own).items, P)
    assert found is not None
    assert (found.users, found.pairs) == (5, 10)
    assert found.p == pytest.approx(1 / 2**5, abs=1e-6), "all five users rose"


def test_a_drop_spread_over_the_scenarios_of_more_users_is_found_sooner() -> None:
    few, more = (
        detectable([[(0, 0, 0, 1, -1)[number % 5]] * each for number in range(users)], level=0.025)
        for users, each in ((20, 12), (60, 4))
    )
    assert few is not None
    assert more is not None
    assert few > more


# What is promised holds.


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["20 users, 3 each", "10 users, 10 each"])
def test_intervals_hold_for_users_with_several_scenarios(sample: str) -> None:
    by_user, independent, _ = held(ASSISTANTS[0], SAMPLES[sample], runs=400)
    assert by_user >= 0.93
    assert independent < 0.9, "which is why users are counted"


@pytest.mark.parametrize("sample", ["20 users, 3 each", "10 users, 10 each"])
def test_no_more_false_alarms_than_promised(sample: str) -> None:
    by_user, independent = alarms(ASSISTANTS[1], SAMPLES[sample], pairs=400)
    most = pytest.importorskip("scipy.stats").binom.ppf(0.99, 400, 0.05) / 400
    assert by_user <= most
    assert independent > by_user
    if sample.startswith("10"):
        assert independent > most, "which is why users are counted"


@pytest.mark.parametrize(
    ("scenarios", "spreads", "highest"),
    [
        *((number, PERSONALIZATION, 4) for number in (3, 4, 5, 7, 10, 15, 20, 30)),
        *((number, NATURALNESS, 5) for number in (3, 4, 5, 7, 10, 15)),
    ],
)
def test_intervals_hold_for_few(scenarios: int, spreads: dict[str, tuple[float, ...]], highest: int) -> None:
    """Exact, not simulated: every sample counts with its probability."""
    found = coverage(ours, spreads.values(), scenarios, np.arange(1.0, highest + 1))
    assert min(share for share, _ in found) >= 0.93


@pytest.mark.parametrize("scenarios", [3, 5, 10, 30, 100])
def test_intervals_of_rates_hold(scenarios: int) -> None:
    assert min(rate_coverage(rate_interval, scenarios)) >= 0.95
