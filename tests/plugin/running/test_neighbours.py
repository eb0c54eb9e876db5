"""Beside the plugins of pytest that a team may have, all of them installed at once (make test-neighbours)."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any, Final

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TEST, TOLD, TOLD_AGENTS, TOLD_ALONE

NEIGHBOURS: Final = (
    "pytest_asyncio", "anyio", "pytest_randomly", "pytest_cov", "pytest_rerunfailures", "pytest_timeout", "pytest_split", "pytest_sugar",
)  # fmt: skip
pytestmark = pytest.mark.skipif(
    not all(map(find_spec, NEIGHBOURS)), reason="not all of them are installed here (make test-neighbours)"
)
RUN: Final = ("--personalens-sample=6", *TOLD_AGENTS, "--personalens-report=results.json")
GATE: Final = ("--personalens-gate=tcr >= 0.9",)
AGENTS: Final = TOLD_ALONE

#: What the neighbours are asked to do in one run.
TOGETHER: Final = (
    ("--cov=.", "--cov-branch", "--timeout=60", "--reruns=2", "--force-sugar"),
    ("-n", "2", "--cov=.", "--timeout=60", "--reruns=1", "-v"),
    ("-n", "2", "--dist=loadgroup", "-opersonalens_parallel=2", "--timeout=60", "--timeout-method=thread"),
    ("-opersonalens_parallel=4", "-p", "no:xdist"),
)


@pytest.fixture
def beside(empty_repo: Repository) -> Repository:
    """A repository whose assistant, user and judge do well."""
    empty_repo.write(conftest=TOLD, test_bot=TEST)
    return empty_repo


def run(repo: Repository, *args: str) -> pytest.RunResult:
    """A run in a process of its own, with every plugin that is installed; the sample is of six."""
    ini = repo.path / "pytest.ini"
    if not ini.exists():
        ini.write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return repo.pytester.runpytest_subprocess(*RUN, *args)


def scores(repo: Repository) -> dict[str, Any]:
    """Scenario -> its scores."""
    found = [item["evaluation"] for item in repo.results()["items"]]
    return {e["scenario"]: [(v["dimension"], v["score"]) for v in e["verdicts"]] for e in found}


def test_scores_and_gates_are_those_of_a_run_without_them(beside: Repository) -> None:
    without = (
        f"-pno:{name}" for name in ("randomly", "sugar", "asyncio", "anyio", "timeout", "rerunfailures")
    )
    run(beside, *GATE, *without)
    alone = scores(beside)
    assert len(alone) == 6
    for more in TOGETHER:
        result = run(beside, *GATE, *more)
        assert result.ret == 0, more
        assert scores(beside) == alone, more
        result.stdout.fnmatch_lines(
            ["*gate tcr: passed*over 6 scenarios*", "*gate valid: passed, 6 of 6 items*"]
        )


def test_the_order_is_shuffled_and_the_sample_is_not(beside: Repository) -> None:
    orders = []
    for seed in ("1", "2"):
        lines = run(beside, "-v", "-p", "no:sugar", f"--randomly-seed={seed}").outlines
        orders.append([found[1] for line in lines if (found := re.search(r"test_bot\[(.*?)\] PASSED", line))])
    one, other = orders
    assert one != other
    assert sorted(one) == sorted(other)


@pytest.mark.parametrize("kind", ["async def", "def"])
def test_a_time_limit_of_pytest_timeout_ends_an_assistant_that_hangs(
    empty_repo: Repository, kind: str
) -> None:
    sleep = "await asyncio.sleep(30)" if kind == "async def" else "time.sleep(30)"
    empty_repo.write(
        conftest=AGENTS, test_bot=TEST, slow=f"import asyncio, time\n{kind} reply(messages):\n    {sleep}\n    return 'fine'\n"
    )  # fmt: skip
    result = run(empty_repo, "--personalens-sample=1", "--personalens-assistant=slow:reply", "--timeout", "2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Timeout (>2.0s) from pytest-timeout*"])
    assert result.duration < 25, "the assistant sleeps for 30 s in each of two turns"


def test_our_time_limit_comes_first_where_it_is_the_shorter(empty_repo: Repository) -> None:
    empty_repo.write(
        conftest=AGENTS, test_bot=TEST, slow="import time\ndef reply(messages):\n    time.sleep(30)\n"
    )
    limit = ("-o", "personalens_turn_timeout=0.5", "--timeout", "60")
    result = run(empty_repo, "--personalens-sample=1", "--personalens-assistant=slow:reply", *limit)
    result.stdout.fnmatch_lines(["*the assistant did not answer within 0.5 s (personalens_turn_timeout)*"])


@pytest.mark.parametrize(
    ("head", "mode"),
    [("", "auto"), ("@pytest.mark.asyncio\n", "strict"), ("@pytest.mark.anyio\n", "strict")],
    ids=["asyncio auto", "asyncio", "anyio"],
)
def test_async_tests_and_fixtures(empty_repo: Repository, head: str, mode: str) -> None:
    """In a loop of the team's own; the assistant runs in ours."""
    fixture = """
    import asyncio
    @FIXTURE
    async def remembered():
        await asyncio.sleep(0)
        return "fine"

    @pytest.fixture
    def personalens_assistant(remembered):
        async def reply(messages):
            await asyncio.sleep(0)
            return remembered
        return reply

    @pytest.fixture
    def anyio_backend():
        return "asyncio"
    """
    of_asyncio = "import pytest_asyncio\n    @pytest_asyncio.fixture"
    made = fixture.replace("@FIXTURE", of_asyncio if "asyncio" in head else "@pytest.fixture")
    empty_repo.write(conftest=AGENTS.rstrip() + "\n" + made)
    (empty_repo.path / "test_bot.py").write_text(
        f"import pytest\n{head}async def test_bot(personalens):\n    personalens.check()\n"
    )
    (empty_repo.path / "pytest.ini").write_text(
        f"[pytest]\nasyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n"
    )
    run(empty_repo).assert_outcomes(passed=6)


def test_a_part_of_pytest_split_says_that_it_is_one(beside: Repository) -> None:
    """Each part has the same seed: pytest-randomly shuffles before pytest-split splits."""
    drawn: list[str] = []
    for group in ("1", "2"):
        result = run(beside, "--splits", "2", "--group", group, "--randomly-seed=1")
        result.stdout.fnmatch_lines(["left out by a selection*: at least 3 items of the sample*"])
        drawn += scores(beside)
    assert len(set(drawn)) == 6


def test_a_retry_is_judged_anew(beside: Repository) -> None:
    flaky = """
    import pathlib

    @pytest.fixture
    def personalens_assistant(personalens_context):
        tries = pathlib.Path(f"{personalens_context.user}.tries")
        tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
        return lambda messages: "" if len(tries.read_text()) == 1 else "fine"
    """
    beside.write(conftest=AGENTS.rstrip() + "\n" + flaky)
    result = run(beside, "--reruns", "1", "-n", "2", "--cov=.", "--timeout=60")
    assert result.parseoutcomes()["rerun"] == 6
    assert result.parseoutcomes()["passed"] == 6
