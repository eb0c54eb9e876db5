"""What a run leaves behind, through its options: each report fails alone, none changes another, and workers
change nothing.
"""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ET
import zlib

import pytest

from tests.support.processes.runs import (
    assert_ended,
    assert_usage_error,
    collect_ids,
    merge_shards,
    run_shards,
)
from tests.support.repository import Repository
from tests.support.scripted_agents import ACTING, MODELS, PAID, TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "6", *TOLD_AGENTS, "--personalens-gate", "tcr >= 0.9")
ALL = ("--personalens-report=out/r.json", "--personalens-report=out/r.html", "--personalens-report=out/r.md")


def low(repo: Repository) -> str:
    scenario = collect_ids(repo, *ARGS)[0]
    (repo.path / "low.txt").write_text(f"tc:{scenario}")
    return scenario


def test_reports_are_equal_from_workers_from_stored_results_and_from_shards(told: Repository) -> None:
    def read(*names: str) -> list[bytes]:
        return [(told.path / name).read_bytes() for name in names]

    low(told)
    lines = ("results: *r.json", "summary: *r.md", "report: *r.html")
    assert_ended(told.run(*ARGS, *ALL), 1, *lines)
    results, page, text = read("out/r.json", "out/r.html", "out/r.md")
    assert b"\n\n**TCR 0.83, P 4.00**\n" in text, "no score is folded"
    assert told.run(*ARGS, *ALL, "-n", "2").ret == 1
    assert read("out/r.json", "out/r.html", "out/r.md") == [results, page, text]
    assert told.inline(*ARGS, "--personalens-report", "alone.md").ret == 1
    assert told.command("report", "out/r.json", "--report", "again.html", "--report", "again.md").ret == 0
    run_shards(told, 2, *ARGS)
    assert merge_shards(told, "--report", "merged.html", "--report", "merged.md").ret == 1
    assert read("again.html", "merged.html") == [page] * 2
    assert read("alone.md", "again.md", "merged.md") == [text] * 3


@pytest.mark.slow
def test_a_merged_report_that_cannot_be_written_takes_no_other_with_it(told: Repository) -> None:
    run_shards(told, 2, *ARGS)
    full = "/proc/full.md"
    files = ("--report", "out/m.json", "--report", full, "--report", "out/m.html")
    unwritten = f"error: summary could not be written to {full}: *"
    merged = assert_usage_error(merge_shards(told, *files), unwritten)
    merged.stdout.fnmatch_lines(["overall *", "results: out/m.json", "report: out/m.html"])
    again = ("report", "out/m.json", "--report", full, "--report", "made/again.html")
    assert_usage_error(told.command(*again), unwritten)
    assert (told.path / "made" / "again.html").read_bytes() == (told.path / "out" / "m.html").read_bytes()
    piped = told.command("report", "out/m.json", "--report", "-", "--report", "again.html")
    assert piped.outlines[0].startswith("#")
    assert piped.errlines == ["report: again.html"]


@pytest.mark.parametrize(("ending", "name"), [("md", "summary"), ("json", "results")])
def test_a_report_that_cannot_be_written_fails_alone(told: Repository, ending: str, name: str) -> None:
    make = f"pathlib.Path('out/r.{ending}').mkdir(parents=True, exist_ok=True)"
    told.write(conftest=TOLD + f"\n    def pytest_collection_finish():\n        {make}\n")
    assert_ended(told.run(*ARGS, *ALL), 3, f"{name} could not be written to *r.{ending}: a folder")
    written = {path.name for path in (told.path / "out").iterdir() if path.is_file()}
    assert written == {"r.json", "r.html", "r.md"} - {f"r.{ending}"}
    assert (told.path / "out" / f"r.{ending}").is_dir(), "what came into the way stays"


@pytest.mark.parametrize("ending", ["json", "html", "md"])
def test_a_path_that_cannot_be_is_told_before_the_run(told: Repository, ending: str) -> None:
    (told.path / "taken").write_text("a file")
    (told.path / f"folder.{ending}").mkdir()
    for path, problem in (
        (f"folder.{ending}", "*is a folder; give *"),
        (f"taken/x.{ending}", "cannot write to *taken: *"),
    ):
        result = told.inline(*ARGS, "--personalens-report", path)
        assert_usage_error(result, f"ERROR: --personalens-report: {problem}")


