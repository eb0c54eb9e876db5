"""``personalens comment``: one comment on a pull request, against a server that plays GitHub and GitLab."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_personalens.cli.command import main
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.results.comparison.baseline import baseline_of
from pytest_personalens.results.values.results import Provenance, write_json
from tests.support.processes.commands import refusal
from tests.support.results.rich_results import rich_results
from tests.support.servers.forge import Forge, forge

MARKER = "<!-- personalens: run -->"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    """The server, a results file, and no CI service's variables."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_", "GITLAB_"))]:
        monkeypatch.delenv(name)
    write_json(rich_results(12), Path("results.json"))
    with forge() as state:
        yield state


@pytest.fixture
def github(server: Forge, monkeypatch: pytest.MonkeyPatch) -> Forge:
    names = ("ACTIONS", "API_URL", "REPOSITORY", "REF", "TOKEN")
    values = ("true", server.url, "acme/bot", "refs/pull/7/merge", "s3cret")
    for name, value in zip(names, values, strict=True):
        monkeypatch.setenv(f"GITHUB_{name}", value)
    return server


@pytest.fixture
def gitlab(server: Forge, monkeypatch: pytest.MonkeyPatch) -> Forge:
    names = [
        "GITLAB_CI",
        "CI_API_V4_URL",
        "CI_PROJECT_ID",
        "CI_MERGE_REQUEST_IID",
        "PERSONALENS_GITLAB_TOKEN",
    ]
    for name, value in zip(names, ("true", server.url, "42", "7", "s3cret"), strict=True):
        monkeypatch.setenv(name, value)
    return server


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_the_first_run_writes_and_the_next_updates(
    request: pytest.FixtureRequest, service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    state: Forge = request.getfixturevalue(service)
    state.comments = {1: "Please look.", 2: f"Quoted: {MARKER}"}
    assert main(["comment", "results.json"]) == 0
    assert capsys.readouterr().out == "comment: written\n"
    assert state.comments[3].startswith(f"{MARKER}\n## ")
    write_json(rich_results(20), Path("results.json"))
    assert main(["comment", "results.json"]) == 0
    assert capsys.readouterr().out == "comment: updated\n"
    assert list(state.comments) == [1, 2, 3]
    assert "20 items" in state.comments[3] or "20 of 20" in state.comments[3]


def test_it_is_found_behind_a_hundred_others(github: Forge) -> None:
    github.comments = dict.fromkeys(range(1, 131), "Hm.") | {131: f"{MARKER}\nas it was"}
    assert main(["comment", "results.json"]) == 0
    assert len(github.comments) == 131
    assert "as it was" not in github.comments[131]


def test_two_jobs_have_two_comments(github: Forge) -> None:
    assert main(["comment", "results.json"]) == main(["comment", "results.json", "--name", "nightly"]) == 0
    assert [text.splitlines()[0] for text in github.comments.values()] == [
        MARKER,
        "<!-- personalens: nightly -->",
    ]


@pytest.mark.parametrize(("days", "old"), [(3, False), (45, True)])
def test_it_tells_the_age_of_the_baseline(
    github: Forge, capsys: pytest.CaptureFixture[str], days: int, old: bool
) -> None:
    made = datetime.now(UTC) - timedelta(days=days, hours=1)
    tested = Provenance(commit="ab" * 20, branch="main", committed=made.isoformat())
    results = rich_results(12).model_copy(update={"provenance": tested})
    write_atomically(Path("base.json"), baseline_of(results).text())
    assert main(["comment", "results.json", "--baseline", "base.json", "--max-age", "30"]) == 0
    (text,) = github.comments.values()
    assert f"commit ababababa of main, {made:%Y-%m-%d}, {days} days old" in text
    assert ("save a new one" in text) == old
    assert ("::warning title=personalens::" in capsys.readouterr().out) == old


def test_a_job_for_no_pull_request_writes_none(
    github: Forge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_REF", "refs/heads/main")
    assert main(["comment", "results.json"]) == 0
    assert "for no pull request" in capsys.readouterr().out
    assert github.requests == []


def test_a_server_that_is_down_for_a_moment_is_asked_again_but_a_comment_is_not_written_twice(
    github: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    github.refuse = {"GET": [502], "POST": [502]}
    assert main(["comment", "results.json"]) == 4
    assert [method for method, _ in github.requests] == ["GET", "GET", "POST"]
    assert "GitHub refused POST with 502" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_refused_is_told_in_one_line_without_the_token(
    github: Forge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*options: str) -> str:
        return refusal(capsys, "comment", "results.json", *options)

    github.refuse = {"POST": [403]}
    forbidden = told()
    assert "403 (Resource not accessible by integration)" in forbidden
    assert "permissions: pull-requests: write" in forbidden
    assert "s3cret" not in forbidden
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert "GitHub cannot be reached" in told()
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "GITHUB_TOKEN: not set" in told()
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "no CI service to comment with" in told()
    assert "--name: expected" in told("--name", "--> <script>")
