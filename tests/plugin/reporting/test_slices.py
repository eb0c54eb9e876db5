"""Groups of users are scored, compared within the same tasks, and gated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from pytest_personalens.results.means import Key, gap_of
from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository

#: An assistant that serves men only, and a judge that tells.
HOOKS = """
    import pytest
    from pytest_personalens import Verdict

    class Judge:
        identity, paid = "by-a-word", False

        def verdict(self, scenario, dialogue, dimension):
            served = any("booked" in m.content for m in dialogue.messages if m.role == "assistant")
            score = dimension.scale[-1 if served else 0]
            return Verdict(dimension=dimension, score=score, justification="by a word")

    def pytest_personalens_judge(spec):
        return Judge() if spec == "by-a-word" else None

    @pytest.fixture
    def personalens_assistant():
        def reply(messages, context):
            return "It is booked." if context.demographics["gender"] == "Male" else "I don't know."
        return reply
"""
MOVIES = ("--personalens-sample=60", "--personalens-domain=Movies", "--personalens-kind=single")
REPORTS = [f"--personalens-report=out.{ending}" for ending in ("json", "md", "html")]
ARGS = (*MOVIES, "--personalens-judge-model=by-a-word", *REPORTS)


@pytest.fixture
def unfair(repo: Repository) -> Repository:
    repo.write(conftest=HOOKS)
    return repo


@pytest.mark.slow
def test_an_assistant_that_serves_men_only_has_a_significant_gap(unfair: Repository) -> None:
    run = unfair.run(*ARGS, "-opersonalens_slice=gender,age", "--personalens-gate=gap(p) <= 0.5")
    table = "gender *users *scored *gap (p)*", "Male *+3.00[*] (< 0.001)"
    gap = "gate gap(p): FAILED, largest gap of mean personalization 3.00 > 0.50 over * tasks: gender *"
    assert_ended(run, 1, *table, gap)
    results = unfair.results("out.json")
    by_group = {group["name"]: group["figures"]["personalization"] for group in results["slices"]}
    assert by_group["Male"]["gap"] == 3 and by_group["Male"]["significant"]
    assert not any(by_group[age]["significant"] for age in ("18-24", "25-34"))
    assert "Users by gender" in (unfair.path / "out.md").read_text(encoding="utf-8")
    assert "By gender" in (unfair.path / "out.html").read_text(encoding="utf-8")


def test_a_gate_without_a_comparable_group_fails(unfair: Repository) -> None:
    few = ("--personalens-sample=2", "-opersonalens_slice=age", "--personalens-gate=gap(p) <= 3")
    too_few = "gate gap(p): FAILED (not decided), *no group and the rest have 3 users each*"
    assert_ended(unfair.run(*ARGS, *few), 1, too_few)


def test_a_gap_is_taken_within_tasks_and_not_between_them() -> None:
    # The group has the hard task more often, and is better at both.
    hard, easy = [("a1", 2), ("a2", 2), ("a3", 2), ("b1", 1)], [("a4", 5), ("b2", 4), ("b3", 4), ("b4", 4)]
    tasks = {"hard": hard, "easy": easy}.items()
    means: dict[Key, Fraction] = {(u, t): Fraction(s) for t, of_task in tasks for u, s in of_task}
    gap = gap_of(means, {"a1", "a2", "a3", "a4"})
    assert gap is not None and (gap.value, gap.tasks) == (1, 2)
    assert gap_of(means, {"a1", "a2"}) is None  # too few users


@pytest.mark.slow
def test_the_test_of_a_gap_rejects_as_often_as_its_level() -> None:
    def p_of(seed: int) -> float:
        people = [f"u{n}" for n in range(12)]
        scores: dict[Key, Fraction] = {
            (u, t): Fraction((seed * 7 + n * n * 31 + m * 17) % 11)
            for (n, u), (m, t) in product(enumerate(people), enumerate("xyz"))
        }
        gap = gap_of(scores, {people[(seed * 5 + k * 7) % 12] for k in range(6)})
        assert gap is not None
        return gap.p

    ps = [p_of(seed) for seed in range(60)]
    assert sum(p <= 0.05 for p in ps) <= 8
    assert min(ps) < 0.5 < max(ps)
