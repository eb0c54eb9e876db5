"""Scenarios of one user are not independent: intervals, gates and the paired test count users."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

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
from pytest_personalens.results.stats.paired import detectable, flip_interval, sign_flip
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.item import Item
from pytest_personalens.results.values.results import Results
from tests.results.comparison.test_compare import SETTINGS, results_of

P = Dimension.PERSONALIZATION

SUITE = get_suite("personalens")


def run_of(scores: Scores, *, control: str = "") -> Results:
    """A run in which each user has scenarios with these scores for personalization, and completes all tasks."""
    flat = [score for user in scores for score in user]
    plain = results_of([[1]] * len(flat), [[score] for score in flat])
    by_number = {int(item.evaluation.user.removeprefix("user")): item for item in plain.items}
    items: list[Item] = []
    for user, tasks in enumerate(scores):
        for task in range(len(tasks)):
            item = by_number[len(items)]
            told = {"user": f"u{user}", "task": f"t{task}", "scenario": f"t{task}-u{user}"}
            changed: dict[str, Any] = {
                "evaluation": item.evaluation.model_copy(update=told),
                "control": control,
                "nodeid": item.nodeid + control,
            }
            items.append(item.model_copy(update=changed))
    return summarize(items, settings=SETTINGS, dataset="d 1", requested=len(items), drawn=len(items))


def moved(before: Scores, after: Scores) -> Any:
    comparison = compare_with_baseline(
        baseline_of(run_of(before)), run_of(after), name="base.json", level=0.05, margins={}
    )
    return next(d for d in comparison.differences if d.dimension is P)


def scores_of(seed: int, scenarios: Sequence[int]) -> tuple[Scores, Scores]:
    chance = random.Random(seed)
    users = ASSISTANTS[0].users(chance, scenarios)
    return ASSISTANTS[0].run(chance, users), ASSISTANTS[0].run(chance, users)


# With one scenario a user all is as if nobody counted users.


def test_one_scenario_a_user_is_what_it_was() -> None:
    before, after = scores_of(1, (1,) * 30)
    found, flat = moved(before, after), [d for user in changes(before, after) for d in user]
    assert found.p == pytest.approx(sign_flip(flat), abs=1e-6)
    assert found.detectable == detectable([[d] for d in flat], level=0.025, most=found.before - 1)
    assert (found.pairs, found.users) == (30, 30)
    gate = check_gates(run_of(after), [read_gate("p >= 1", SUITE)])[0]
    assert gate.message.endswith(">= 1.00 over 30 scenarios")


# With several, by user.


def test_figures_are_over_users() -> None:
    before, after = scores_of(2, (3, 5, 2, 4, 6, 1, 7, 4))
    found, by_user = moved(before, after), changes(before, after)
    assert found.p == pytest.approx(sign_flip([sum(user, Fraction()) for user in by_user]), abs=1e-6)
    ends = flip_interval(
        [[-change for change in user] for user in by_user], found.p, (1 - found.confidence) / 2
    )
    assert ends is not None
    assert (found.low, found.high) == pytest.approx((-ends[1], -ends[0]), abs=1e-6)
    assert found.detectable == detectable(by_user, level=0.025, most=found.before - 1)
    moves = [change for user in by_user for change in user]
    assert (found.better, found.worse) == (sum(m > 0 for m in moves), sum(m < 0 for m in moves))
    read = estimate(run_of(after).own, P)
    assert (read.low, read.high) == mean_interval(after, 1, 4)
    assert (read.users, read.scenarios, read.dialogues) == (8, 32, 32)
    gates = check_gates(
        run_of(after),
        [read_gate("p >= 1", SUITE), read_gate("tcr >= 0.5", SUITE), read_gate("pass^1 >= 0.5", SUITE)],
    )
    assert all("over 32 scenarios of 8 users" in gate.message for gate in gates[:3])
    assert (gates[0].low, gates[0].high) == pytest.approx((read.low, read.high), abs=1e-6)
    everybody = mean_interval([[1] * len(user) for user in after], 0, 1)
    for gate in gates[1:3]:
        assert (gate.low, gate.high) == pytest.approx(everybody, abs=1e-6)
        assert gate.low is not None
        assert gate.low < rate_interval(32, 32)[0], "wider than if the scenarios were independent"


def test_a_lift_is_over_users() -> None:
    without, own = [[1, 2], [1, 1], [2, 2], [1, 1], [2, 1]], [[3, 3], [2, 3], [4, 3], [2, 1], [3, 4]]
    found = lift(run_of(without, control="none").items, run_of(own).items, P)
    assert found is not None
    assert (found.users, found.pairs) == (5, 10)
    assert found.p == pytest.approx(1 / 2**5, abs=1e-6), "all five users rose"


def test_two_users_are_too_few_whatever_they_are_asked() -> None:
    before, after = [[4] * 40] * 2, [[1] * 40] * 2
    found = moved(before, after)
    assert (found.low, found.high, found.p, found.decidable) == (None, None, 0.25, False)
    now = run_of(after)
    comparison = compare_with_baseline(
        baseline_of(run_of(before)), now, name="base.json", level=0.05, margins={}
    )
    gates = check_gates(now.model_copy(update={"comparison": comparison}), [read_gate("p >= 1", SUITE)])
    assert "1.00 (too few for an interval) >= 1.00 over 80 scenarios of 2 users" in gates[0].message
    gate = next(gate for gate in gates if gate.name == "regression: p")
    assert not gate.passed
    assert (
        "(-3.00, too few for an interval, one-sided p = 0.250) over 80 scenarios of 2 users: these users are too few"
        in gate.message
    )


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


@pytest.mark.parametrize("scenarios", [3, 4, 5, 7, 10, 15])
@pytest.mark.parametrize(
    ("spreads", "highest"), [(PERSONALIZATION, 4), (NATURALNESS, 5)], ids=["1 to 4", "1 to 5"]
)
def test_intervals_hold_for_few_scenarios(
    scenarios: int, spreads: dict[str, tuple[float, ...]], highest: int
) -> None:
    """Exact, not simulated: every sample counts with its probability."""
    found = coverage(ours, spreads.values(), scenarios, np.arange(1.0, highest + 1))
    assert min(share for share, _ in found) >= 0.93


@pytest.mark.parametrize("scenarios", [20, 30])
def test_intervals_hold_for_thirty_scenarios(scenarios: int) -> None:
    found = coverage(ours, PERSONALIZATION.values(), scenarios, np.arange(1.0, 5.0))
    assert min(share for share, _ in found) >= 0.93


@pytest.mark.parametrize("scenarios", [3, 5, 10, 30, 100])
def test_intervals_of_rates_hold(scenarios: int) -> None:
    assert min(rate_coverage(rate_interval, scenarios)) >= 0.95
