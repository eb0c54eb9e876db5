"""The gate ``drop(METRIC) <= VALUE``: its bound is exact where one is known, and it keeps its promise in simulation."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from benchmarks.stats.non_inferiority import KINDS, TOGETHER, by_sign_flip, ours, passes
from pytest_personalens.results.stats.paired import least_change
from tests.support.repository import Repository
from tests.support.scripted_agents import REMEMBERS

CHANGES = st.lists(st.integers(-3, 3), min_size=3, max_size=30)


def bound(changes: Sequence[Sequence[int]], span: int = 3, level: float = 0.05) -> float:
    found = least_change(changes, span, level=level)
    assert found is not None
    return found


@settings(max_examples=25, deadline=None)
@given(CHANGES, st.integers(0, 29), st.integers(2, 6))
def test_the_laws_of_the_bound(changes: list[int], place: int, each: int) -> None:
    alone = [[change] for change in changes]
    lowest = bound(alone)
    assert -3 <= lowest <= sum(changes) / len(changes) + 1e-5
    better = [*alone[:place], *([min(3, change + 1)] for change in changes[place:])]
    assert lowest <= bound(better) + 1e-5, "it grows with every change"
    assert bound([[change] * each for change in changes]) == pytest.approx(lowest, abs=1e-5), "users count"
    assert bound(alone, level=0.2) >= lowest - 1e-5
    assert least_change(alone[:2], 3, level=0.05) is None, "few users exclude nothing"


@pytest.mark.parametrize(("count", "broken"), [(3, 0), (3, 2), (28, 0), (29, 0), (30, 1), (400, 3)])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_of_what_breaks_the_bound_is_clopper_and_pearsons(count: int, broken: int, level: float) -> None:
    found = bound([[-1]] * broken + [[0]] * (count - broken), 1, level)
    assert found == pytest.approx(-beta.ppf(1 - level, broken + 1, count - broken), abs=3e-6)


def test_the_bound_is_the_quantile_of_randomly_weighted_means() -> None:
    chance = random.Random(1)
    changes = [chance.choice((-3, -1, -1, 0, 0, 0, 1, 2)) for _ in range(20)]
    lowest, below = bound([[change] for change in changes], level=0.1), 0
    for _ in range(20_000):
        weights = [chance.expovariate(1) for _ in range(21)]
        mean = sum(w * c for w, c in zip(weights, [*changes, -3], strict=True)) / sum(weights)
        below += mean <= lowest
    assert below / 20_000 == pytest.approx(0.1, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *TOGETHER], ids=lambda kind: kind.name)
@pytest.mark.parametrize("scenarios", [(1,) * 30, (3,) * 20], ids=["30x1", "20x3"])
def test_a_drop_as_large_as_the_limit_passes_in_five_percent(
    kind: object, scenarios: tuple[int, ...]
) -> None:
    known = next(k for k in (*KINDS, *TOGETHER) if k is kind)
    # Of 300 pairs at 5 %, 26 or more pass in one of a thousand simulations.
    assert passes(ours, known, scenarios, known.drop, runs=300) <= 100 * 25 / 300


def test_a_sign_flip_test_would_not_keep_the_promise() -> None:
    assert passes(by_sign_flip, KINDS[0], (1,) * 30, 0.1, runs=300) > 10


@pytest.fixture
def base(repo: Repository) -> Repository:
    """A repository with a baseline of the example's bot."""
    repo.write(conftest=REMEMBERS)
    repo.inline("--personalens-sample=5", "--personalens-save-baseline=base.json")
    return repo


RUN = ("--personalens-sample=5", "--personalens-baseline=base.json", "--personalens-gate", "drop(p) <= 0.3")


def test_an_edited_bound_is_not_believed(base: Repository) -> None:
    base.inline(*RUN, "--personalens-report=results.json")
    stored = base.results()
    next(gate for gate in stored["gates"] if gate["name"] == "drop(p)")["passed"] = True
    (base.path / "results.json").write_text(json.dumps(stored))
    base.command("report", "results.json").stdout.fnmatch_lines(["gate drop(p): FAILED*"])


def test_a_run_that_replaces_its_baseline_is_compared_with_none(base: Repository) -> None:
    replaced = base.inline(*RUN, "--personalens-save-baseline=base.json")
    replaced.stdout.no_fnmatch_line("gate drop(p)*")
    assert replaced.ret == 0
