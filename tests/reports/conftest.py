"""The repository whose red runs the tests of reports read."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import REASONS, TOLD_AGENTS

ARGS = ("--personalens-sample", "12", *TOLD_AGENTS)


@pytest.fixture
def bot(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with records and a baseline of a bot that knows its users, and forgets them from now on."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repo.path / "summary.md"))
    for name in ("CI", "BUILD_NUMBER", "FORGETS", "SILENT"):
        monkeypatch.delenv(name, raising=False)
    repo.write(conftest=REASONS)
    run = repo.inline(*ARGS, "--personalens-record", "new", "--personalens-save-baseline", "base.json")
    run.assert_outcomes(passed=13)  # the gate of valid items too
    monkeypatch.setenv("FORGETS", "1")
    return repo


def forget_records(repo: Repository) -> None:
    """Delete the records, so that a changed bot or judge is not compared with them."""
    for file in repo.path.glob("__personalens__/**/*.json"):
        file.unlink()
