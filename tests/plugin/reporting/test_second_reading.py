"""Small things that newcomers stumbled over: words that leave them alone, figures that run backwards."""

from __future__ import annotations

import re

import pytest

from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS
from tests.support.servers.endpoint import Endpoint, Reply

ARGS = ("--personalens-sample=4", *TOLD_AGENTS)
GATES = ("--personalens-gate=tcr >= 0", "--personalens-gate=p >= 1")


def test_the_progress_never_runs_backwards(told: Repository) -> None:
    told.write(test_more="def test_more():\n    pass\n")
    shares = [int(share) for share in re.findall(r"\[ *(\d+)%\]", str(told.run(*ARGS, *GATES, "-v").stdout))]
    assert shares == sorted(shares)
    assert shares[-1] == 100


def test_a_low_scenario_of_several_tests_names_the_test(told: Repository) -> None:
    told.write(conftest=TOLD.replace("score = low if f", "score = low if True or f"))
    assert " in test_" not in str(told.inline(*ARGS, *GATES).stdout)
    told.write(test_more="def test_other(personalens):\n    personalens.check()\n")
    lines = [
        line for line in told.inline(*ARGS, *GATES).outlines if line.endswith("task not completed, p 1 < 2")
    ]
    assert len(lines) == len(set(lines)) == 8
    assert sum(" in test_other: " in line for line in lines) == 4


def test_every_page_is_in_the_list_of_pages() -> None:
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")} - {
        "README.md"
    }
    assert not {page for page in pages if f"]({page})" not in text}


OWN = """
    import pytest
    from pytest_personalens.core.scenario import Scenario, ScenarioRef, Situation, Task

    class Pharmacy:
        name, version = "pharmacy", "1"
        def domains(self): return ("Pharmacy",)
        def users(self): return ("ruth",)
        def refs(self, user): return [ScenarioRef(user, "p-1", "single", ("Pharmacy",))]
        def load(self, ref):
            moment = Situation(location="home", device="Laptop", time_of_day="Morning", day_of_week="Monday", environment="Quiet")
            task = Task(id=ref.task, description="d", intent="You want it.", goal="It is done.", relevant=(("Pharmacy", "Supply"),))
            return Scenario(id=ref.id, user=ref.user, dataset="pharmacy 1", kind=ref.kind, domains=ref.domains, demographics={},
                            preferences={"Pharmacy": {"Supply": ("30 days",)}}, summaries={"Pharmacy": "s"}, situation=moment, task=task)

    def pytest_personalens_dataset(spec):
        return Pharmacy() if spec == "pharmacy" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "fine"
"""
MISTAKES = {
    "a misspelt preference": ('("Pharmacy", "Supply"),)', '("Pharmacy", "Suply"),)', "the task's relevant preference 'Suply' is not among the preferences: those of Pharmacy are 'Supply'"),
    "one of another domain": ('(("Pharmacy", "Supply"),)', '(("Chemist", "Supply"),)', "the task's relevant preference 'Supply' is not among the preferences: there are none of Chemist"),
    "an empty intent": ('"You want it."', '" "', "the task's intent is empty"),
    "an empty goal": ('"It is done."', '""', "the task's goal is empty"),
    "a domain called after a kind": ('("Pharmacy",)\n', '("single",)\n', "domains(): 'single' is a kind of task; give the domain another name"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_an_own_dataset(repo: Repository, mistake: str) -> None:
    right, wrong, problem = MISTAKES[mistake]
    repo.write(conftest=OWN)
    args = ("--personalens-sample=1", "--personalens-data=pharmacy")
    assert repo.inline(*args, "--personalens-gate=none").ret == 0
    assert right in OWN
    repo.write(conftest=OWN.replace(right, wrong, 1))
    result = repo.inline(*args)
    assert result.ret == 4
    assert problem in str(result.stderr)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("llama-3-1-8b-instruct-v1", "us.meta.llama3-1-8b-instruct-v1:0"),
        ("llama-3-1-70b-instruct-v1", "us.meta.llama3-1-70b-instruct-v1:0"),
        ("mistral-7b-instruct-v2", "mistral.mistral-7b-instruct-v0:2"),
        ("mixtral-8x7b-instruct-v1", "mistral.mixtral-8x7b-instruct-v0:1"),
    ],
)
def test_models_by_the_names_of_the_official_repository(
    repo: Repository, endpoint: Endpoint, name: str, model: str
) -> None:
    endpoint.answer = lambda call: Reply("")
    repo.run(
        "--personalens-sample=1",
        "--personalens-judge-model",
        f"bedrock:{name}",
        "--personalens-record=live",
        "--personalens-budget=1calls",
    )
    assert [call.model for call in endpoint.calls] == [model]


def test_the_p_of_a_lift_is_one_sided_and_says_so(told: Repository) -> None:
    result = told.inline(*ARGS, "--personalens-control=no-context", "--personalens-gate=lift >= -3")
    result.stdout.fnmatch_lines(
        ["control no-context: P *: lift * (95 % *, one-sided p *)", "gate lift: passed, *, one-sided p *"]
    )
