"""What a run leaves behind, through its options: each report fails alone, none changes another, and workers
change nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "6", *TOLD_AGENTS, "--personalens-gate", "tcr >= 0.9")
ALL = ("--personalens-report=out/r.json", "--personalens-report=out/r.html", "--personalens-report=out/r.md")


def low(repo: Repository) -> str:
    scenario = repo.inline(*ARGS, "--collect-only", "-q").outlines[0].partition("[")[2].rstrip("]")
    (repo.path / "low.txt").write_text(f"tc:{scenario}")
    return scenario


@pytest.mark.slow
def test_every_report_is_written_and_equal_with_workers(told: Repository) -> None:
    low(told)
    result = told.run(*ARGS, *ALL)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["results: *r.json", "summary: *r.md", "report: *r.html"])
    first = {name: (told.path / "out" / name).read_bytes() for name in ("r.json", "r.html", "r.md")}
    assert told.run(*ARGS, *ALL, "-n", "2").ret == 1
    assert {name: (told.path / "out" / name).read_bytes() for name in first} == first
    assert b"\n\n**TCR 0.83, P 4.00**\n" in first["r.md"], "no score is folded"
    for name in first:
        (told.path / "out" / name).unlink()
    alone = told.inline(*ARGS, "--personalens-report", "out/r.md")
    assert alone.ret == 1
    assert (told.path / "out" / "r.md").read_bytes() == first["r.md"]


def test_stored_results_give_the_same_reports(told: Repository) -> None:
    low(told)
    told.run(*ARGS, *ALL)
    again = told.command("report", "out/r.json", "--report", "again.html", "--report", "again.md")
    assert again.ret == 0
    assert (told.path / "again.html").read_bytes() == (told.path / "out" / "r.html").read_bytes()
    assert (told.path / "again.md").read_bytes() == (told.path / "out" / "r.md").read_bytes()


@pytest.mark.slow
def test_shards_give_the_reports_of_the_whole(told: Repository) -> None:
    low(told)
    told.run(*ARGS, *ALL)
    for number in (1, 2):
        told.inline(*ARGS, "--personalens-shard", f"{number}/2", "--personalens-report", f"{number}.json")
    merged = told.command("merge", "1.json", "2.json", "--report", "m.html", "--report", "m.md")
    assert merged.ret == 1
    assert (told.path / "m.html").read_bytes() == (told.path / "out" / "r.html").read_bytes()
    assert (told.path / "m.md").read_bytes() == (told.path / "out" / "r.md").read_bytes()


@pytest.mark.slow
def test_a_merged_report_that_cannot_be_written_takes_no_other_with_it(told: Repository) -> None:
    for number in (1, 2):
        told.inline(*ARGS, "--personalens-shard", f"{number}/2", "--personalens-report", f"{number}.json")
    full = "/proc/full.md"
    files = ("--report", "out/m.json", "--report", full, "--report", "out/m.html")
    merged = assert_usage_error(
        told.command("merge", "1.json", "2.json", *files), f"error: summary could not be written to {full}: *"
    )
    merged.stdout.fnmatch_lines(["overall *", "results: out/m.json", "report: out/m.html"])
    assert_usage_error(
        told.command("report", "out/m.json", "--report", full, "--report", "made/again.html"),
        f"error: summary could not be written to {full}: *",
    )
    assert (told.path / "made" / "again.html").read_bytes() == (told.path / "out" / "m.html").read_bytes()
    piped = told.command("report", "out/m.json", "--report", "-", "--report", "again.html")
    assert piped.outlines[0].startswith("#")
    assert piped.errlines == ["report: again.html"]


@pytest.mark.parametrize(("ending", "name"), [("md", "summary"), ("json", "results")])
def test_a_report_that_cannot_be_written_is_told_and_takes_no_other_with_it(
    told: Repository, ending: str, name: str
) -> None:
    make = f"pathlib.Path('out/r.{ending}').mkdir(parents=True, exist_ok=True)"
    told.write(conftest=TOLD + f"\n    def pytest_collection_finish():\n        {make}\n")
    result = told.run(*ARGS, *ALL)
    assert result.ret == 3
    result.stdout.fnmatch_lines([f"{name} could not be written to *r.{ending}: a folder"])
    written = {path.name for path in (told.path / "out").iterdir() if path.is_file()}
    assert written == {"r.json", "r.html", "r.md"} - {f"r.{ending}"}


@pytest.mark.parametrize("ending", ["json", "html", "md"])
def test_a_path_that_cannot_be_is_told_before_the_run(told: Repository, ending: str) -> None:
    (told.path / "taken").write_text("a file")
    (told.path / f"folder.{ending}").mkdir()
    for path, problem in (
        (f"folder.{ending}", "*is a folder; give the path of a file"),
        (f"taken/x.{ending}", "cannot write to *taken: *"),
    ):
        assert_usage_error(
            told.inline(*ARGS, "--personalens-report", path), f"ERROR: --personalens-report: {problem}"
        )


def test_github_gets_a_summary(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = low(told)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert_usage_error(
        told.inline(*ARGS, "--personalens-report", "github"),
        "ERROR: --personalens-report: GITHUB_STEP_SUMMARY: not set: *elsewhere give PATH.md",
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(told.path / "step.md"))
    Path(told.path / "step.md").write_text("before\n", encoding="utf-8")
    result = told.run(*ARGS, "--personalens-report", "github", "-n", "2")
    assert result.ret == 1
    assert "::error" not in result.stdout.str()
    summary = (told.path / "step.md").read_text()
    assert summary.startswith("before\n")
    assert scenario in summary


def test_a_plain_run_with_gates_in_its_configuration_loads_nothing_heavy(told: Repository) -> None:
    (told.path / "pytest.ini").write_text(
        "[pytest]\npersonalens_gate = tcr >= 0.9\npersonalens_threshold = p>=2\npersonalens_baseline = none.json\npersonalens_report = r.html\n"
    )
    told.write(
        conftest="",
        test_bot="import sys\n\n\ndef test_plain():\n    assert not {'pydantic', 'jinja2', 'boto3'} & sys.modules.keys()\n",
    )
    assert told.run_fresh().ret == 0
