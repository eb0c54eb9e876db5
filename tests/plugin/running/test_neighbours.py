"""Beside the plugins of pytest that a team may have, all of them installed at once (make test-neighbours)."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any, Final

import pytest

from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

NEIGHBOURS: Final = (
    "pytest_asyncio", "anyio", "pytest_randomly", "pytest_cov", "pytest_rerunfailures", "pytest_timeout", "pytest_split", "pytest_sugar",
)  # fmt: skip
pytestmark = pytest.mark.skipif(
    not all(map(find_spec, NEIGHBOURS)), reason="not all of them are installed here (make test-neighbours)"
)
RUN: Final = ("--personalens-sample=6", *TOLD_AGENTS, "--personalens-report=results.json")
GATE: Final = ("--personalens-gate=tcr >= 0.9",)

#: What the neighbours are asked to do in one run.
TOGETHER: Final = (
    ("--cov=.", "--cov-branch", "--timeout=60", "--reruns=2", "--force-sugar"),
    ("-n", "2", "--cov=.", "--timeout=60", "--reruns=1", "-v"),
    ("-n", "2", "--dist=loadgroup", "-opersonalens_parallel=2", "--timeout=60", "--timeout-method=thread"),
    ("-opersonalens_parallel=4", "-p", "no:xdist"),
)


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


def test_scores_and_gates_are_those_of_a_run_without_them(told: Repository) -> None:
    without = ("randomly", "sugar", "asyncio", "anyio", "timeout", "rerunfailures")
    run(told, *GATE, *(f"-pno:{name}" for name in without))
    alone = scores(told)
    assert len(alone) == 6
    for more in TOGETHER:
        gates = "*gate tcr: passed*over 6 scenarios*", "*gate valid: passed, 6 of 6 items*"
        assert_ended(run(told, *GATE, *more), 0, *gates)
        assert scores(told) == alone, more


def test_the_order_is_shuffled_and_the_sample_is_not(told: Repository) -> None:
    orders = []
    for seed in ("1", "2"):
        lines = run(told, "-v", "-p", "no:sugar", f"--randomly-seed={seed}").outlines
        orders.append([found[1] for line in lines if (found := re.search(r"test_bot\[(.*?)\] PASSED", line))])
    one, other = orders
    assert one != other
    assert sorted(one) == sorted(other)


OURS: Final = "*the assistant did not answer within 0.5 s (personalens_turn_timeout)*"


@pytest.mark.parametrize(
    ("kind", "sleep", "limits", "told_why"),
    [
        ("async def", "await asyncio.sleep(30)", ("--timeout=2",), "*Timeout (>2.0s) from pytest-timeout*"),
        ("def", "time.sleep(30)", ("--timeout=2",), "*Timeout (>2.0s) from pytest-timeout*"),
        ("def", "time.sleep(30)", ("-opersonalens_turn_timeout=0.5", "--timeout=60"), OURS),
    ],
)
def test_the_shorter_time_limit_ends_an_assistant_that_hangs(
    told: Repository, kind: str, sleep: str, limits: tuple[str, ...], told_why: str
) -> None:
    slow = f"import asyncio, time\n{kind} reply(messages):\n    {sleep}\n    return 'fine'\n"
    told.write(conftest=TOLD_ALONE, slow=slow)
    result = run(told, "--personalens-sample=1", "--personalens-assistant=slow:reply", *limits)
    assert_ended(result, 1, told_why, failed=1)
    assert result.duration < 25, "the assistant sleeps for 30 s in each of two turns"


@pytest.mark.parametrize(
    ("head", "mode"),
    [("", "auto"), ("@pytest.mark.asyncio\n", "strict"), ("@pytest.mark.anyio\n", "strict")],
    ids=["asyncio auto", "asyncio", "anyio"],
)
def test_async_tests_and_fixtures(told: Repository, head: str, mode: str) -> None:
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
    told.write(conftest=TOLD_ALONE.rstrip() + "\n" + made)
    told.write(test_bot=f"import pytest\n{head}async def test_bot(personalens):\n    personalens.check()\n")
    ini = f"asyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n"
    (told.path / "pytest.ini").write_text(f"[pytest]\n{ini}")
    run(told).assert_outcomes(passed=6)


def test_a_part_of_pytest_split_says_that_it_is_one(told: Repository) -> None:
    """Each part has the same seed: pytest-randomly shuffles before pytest-split splits."""
    drawn: list[str] = []
    for group in ("1", "2"):
        result = run(told, "--splits", "2", "--group", group, "--randomly-seed=1")
        result.stdout.fnmatch_lines(["left out by a selection*: at least 3 items of the sample*"])
        drawn += scores(told)
    assert len(set(drawn)) == 6


def test_a_retry_is_judged_anew(told: Repository) -> None:
    flaky = """
    import pathlib

    @pytest.fixture
    def personalens_assistant(personalens_context):
        tries = pathlib.Path(f"{personalens_context.user}.tries")
        tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
        return lambda messages: "" if len(tries.read_text()) == 1 else "fine"
    """
    told.write(conftest=TOLD_ALONE.rstrip() + "\n" + flaky)
    result = run(told, "--reruns", "1", "-n", "2", "--cov=.", "--timeout=60")
    assert result.parseoutcomes()["rerun"] == 6
    assert result.parseoutcomes()["passed"] == 6
