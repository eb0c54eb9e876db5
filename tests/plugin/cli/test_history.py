"""``personalens history``: the order, what keeps runs from being compared, the page, the badge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from pytest_personalens.cli.command import main
from pytest_personalens.results.summary import summarize
from pytest_personalens.results.values.provenance import Provenance
from pytest_personalens.results.values.results import Results, write_json
from tests.support.browser import Page, axe_source
from tests.support.processes.commands import refusal
from tests.support.results.rich_results import rich_results


def of_commit(results: Results, day: int, **facts: Any) -> Results:
    """The results as of the commit of a day of 2026-11."""
    known = {"project": "acme/bot", "branch": "main", "commit": f"{day:040}", **facts}
    committed = facts.get("committed", f"2026-11-{day:02}T10:00:00+00:00")
    return results.model_copy(update={"provenance": Provenance(**{**known, "committed": committed})})


def judged_by(results: Results, judge: str) -> Results:
    items = [
        item.model_copy(update={"evaluation": item.evaluation.model_copy(update={"judge": judge})})
        for item in results.items
    ]
    return results.model_copy(update={"items": tuple(items)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four runs whose files stand in another order than their commits, and a file that is no run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    passed, failed = rich_results(30, floor=1.5), rich_results(30, floor=3.9)
    for name, results in {
        "d": of_commit(passed, 1),
        "c": of_commit(failed, 2),
        "b": of_commit(judged_by(passed, "embedded-judge 9"), 3),
        "a": of_commit(rich_results(20, floor=1.5), 4, branch="other"),
    }.items():
        write_json(results, tmp_path / "runs" / f"{name}.json")
    (tmp_path / "runs" / "notes.json").write_text("{}")
    return tmp_path


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("2026-")]


def test_runs_stand_in_the_order_of_their_commits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "runs"]) == 0
    told = capsys.readouterr().out
    assert [row[:10] for row in rows(told)] == [f"2026-11-0{day}" for day in (1, 2, 3, 4)]
    assert "FAILED: p" in rows(told)[1]
    assert "passed" in rows(told)[0]


def test_means_and_intervals_are_those_of_the_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = rich_results(30, floor=1.5)
    assert main(["history", "runs/d.json"]) == 0
    (row,) = rows(capsys.readouterr().out)
    for gate in results.gates[:2]:
        assert f"{gate.value:.2f} ({gate.low:.2f} to {gate.high:.2f})" in row


def test_another_judge_ends_what_can_be_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "runs", "--report", "page.html"]) == 0
    told = capsys.readouterr().out
    assert "not comparable with the runs above: the judge: embedded-judge 2 -> embedded-judge 9" in told
    assert "changed: the sample: 30 scenarios -> 20 scenarios" in told
    page = Path("page.html").read_text(encoding="utf-8")
    lines = re.findall(r'<polyline class="tc" points="([^"]*)"/>', page)
    # The third run is joined to the fourth by none of its terms: that one has the first judge again.
    assert [len(line.split()) for line in lines] == [2]
    assert page.count('class="break"') == 2 * 2


def test_a_stopped_run_is_no_point_of_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = rich_results(30)
    facts: dict[str, Any] = {
        "settings": whole.settings,
        "dataset": whole.dataset,
        "requested": 30,
        "drawn": 30,
    }
    stopped = summarize(whole.items[:4], **facts, complete=False)
    write_json(of_commit(stopped, 5), Path("stopped.json"))
    assert main(["history", "runs/d.json", "stopped.json", "--report", "page.html", "--badge", "b.svg"]) == 0
    assert "not decided: a part of the run" in rows(capsys.readouterr().out)[-1]
    assert '<polyline class="tc"' not in Path("page.html").read_text(encoding="utf-8")
    assert "not decided" in Path("b.svg").read_text(encoding="utf-8")


def test_one_branch(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "runs", "--branch", "other"]) == 0
    assert len(rows(capsys.readouterr().out)) == 1
    assert "no run of 'nowhere'" in refusal(capsys, "history", "runs", "--branch", "nowhere")


def test_without_dates_the_files_give_the_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(rich_results(12), Path("undated.json"))
    assert main(["history", "runs/b.json", "undated.json", "runs/d.json"]) == 0
    told = capsys.readouterr().out
    assert [row[:10] for row in rows(told)] == ["2026-11-03", "2026-11-01"]
    assert "in the order of the files" in told


def test_a_page_in_a_browser(folder: Path, page: Page) -> None:
    assert main(["history", "runs", "--report", "page.html"]) == 0
    for dark in (False, True):
        page.open(folder / "page.html", dark=dark)
        assert page.faults(axe_source()) == []
        assert page.console() == []
    page.open(folder / "page.html", width=390)
    places = page.js(
        "return [...document.querySelectorAll('.lines .dot, .lines .cross')].map((e) => e.getBoundingClientRect().x)"
    )
    assert min(places) < 0 < max(places) < 390, "of the lines, the end is seen first"


def test_what_a_file_says_is_no_markup(folder: Path) -> None:
    hostile = "<script>window.pwned=1</script>"
    bad = of_commit(
        rich_results(12, hostile=True), 6, branch=hostile, project=hostile, url="javascript:alert(1)"
    )
    write_json(bad, Path("bad.json"))
    arguments = ["history", "bad.json", "runs/d.json", "--report", "page.html", "--report", "table.md"]
    assert main(arguments) == 0
    assert "<script" not in Path("page.html").read_text(encoding="utf-8")
    assert "javascript:" not in Path("page.html").read_text(encoding="utf-8")
    assert "<script" not in Path("table.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("floor", "colour", "outcome"), [(1.5, "#14692f", "gates passed"), (3.9, "#b0261c", "gates failed")]
)
def test_the_badge_tells_the_last_run(folder: Path, floor: float, colour: str, outcome: str) -> None:
    results = rich_results(30, floor=floor)
    write_json(of_commit(results, 9), Path("last.json"))
    assert main(["history", "runs", "last.json", "--badge", "badge.svg"]) == 0
    root = ET.parse("badge.svg").getroot()
    means = [gate.value for gate in results.gates[:2]]
    assert root.attrib["aria-label"] == f"personalens: TCR {means[0]:.2f} · P {means[1]:.2f}, {outcome}"
    assert colour in Path("badge.svg").read_text(encoding="utf-8")
    assert main(["history", "runs", "--badge", "badge.svg"]) == 0, "a badge of ours is replaced"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["missing.json"], "cannot be read"),
        (["."], "no results file is in this folder"),
        (["shard.json"], "holds shard 1 of 3 alone"),
        (["runs", "--badge", "mine.svg"], "was not written by this plugin"),
        (["runs", "--report", "runs/a.json"], "expected a path that ends in"),
        (["runs", "--badge", "runs/a.json"], "would be replaced"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    told: str,
) -> None:
    (folder / "empty").mkdir()
    shard = rich_results(12)
    shard = shard.model_copy(update={"settings": {**shard.settings, "shard": [1, 3]}, "gates": ()})
    write_json(shard, Path("shard.json"))
    Path("mine.svg").write_text("<svg/>", encoding="utf-8")
    if arguments == ["."]:
        monkeypatch.chdir(folder / "empty")
    assert told in refusal(capsys, "history", *arguments)
