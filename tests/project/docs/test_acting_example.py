"""The example project's acting assistant: its figures, and those of the same bot with broken tools."""

from __future__ import annotations

import json

import pytest

from tests.support.repository import ROOT, Repository


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bot", "state", "tcr", "unbacked"),
    [
        ("remembers", "", 0.97, 0.13),
        ("claims", "", 0.17, 1.0),
        ("stores-nothing", "", 0.17, 1.0),
        ("stores-nothing", "none", 1.0, 0.07),
        ("stores-a-day-late", "", 0.77, 0.53),
        ("stores-a-day-late", "none", 1.0, 0.07),
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
    assert means["task_completion"]["value"] == pytest.approx(tcr, abs=0.1)
    assert means["unbacked"]["value"] == pytest.approx(unbacked, abs=0.15)
