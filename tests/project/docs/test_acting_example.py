"""The example project's acting assistant: its figures, and those of the same bot with broken tools."""

from __future__ import annotations

import json

import pytest

from tests.support.repository import ROOT, Repository


@pytest.mark.parametrize(
    ("bot", "state", "tcr", "unbacked"),
    [
        ("remembers", "", 0.80, 0.0),
        ("claims", "", 0.13, 0.93),
        ("stores-nothing", "", 0.13, 0.93),
        ("stores-nothing", "none", 0.83, 0.0),
        ("stores-a-day-late", "", 0.63, 0.53),
        ("stores-a-day-late", "none", 0.83, 0.0),
    ],
)
def test_who_acts_completes_tasks_and_who_claims_does_not(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch, bot: str, state: str, tcr: float, unbacked: float
) -> None:
    report = empty_repo.path / "results.json"
    options = (
        "--personalens-sample=30",
        "--personalens-dimensions=tc,p,unbacked",
        f"--personalens-report={report}",
    )
    monkeypatch.chdir(ROOT / "example_project")
    monkeypatch.setenv("HELPBOT", bot)
    monkeypatch.setenv("HELPBOT_STATE", state)
    result = empty_repo.run("acting", *options)
    assert (result.ret == 0) is (bot == "remembers"), result.stdout  # the test asserts the rows too
    means = json.loads(report.read_text())["overall"]["figures"]
    assert round(means["task_completion"]["value"], 2) == tcr
    assert round(means["unbacked"]["value"], 2) == unbacked
