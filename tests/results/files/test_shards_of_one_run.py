"""Shards are merged only if they are of one run: what an earlier run left behind must not stand in for a
shard that died.
"""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "6", *TOLD_AGENTS, "--personalens-gate", "tcr >= 0.5")


BOT = """
import os, pytest
from pytest_personalens import Verdict

@pytest.fixture
def personalens_assistant():
    return lambda messages: "I've booked it for 19:30, reference QX77."
"""
TWO_JUDGES = """
class Own:
    identity, paid = os.environ["JUDGE"], False
    def verdict(self, scenario, dialogue, dimension):
        return Verdict(dimension=dimension, score=dimension.scale.high, justification="x")

def pytest_personalens_judge(spec):
    return Own() if spec == "own" else None
"""


def shard(repo: Repository, number: int) -> None:
    repo.run(*ARGS, f"--personalens-shard={number}/2", f"--personalens-report={number}.json")


def merged(repo: Repository) -> pytest.RunResult:
    return repo.command("merge", "1.json", "2.json", "--report", "whole.json")


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in (
        "PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "CIRCLE_WORKFLOW_ID", "BUILDKITE_BUILD_ID",
        "BUILD_BUILDID", "BUILD_TAG",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "CI_PIPELINE_ID"])
def test_shards_of_different_runs_of_a_ci_service(
    told: Repository, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for number in (1, 2):
        monkeypatch.setenv(name, f"run-{number}")
        shard(told, number)
    assert_ended(
        merged(told),
        4,
        err=f"error: 1.json and 2.json are not of one run: the run ({name}) is 'run-1' in the first, 'run-2' in the second",
    )
    shard(told, 1)
    assert merged(told).ret == 0
    assert told.results("whole.json")["origin"] == {}


def test_shards_of_different_commits(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(told.path.parent))

    def git(*args: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *args]
        subprocess.run(command, cwd=told.path, check=True, capture_output=True)

    git("init")
    for number in (1, 2):
        git("commit", "--allow-empty", "-m", str(number))
        shard(told, number)
    assert_ended(merged(told), 4, err="error: 1.json and 2.json are not of one run: the commit is *")


def test_a_file_of_yesterday(told: Repository) -> None:
    for number in (1, 2):
        shard(told, number)
    then = (told.path / "2.json").stat().st_mtime - 24 * 3600
    os.utime(told.path / "2.json", (then, then))
    assert_ended(
        merged(told), 4, err="error: 2.json was written 24 hours before 1.json: is it of an earlier run? *"
    )


def test_a_shard_that_dies_leaves_nothing_of_an_earlier_run(told: Repository) -> None:
    for number in (1, 2):
        shard(told, number)
    told.write(conftest=TOLD.replace('return lambda messages: "fine"', "os._exit(9)"))
    shard(told, 2)
    assert not (told.path / "2.json").exists()
    assert merged(told).ret == 4


def test_shards_of_two_judges(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write(conftest=f"{BOT}{TWO_JUDGES}")
    for number, judge in ((1, "strict"), (2, "lenient")):
        monkeypatch.setenv("JUDGE", judge)
        args = ("--personalens-sample=4", "--personalens-judge-model=own", "--personalens-gate=tcr >= 0.5")
        repo.run(*args, f"--personalens-shard={number}/2", f"--personalens-report={number}.json")
    why = "the judge is 'strict' in the first, 'lenient' in the second"
    assert_ended(merged(repo), 4, err=f"error: 1.json and 2.json are not of one run: {why}")
