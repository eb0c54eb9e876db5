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
