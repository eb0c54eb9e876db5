"""``personalens comment``: one comment on a pull request, against a server that plays GitHub and GitLab."""

from __future__ import annotations

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

Captured = pytest.CaptureFixture[str]
MARKER = "<!-- personalens: run -->"


#: The variables of each service's jobs.
JOBS = {
    "github": {"GITHUB_ACTIONS": "true", "GITHUB_API_URL": "", "GITHUB_REPOSITORY": "acme/bot", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_TOKEN": "s3cret"},
    "gitlab": {"GITLAB_CI": "true", "CI_API_V4_URL": "", "CI_PROJECT_ID": "42", "CI_MERGE_REQUEST_IID": "7", "PERSONALENS_GITLAB_TOKEN": "s3cret"},
}  # fmt: skip


@pytest.fixture
def service(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_ci: None
) -> Iterator[Forge]:
    """The server of a job for a pull request, on GitHub unless the test's parameter says otherwise, and results."""
    monkeypatch.chdir(tmp_path)
    write_json(rich_results(12), Path("results.json"))
    with forge() as server:
        for name, value in JOBS[getattr(request, "param", "github")].items():
            monkeypatch.setenv(name, value or server.url)
        yield server


@pytest.mark.parametrize("service", JOBS, indirect=True)
def test_the_first_run_writes_and_the_next_updates(service: Forge, capsys: Captured) -> None:
    others = dict.fromkeys(range(1, 131), "Hm.") | {2: f"Quoted: {MARKER}"}
    service.comments = dict(others)
    assert main(["comment", "results.json"]) == 0
    assert capsys.readouterr().out == "comment: written\n"
    assert service.comments[131].startswith(f"{MARKER}\n## ")
    write_json(rich_results(20), Path("results.json"))
    assert main(["comment", "results.json"]) == 0
    assert capsys.readouterr().out == "comment: updated\n"
    assert len(service.comments) == 131
    assert "20 items" in service.comments[131] or "20 of 20" in service.comments[131]


def test_two_jobs_have_two_comments(service: Forge) -> None:
    assert main(["comment", "results.json"]) == main(["comment", "results.json", "--name", "nightly"]) == 0
    heads = [text.splitlines()[0] for text in service.comments.values()]
    assert heads == [MARKER, "<!-- personalens: nightly -->"]


@pytest.mark.parametrize(("days", "old"), [(3, False), (45, True)])
def test_it_tells_the_age_of_the_baseline(service: Forge, capsys: Captured, days: int, old: bool) -> None:
    made = datetime.now(UTC) - timedelta(days=days, hours=1)
    tested = Provenance(commit="ab" * 20, branch="main", committed=made.isoformat())
    results = rich_results(12).model_copy(update={"provenance": tested})
    write_atomically(Path("base.json"), baseline_of(results).text())
    assert main(["comment", "results.json", "--baseline", "base.json", "--max-age", "30"]) == 0
    (text,) = service.comments.values()
    assert f"commit ababababa of main, {made:%Y-%m-%d}, {days} days old" in text
    assert ("save a new one" in text) == old
    assert ("::warning title=personalens::" in capsys.readouterr().out) == old


def test_a_job_for_no_pull_request(service: Forge, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("GITHUB_REF", "refs/heads/main")
    assert main(["comment", "results.json"]) == 0
    assert "for no pull request" in capsys.readouterr().out
    assert service.requests == []


def test_a_server_that_is_down_gets_no_comment_twice(service: Forge, capsys: Captured) -> None:
    service.refuse = {"GET": [502], "POST": [502]}
    assert main(["comment", "results.json"]) == 4
    assert [method for method, _ in service.requests] == ["GET", "GET", "POST"]
    assert "GitHub refused POST with 502" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_refused(service: Forge, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    service.refuse = {"POST": [403]}
    forbidden = refusal(capsys, "comment", "results.json")
    assert "403 (Resource not accessible by integration)" in forbidden
    assert "permissions: pull-requests: write" in forbidden
    assert "s3cret" not in forbidden
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert "GitHub cannot be reached" in refusal(capsys, "comment", "results.json")
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "GITHUB_TOKEN: not set" in refusal(capsys, "comment", "results.json")
