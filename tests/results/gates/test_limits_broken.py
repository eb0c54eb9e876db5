"""The gate on hard limits: it counts the dialogues that break one, and says how many more than before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.repository import Repository

#: Users who must not get prawns are served them where PRAWNS is set.
BOT = """
    import os

    import pytest

    @pytest.fixture
    def personalens_assistant(personalens_scenario):
        offered = os.environ.get("PRAWNS") and any(
            "prawns" in limit.words for limit in personalens_scenario.limits
        )
        dish = "the garlic prawns" if offered else "the green salad"
        return lambda messages: f"I've booked a table for two on Friday at 19:30 and ordered {dish} for you."
"""
SILENT = """
    import pytest
    from pytest_personalens import Verdict

    class Judge:
        identity, paid = "silent", False

        def verdict(self, scenario, dialogue, dimension):
            return Verdict(dimension=dimension, score=dimension.scale[-1], justification="fine")

    def pytest_personalens_judge(spec):
        return Judge() if spec == "silent" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "I've booked a table for two on Friday at 19:30."
"""
RUN = (
    "--personalens-sample=12", "--personalens-domain=Restaurants", "--personalens-kind=single",
    "--personalens-record=live",
)  # fmt: skip
GATE = "--personalens-gate=limits_broken <= 0"


@pytest.fixture
def bot(empty_repo: Repository) -> Repository:
    empty_repo.write(conftest=BOT)
    return empty_repo


@pytest.mark.slow
def test_broken_limits_fail_the_gate_and_are_counted(
    bot: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = bot.inline(*RUN, GATE, "--personalens-save-baseline=baseline.json")
    kept.stdout.fnmatch_lines(
        ["gate limits_broken: passed, share of dialogues that break a hard limit 0.00 *"]
    )
    assert kept.ret == 0
    monkeypatch.setenv("PRAWNS", "1")
    fell = bot.inline(*RUN, GATE, "--personalens-baseline=baseline.json", "--personalens-report=r.json")
    items = bot.results("r.json")["items"]
    verdicts = [
        v for item in items for v in item["evaluation"]["verdicts"] if v["dimension"] == "personalization"
    ]
    broken = sum(any(r["code"] == "limit-broken" for r in v["reasons"]) for v in verdicts)
    assert 1 < broken < len(items)
    measured = f"share of dialogues that break a hard limit {broken / 12:.2f} * > 0.00 over 12 scenarios"
    more = f"it breaks a hard limit in {broken} dialogues (+{broken} since the baseline)"
    fell.stdout.fnmatch_lines(
        [
            "breaks a hard limit in * dialogues *",
            "  restaurants-*: *: says “prawn*” (turn *)",
            f"gate limits_broken: FAILED, {measured}; {more}",
        ]
    )
    completed = [
        v["score"] for i in items for v in i["evaluation"]["verdicts"] if v["dimension"] == "task_completion"
    ]
    assert completed.count(0) >= broken
    assert fell.ret == 1


def test_a_judge_without_reasons_passes_no_gate_on_limits(empty_repo: Repository) -> None:
    empty_repo.write(conftest=SILENT)
    result = empty_repo.inline(*RUN, GATE, "--personalens-judge-model=silent")
    result.stdout.fnmatch_lines(["gate limits_broken: FAILED (not decided), * gives no reasons, *"])
    assert result.ret == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--personalens-gate=limits_broken >= 0.1",), "*better low: write limits_broken <= 0.1*"),
        ((GATE, "--personalens-dimensions=tc"), "*limits_broken: personalization is not judged *; add p with *"),
        ((GATE, "--personalens-suite=personaconv"), "*unknown metric 'limits_broken'*"),
        ((GATE, "--personalens-suite=memory"), "*unknown metric 'limits_broken'*"),
    ],
)  # fmt: skip
def test_a_gate_that_cannot_be(bot: Repository, arguments: tuple[str, ...], problem: str) -> None:
    bot.inline("--personalens-sample=2", *arguments).stderr.fnmatch_lines([problem])