def test_github_gets_a_summary(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = low(told)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    unset = "ERROR: --personalens-report: GITHUB_STEP_SUMMARY: not set: *elsewhere give PATH.md"
    assert_usage_error(told.inline(*ARGS, "--personalens-report", "github"), unset)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(told.path / "step.md"))
    (told.path / "step.md").write_text("before\n", encoding="utf-8")
    result = told.run(*ARGS, "--personalens-report", "github", "-n", "2")
    assert result.ret == 1
    assert "::error" not in result.stdout.str()
    summary = (told.path / "step.md").read_text()
    assert summary.startswith("before\n")
    assert scenario in summary


def test_a_plain_run_with_gates_in_its_configuration_loads_nothing_heavy(told: Repository) -> None:
    settings = ("gate = tcr >= 0.9", "threshold = p>=2", "baseline = none.json", "report = r.html")
    ini = "\n".join(f"personalens_{setting}" for setting in settings)
    (told.path / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
    nothing = "assert not {'pydantic', 'jinja2', 'boto3'} & sys.modules.keys()"
    told.write(conftest="", test_bot=f"import sys\n\n\ndef test_plain():\n    {nothing}\n")
    assert told.run_fresh().ret == 0


NASTY = "\x1b[31mred\n::error::x</script>" + "y" * 900


def test_tool_calls_are_shown_inert_and_counted(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLS", str(repo.path / "calls.log"))
    monkeypatch.setenv("RESULT", NASTY)
    outputs = ("--personalens-report=page.html", "--personalens-report=summary.md", "--junitxml=junit.xml")
    run = (*MODELS, "--personalens-sample=2", "--personalens-record=live", *outputs)
    repo.write(conftest=ACTING.replace("score=dimension.scale.high", "score=dimension.scale.low"))
    screen = repo.inline(*run).stdout.str()
    assert "\x1b[31mred" not in screen
    # Where a line is broken depends on the terminal.
    unbroken = re.sub(r"\s+", "", screen)
    assert re.search(
        r"calledbook\(people=2\)->\\x1b\[31mred\\n::error::x</script>y+\.\.\.1assistantanswer1", unbroken
    )
    assert "y" * 400 not in unbroken
    assert "tool calls: 6 in 2 of 2 dialogues" in (repo.path / "summary.md").read_text()
    properties = ET.parse(repo.path / "junit.xml").iter("property")
    counts = [p.attrib["value"] for p in properties if p.attrib["name"] == "personalens_tool_calls"]
    assert counts == ["3", "3"]
    page = (repo.path / "page.html").read_text(encoding="utf-8")
    packed = page.partition('<script type="text/plain" id="dialogues">')[2].partition("</script>")[0]
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    who, text, calls = data["items"][0]["messages"][1]
    assert (who, data["texts"][text]) == (1, "answer 1")
    assert [[data["texts"][n] for n in call] for call in calls] == [["book(people=2)", NASTY]]
    repo.write(conftest=PAID)
    repo.inline(*run)
    assert "tool calls" not in (repo.path / "summary.md").read_text()
    assert "personalens_tool_calls" not in (repo.path / "junit.xml").read_text()


def test_scenarios_and_gates_are_tests_of_pytest_json_ctrf(told: Repository) -> None:
    pytest.importorskip("ctrf", reason="pytest-json-ctrf is a development dependency")
    gates = ("--personalens-gate", "p >= 4, tcr >= 0.9")
    scenario = low(told)
    told.run(*ARGS[:-2], *gates, "-o", "personalens_threshold=tc>=0", "--ctrf", "ctrf.json")
    tests = told.results("ctrf.json")["results"]["tests"]
    found = {test["name"].rpartition("::")[2]: test["status"] for test in tests}
    ended = {"gate[p]": "passed", "gate[tcr]": "failed", "gate[valid]": "passed"}
    assert {name: status for name, status in found.items() if "gate[" in name} == ended
    assert len(found) == 9
    assert any(scenario in name for name in found)
