"""A process that ends itself leaves neither a green run nor an earlier run's results in the place of its own."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample=4", *TOLD_AGENTS)
FILES = ("--personalens-report=r.json", "--personalens-report=r.md")
EXITS = TOLD.replace('return lambda messages: "fine"', "return lambda messages: os._exit(0)")
AT_THE_END = """
    def pytest_sessionfinish(session):
        if os.environ.get("PYTEST_XDIST_WORKER") in ("gw0", {}):
            os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("other", ["gw0", "gw1"])
@pytest.mark.parametrize("gate", [(), ("--personalens-gate=tcr >= 0.5",), ("--personalens-gate=none",)])
def test_a_worker_that_dies_after_its_last_item(told: Repository, gate: tuple[str, ...], other: str) -> None:
    told.write(conftest=TOLD + AT_THE_END.format(repr(other)))
    result = told.run(*ARGS, *gate, "-n", "2")
    assert result.ret == 3
    result.stdout.fnmatch_lines(
        ["personalens: worker* gw0* died, and no item is known to have done that: *; run it again"]
    )


@pytest.mark.slow
def test_results_of_an_earlier_run_are_not_in_the_place_of_those_that_never_came(told: Repository) -> None:
    assert told.run(*ARGS, *FILES).ret == 0
    before = (told.path / "r.json").read_bytes()
    told.write(conftest=EXITS)
    for _ in range(2):
        # There is nobody to tell it: os._exit ends pytest itself.
        assert told.run(*ARGS, *FILES).ret == 0
        assert not [name for name in ("r.json", "r.md") if (told.path / name).exists()]
    assert (told.path / ".r.json.before").read_bytes() == before
    assert told.run(*ARGS, *FILES, "-n", "1").ret != 0
    told.write(conftest=TOLD)
    assert told.run(*ARGS, *FILES).ret == 0
    assert (told.path / "r.json").read_bytes() == before
    assert not list(told.path.glob(".*.before"))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_without_results_leaves_those_there_are(told: Repository, workers: tuple[str, ...]) -> None:
    told.run(*ARGS, *FILES)
    before = {name: (told.path / name).read_bytes() for name in ("r.json", "r.md")}
    told.write(test_unit="def test_unit():\n    pass\n")
    models = "personalens_user_model = told\npersonalens_judge_model = told\n"
    files = "personalens_report =\n    r.json\n    r.md\n"
    told.pytester.makeini(f"[pytest]\npersonalens_sample = 4\n{models}{files}")
    for args in (("test_unit.py",), ("-k", "unit"), ("--collect-only",)):
        assert told.run(*args, *workers).ret == 0
        assert {name: (told.path / name).read_bytes() for name in before} == before
    assert not list(told.path.glob(".*.before"))


def test_what_a_ci_service_keeps_stays_there(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    step = told.path / "step.md"
    step.write_text("# Steps before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    told.write(conftest=EXITS)
    told.run(*ARGS, "--personalens-report=step.md")
    assert step.read_text() == "# Steps before\n"


def test_drafts_that_a_killed_run_left_behind_are_removed(told: Repository) -> None:
    told.run(*ARGS, "--personalens-report=r.json", "--personalens-record=new")
    record = next((told.path / "__personalens__").rglob("*.json"))
    drafts = {
        told.path / ".r.json.0123456789ab.tmp": "old",
        told.path / ".r.json.4711.tmp": "old",  # as earlier versions called them
        record.with_name(f".{record.name}.0123456789ab.tmp"): "old",
        told.path / ".r.json.ba9876543210.tmp": "young",
        told.path / ".other.json.0123456789ab.tmp": "old",
        told.path / ".r.json.mine": "old",
    }
    for draft, age in drafts.items():
        draft.write_text("{")
        then = time.time() - (3700 if age == "old" else 10)
        os.utime(draft, (then, then))
    record.unlink()
    told.run(*ARGS, "--personalens-report=r.json", "--personalens-record=new")
    left = {draft.name for draft in drafts if draft.exists()}
    assert left == {".r.json.ba9876543210.tmp", ".other.json.0123456789ab.tmp", ".r.json.mine"}
    assert json.loads(Path(told.path / "r.json").read_text(encoding="utf-8"))["items"]
