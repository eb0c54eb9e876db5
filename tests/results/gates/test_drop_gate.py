"""The gate ``drop(METRIC) <= VALUE``: its bound is exact where one is known, it keeps its promise in
simulation, and it passes only what excludes a larger drop.
"""

from __future__ import annotations

import json
import random

import pytest
from scipy.stats import beta

from benchmarks.stats.non_inferiority import KINDS, TOGETHER, by_sign_flip, ours, passes
from pytest_personalens.core.options.gate import parse_gate_name, read_gate
from pytest_personalens.core.suite import get_suite
from pytest_personalens.results.stats.paired import least_change
from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository
from tests.support.scripted_agents import REMEMBERS

SUITE = get_suite("personalens")


@pytest.mark.parametrize(("count", "broken"), [(3, 0), (3, 2), (30, 0), (30, 1), (30, 7), (400, 3)])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_of_what_breaks_or_not_the_bound_is_clopper_and_pearsons(
    count: int, broken: int, level: float
) -> None:
    found = least_change([[-1]] * broken + [[0]] * (count - broken), 1, level=level)
    assert found == pytest.approx(-beta.ppf(1 - level, broken + 1, count - broken), abs=3e-6)


def test_the_bound_is_the_quantile_of_randomly_weighted_means() -> None:
    chance = random.Random(1)
    changes = [chance.choice((-3, -1, -1, 0, 0, 0, 1, 2)) for _ in range(20)]
    bound = least_change([[change] for change in changes], 3, level=0.1)
    assert bound is not None
    below = 0
    for _ in range(20_000):
        weights = [chance.expovariate(1) for _ in range(21)]
        mean = sum(w * c for w, c in zip(weights, [*changes, -3], strict=True)) / sum(weights)
        below += mean <= bound
    assert below / 20_000 == pytest.approx(0.1, abs=0.01)


def test_the_bound_grows_with_every_change_and_shrinks_with_the_sample() -> None:
    changes = [[0]] * 20 + [[-1]] * 5
    bound = least_change(changes, 3, level=0.05)
    better = least_change([*changes[1:], [1]], 3, level=0.05)
    more = least_change(changes * 2, 3, level=0.05)
    assert bound is not None
    assert better is not None
    assert more is not None
    assert -3 < bound < min(better, more) < 0


def test_scenarios_of_one_user_are_no_independent_ones() -> None:
    alone = least_change([[0]] * 60, 3, level=0.05)
    together = least_change([[0] * 6] * 10, 3, level=0.05)
    same = least_change([[0]] * 10, 3, level=0.05)
    assert alone is not None
    assert together is not None
    assert together < alone
    assert together == pytest.approx(same, abs=1e-5)


def test_few_users_exclude_nothing() -> None:
    assert least_change([[0] * 50, [0] * 50], 1, level=0.05) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *TOGETHER], ids=lambda kind: kind.name)
@pytest.mark.parametrize("scenarios", [(1,) * 30, (3,) * 20], ids=["30x1", "20x3"])
def test_a_drop_as_large_as_the_limit_passes_in_five_percent_at_most(
    kind: object, scenarios: tuple[int, ...]
) -> None:
    known = next(k for k in (*KINDS, *TOGETHER) if k is kind)
    # Of 300 pairs at 5 %, 26 or more pass in one of a thousand simulations.
    assert passes(ours, known, scenarios, known.drop, runs=300) <= 100 * 25 / 300


def test_a_sign_flip_test_would_not_keep_the_promise() -> None:
    assert passes(by_sign_flip, KINDS[0], (1,) * 30, 0.1, runs=300) > 10


def test_a_run_without_a_change_passes_once_there_are_enough() -> None:
    few, enough = (least_change([[0]] * users, 1, level=0.05) for users in (28, 29))
    assert few is not None
    assert enough is not None
    assert few < -0.1 <= enough


@pytest.mark.parametrize(
    ("text", "of", "limit"),
    [("drop(p) <= 0.3", "p", 0.3), ("drop(TC)=5%", "tcr", 0.05), ("DROP( tcr ) ≤ 0.1", "tcr", 0.1)],
)
def test_an_expression_is_read(text: str, of: str, limit: float) -> None:
    gate = read_gate(text, SUITE)
    assert (gate.metric, gate.of, gate.limit, gate.direction) == ("drop", of, limit, "<=")
    assert parse_gate_name(gate.name, gate.limit, gate.direction) == gate


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("drop(p) >= 0.3", "write drop(p) <= 0.3"),
        ("drop <= 0.3", "drop(METRIC) <= VALUE"),
        ("drop(valid) <= 0.3", "drop(METRIC) <= VALUE"),
        ("drop(p, other-user) <= 0.3", "drop(METRIC) <= VALUE"),
        ("drop(foo) <= 0.3", "unknown metric 'foo'"),
        ("drop(p) <= 0", "above 0, up to 3"),
        ("drop(p) <= 4", "above 0, up to 3"),
        ("drop(p) <= 10%", "no share"),
        ("drop(p) <= 1.2.3", "expected a number after <="),
        ("Movies: drop(p) <= 1", "leave 'Movies' out"),
    ],
)
def test_an_expression_that_cannot_be(text: str, told: str) -> None:
    with pytest.raises(ValueError) as error:
        read_gate(text, SUITE)
    assert told in str(error.value)


@pytest.fixture
def repo(pytester: pytest.Pytester) -> Repository:
    """The example's bot, which forgets the users whose names begin with the letters in FORGETS."""
    repo = Repository(pytester)
    repo.write(conftest=REMEMBERS)
    return repo


def test_an_edited_bound_is_not_believed(repo: Repository) -> None:
    repo.inline("--personalens-sample=5", "--personalens-save-baseline=base.json")
    more = ("--personalens-baseline=base.json", "--personalens-gate", "drop(p) <= 0.3")
    repo.inline("--personalens-sample=5", *more, "--personalens-report=results.json")
    path = repo.path / "results.json"
    stored = json.loads(path.read_text())
    next(gate for gate in stored["gates"] if gate["name"] == "drop(p)")["passed"] = True
    path.write_text(json.dumps(stored))
    repo.command("report", "results.json").stdout.fnmatch_lines(["gate drop(p): FAILED*"])


def test_without_a_baseline_it_is_refused_and_a_run_that_replaces_it_is_compared_with_none(
    repo: Repository,
) -> None:
    sample = ("--personalens-sample", "5", "--personalens-gate", "drop(p) <= 0.3")
    assert_ended(
        repo.inline(*sample),
        4,
        err="ERROR: *drop(p): there is nothing to compare with*--personalens-baseline*",
    )
    both = ("--personalens-baseline=base.json", "--personalens-save-baseline", "base.json")
    first = repo.inline(*sample, *both)
    first.stdout.no_fnmatch_line("gate drop(p)*")
    assert first.ret == 0
