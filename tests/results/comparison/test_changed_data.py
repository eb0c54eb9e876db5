"""Scenarios whose content changed since the baseline are not compared with what they were, whatever their
dataset is called.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.processes.runs import assert_ended
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import TOLD_AGENTS

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS, "--personalens-data", "own")
SAVE, HOLD = ("--personalens-save-baseline", "base.json"), ("--personalens-baseline", "base.json")


@pytest.fixture
def own(told: Repository) -> Repository:
    """A repository with a dataset of its own in the embedded layout."""
    subprocess.run(["cp", "-r", str(ROOT / "data"), str(told.path / "own")], check=True)
    return told


def rewrite(folder: Path, pattern: str, count: int = 0) -> None:
    for file in sorted(folder.rglob("*.toml")) + sorted(folder.rglob("*.json")):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(pattern, r"\1Anything at all will do. ", text, count=count), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("results", [False, True], ids=["a baseline", "a results file"])
def test_rewritten_goals_are_refused_before_anything_runs(own: Repository, results: bool) -> None:
    assert own.inline(*ARGS, *SAVE, "--personalens-report=results.json").ret == 0
    rewrite(own.path / "own" / "domains", r'(goal = "+)')
    rewrite(own.path / "own", r'(goal = "+)')
    assert_ended(
        own.inline(*ARGS, "--personalens-baseline", "results.json" if results else "base.json"),
        4,
        err="ERROR: --personalens-baseline: *: the content of 10 of its 10 scenarios in this sample changed in the dataset, such as *",
    )


def test_official_data_that_was_rewritten(told: Repository, official: Path) -> None:
    users = sorted((official / "data" / "profile").iterdir())[:10]
    for user in users:
        subprocess.run(["cp", "-r", "--no-preserve=mode", str(user), str(told.path)], check=True)
        (told.path / "own" / "profile").mkdir(parents=True, exist_ok=True)
        (told.path / user.name).rename(told.path / "own" / "profile" / user.name)
    assert told.inline(*ARGS, *SAVE).ret == 0
    assert told.inline(*ARGS, *HOLD).ret == 0
    rewrite(told.path / "own", r'("Task Goal": ")')
    assert_ended(
        told.inline(*ARGS, *HOLD),
        4,
        err="ERROR: --personalens-baseline: *the content of 10 of its 10 scenarios in this sample changed in the dataset*",
    )


@pytest.mark.slow
def test_one_scenario_that_changed_is_left_out_and_told(own: Repository) -> None:
    assert own.inline(*ARGS, *SAVE).ret == 0
    # One person of the sample, and so one scenario of ten.
    for history in (own.path / "own" / "histories" / "tinashe").glob("*.toml"):
        text = history.read_text(encoding="utf-8")
        history.write_text(text.replace('noted = "', 'noted = "Changed. '), encoding="utf-8")
    assert_ended(
        own.inline(*ARGS, *HOLD),
        0,
        "compared with base.json: 9 scenarios*",
        "  not compared, changed in the dataset: 1*",
    )
