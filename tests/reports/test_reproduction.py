"""The page "Reproduce the paper" against a small checkout: its main command, two judges, and what tables say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pytest_personalens.core.options.option_table import judge_specs
from pytest_personalens.datasets import OFFICIAL_SAMPLES
from tests.support.datasets.official_tree import write_code, write_data
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT
from tests.support.servers.endpoint import Call, Endpoint, Reply

PAGE = Path(__file__).parents[2] / "docs/how-to/research/reproduce-the-paper.md"
SONNET, SONNET_35 = "anthropic.claude-3-sonnet", "anthropic.claude-3-5-sonnet"
ANSWER = "\n".join(
    ("VERDICT: True", *(f"{name} Score: 3" for name in ("Personalization", "Naturalness", "Coherence")))
)


def answer(call: Call) -> Reply:
    """A user who is content with the first reply, an assistant, and a judge."""
    if call.prompt.startswith("open "):
        return Reply("I want a thing.")
    if call.prompt.startswith("next "):
        return Reply("Fine. TERMINATE")
    return Reply("Done." if "<context>" in call.prompt else ANSWER)


@pytest.fixture
def checkout(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    endpoint.answer = answer
    root = empty_repo.path / "PersonaLens"
    write_data(root, OFFICIAL_SAMPLES["official-50"], singles=1)
    write_code(root)
    return empty_repo


def page_command() -> list[str]:
    """The first command of the page, for a checkout in this folder."""
    block = PAGE.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    _, *options = shlex.split(block.replace("\\\n", " ").replace("../PersonaLens", "PersonaLens"))
    return options


def table_3(repo: Repository, *files: str) -> str:
    shown = repo.command("report", "--table", "3", *files)
    assert shown.ret == 0, shown.stderr.str()
    return shown.stdout.str()


@pytest.mark.slow
def test_the_main_command_is_the_papers_instrument(checkout: Repository, endpoint: Endpoint) -> None:
    checkout.inline(*page_command(), "-o", "personalens_parallel=8").assert_outcomes(passed=100)
    agents = "user agent bedrock:claude-3-sonnet-v1, judge bedrock:claude-3-5-sonnet-v2, prompts official:"
    assert agents in table_3(checkout, "haiku.json")
    models = {re.sub(r"^us\.|-\d{8}.*", "", call.model) for call in endpoint.calls}
    assert models == {"anthropic.claude-3-haiku", SONNET, SONNET_35}


RUN = (
    *("--personalens-sample", "2", "-o", "personalens_users=0-49,53", "--personalens-data", "PersonaLens"),
    *("-opersonalens_prompts=official:PersonaLens", "--personalens-user-model=bedrock:claude-3-sonnet-v1"),
    *("--personalens-assistant", "bedrock:claude-3-haiku-v1", "-o", "personalens_context=none"),
    *("--personalens-dimensions", "all", "--personalens-gate", "none", "--personalens-record", "new"),
)
TWO = ("--personalens-judge-model", "tc=bedrock:claude-3-sonnet-v1,bedrock:claude-3-5-sonnet-v2")
USERS = {f"user{n}" for n in range(54)}


@pytest.fixture
def small(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    endpoint.answer = answer
    write_data(empty_repo.path / "PersonaLens", sorted(USERS))
    write_code(empty_repo.path / "PersonaLens")
    return empty_repo


@pytest.mark.slow
def test_two_judges_in_one_run_are_one_row(small: Repository, endpoint: Endpoint) -> None:
    small.inline(*RUN, *TWO, "--personalens-report", "two.json").assert_outcomes(passed=2)
    readings = ("tc ", "p D", "nu ", "na ", "cu ", "ca ")
    judged = [call for call in endpoint.calls if call.prompt[:3] in readings]
    by_model = {(call.prompt[:2].strip(), SONNET_35 in call.model) for call in judged}
    assert by_model == {("tc", False), *((name, True) for name in ("p", "nu", "na", "cu", "ca"))}
    identities = {item["evaluation"]["judge"] for item in small.results("two.json")["items"]}
    (identity,) = identities
    assert re.fullmatch(
        r"bedrock:claude-3-5-sonnet-v2 official \w+; tc: bedrock:claude-3-sonnet-v1 official \w+", identity
    )
    shown = table_3(small, "two.json")
    assert len([line for line in shown.splitlines() if line.startswith("bedrock:claude-3-haiku-v1 ")]) == 1
    # It costs nothing a second time, and each part is in the estimate.
    bought = len(endpoint.calls)
    small.inline(*RUN, *TWO).assert_outcomes(passed=2)
    assert len(endpoint.calls) == bought
    prices = ("-o", "personalens_prices=bedrock:claude-3-sonnet-v1 = 3, 15")
    estimate = small.inline(*RUN, *TWO, "--personalens-estimate", *prices)
    estimate.stdout.fnmatch_lines(
        ["judge p * -", "judge tc * 2 * 0.*", "without a price; *", "*claude-3-5-sonnet-v2 = INPUT, OUTPUT"]
    )
    # An embedded judge may stand beside a model.
    endpoint.calls.clear()
    beside = "tc=embedded,bedrock:claude-3-5-sonnet-v2"
    small.inline(*RUN, "--personalens-judge-model", beside).assert_outcomes(passed=2)
    assert not any(call.prompt.startswith("tc ") for call in endpoint.calls)


def test_the_spec_of_a_provider_may_hold_commas() -> None:
    assert judge_specs("ours:a,b") == {"": "ours:a,b"}


def test_users_are_chosen_by_ranges_of_their_numbers(small: Repository) -> None:
    small.write(conftest=BOT)
    base = ("--personalens-sample", "all", "--personalens-data", "PersonaLens", "--personalens-gate", "none")
    small.inline(*base, "-o", "personalens_users=3-5,user9,0-1", "--personalens-report=run.json")
    users = {item["evaluation"]["user"] for item in small.results("run.json")["items"]}
    assert users == {f"user{n}" for n in (0, 1, 3, 4, 5, 9)}
    for numbers, told in (
        ("50-60", "ERROR: *unknown user '54'*"),
        ("5-3", "ERROR: personalens_users: 5-3 is no range of numbers of users; *"),
    ):
        assert_usage_error(small.inline(*base, "-o", f"personalens_users={numbers}"), told)
