"""What a run tested: from git and from CI variables, beside what equal runs have in common."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import Repository

RUN = ("--personalens-sample=3",)


@pytest.fixture
def repo(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with one commit, on a branch, with a remote whose address holds a password."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(repo.path, "init", "-q", "-b", "topic")
    git(repo.path, "add", "conftest.py")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-02T10:00:00+01:00")
    git(repo.path, "-c", "user.name=ann", "-c", "user.email=ann@example.com", "commit", "-q", "-m", "One")
    git(repo.path, "remote", "add", "origin", "https://ann:hunter2@example.com/acme/bot.git")
    return repo


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def facts_of(repo: Repository) -> dict[str, Any]:
    repo.inline(*RUN, "--personalens-report=results.json")
    found: dict[str, Any] = repo.results()["provenance"]
    return found


def test_git_tells_commit_branch_date_project_and_changes(repo: Repository) -> None:
    found = facts_of(repo)
    assert found["commit"] == git(repo.path, "rev-parse", "HEAD")
    assert found["committed"] == "2026-11-02T10:00:00+01:00"
    assert (found["branch"], found["project"]) == ("topic", "acme/bot")
    assert not found["changed"]
    first = (repo.path / "results.json").read_bytes()
    assert b"hunter2" not in first
    facts_of(repo)
    assert (repo.path / "results.json").read_bytes() == first
    with (repo.path / "conftest.py").open("a") as file:
        file.write("# mended\n")
    assert facts_of(repo)["changed"]


GITHUB = {
    "GITHUB_REPOSITORY": "acme/assistant", "GITHUB_HEAD_REF": "mend-memory", "GITHUB_REF_NAME": "7/merge",
    "GITHUB_REF": "refs/pull/7/merge", "GITHUB_RUN_ID": "123", "GITHUB_SERVER_URL": "https://github.com",
}  # fmt: skip
GITLAB = {
    "CI_PROJECT_PATH": "acme/bot", "CI_COMMIT_SHA": "ab" * 20, "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_TIMESTAMP": "2026-11-03T09:00:00Z", "CI_MERGE_REQUEST_IID": "12",
    "CI_PIPELINE_URL": "https://gitlab.example.com/acme/bot/-/pipelines/5",
}  # fmt: skip


def test_ci_tells_what_git_does_not_know(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo.path, "checkout", "-q", "--detach")
    for name, value in GITHUB.items():
        monkeypatch.setenv(name, value)
    found = facts_of(repo)
    assert (found["branch"], found["pull_request"]) == ("mend-memory", "7")
    assert found["url"] == "https://github.com/acme/assistant/actions/runs/123"
    assert found["commit"] == git(repo.path, "rev-parse", "HEAD")
    for name in GITHUB:
        monkeypatch.delenv(name)
    for name, value in GITLAB.items():
        monkeypatch.setenv(name, value)
    (repo.path / ".git").rename(repo.path / "no-git")
    found = facts_of(repo)
    assert (found["commit"], found["branch"], found["pull_request"]) == ("ab" * 20, "main", "12")


def test_a_baseline_knows_its_commit_and_without_either_nothing_is_claimed(repo: Repository) -> None:
    run = (*RUN, "--personalens-report=results.json", "--personalens-save-baseline=baseline.json")
    repo.inline(*run)
    assert repo.results("baseline.json")["provenance"]["commit"] == git(repo.path, "rev-parse", "HEAD")
    (repo.path / ".git").rename(repo.path / "no-git")
    repo.inline(*run)
    assert repo.results()["provenance"] is None
    assert "provenance" not in repo.results("baseline.json")
