"""What the HTML report says of why points were lost, and of what was said before."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.reports.content.findings import command_line
from pytest_personalens.reports.html.page import html_page, write_html
from pytest_personalens.results.values.results import Provenance, read_results
from tests.support.browser import Page, address
from tests.support.repository import Repository
from tests.support.results.rich_results import HOSTILE, rich_results
from tests.support.scripted_agents import REASONS, TOLD_AGENTS

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_personalens.core.judging.verdict import ReasonCode
    from pytest_personalens.results.values.results import Results


@pytest.fixture(scope="module")
def compared() -> Results:
    return rich_results(40, compared=True)


@pytest.fixture(scope="module")
def file(compared: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reasons") / "report.html"
    write_html(compared, path)
    return path


def test_reasons_are_added_up_and_lead_to_their_dialogues(page: Page, file: Path, compared: Results) -> None:
    page.open(file)
    scored = [item.evaluation for item in compared.own if item.evaluation.scored]
    counts = Counter(c for e in scored for c in {r.code for v in e.verdicts for r in v.reasons})
    links = page.each(
        ".bars tr", "[e.querySelector('a').getAttribute('href'), e.querySelector('td').textContent]"
    )
    lost: tuple[ReasonCode, ...] = ("asks-known", "uses-stated", "ignores", "missing")
    assert dict(links) == {f"#reason={code}": str(counts[code]) for code in lost}
    for href, number in links:
        page.go(href)
        assert page.text("#count") == f"{number} of 40 dialogues"


def test_gates_and_wide_tables_on_a_phone(page: Page, file: Path, compared: Results) -> None:
    hint = "return document.querySelector('#changes .scroll').nextElementSibling.hidden"
    for width, hidden in ((1280, True), (390, False)):
        page.open(file, width=width)
        page.unfold()
        assert page.js(hint) is hidden
    page.js("const f = document.querySelector('#changes .scroll'); f.scrollLeft = f.scrollWidth")
    page.settle()
    assert page.js(hint) is True
    seen = page.text(".gates tbody")
    assert all(f"{gate.value:.2f}".lstrip("-") in seen for gate in compared.gates if gate.value is not None)
    assert all(page.each(".gates td", "e.getBoundingClientRect().right <= innerWidth"))


def test_rows_say_why_and_not_what_was_wanted(page: Page, file: Path, compared: Results) -> None:
    page.open(file, "#reason=asks-known")
    for words in page.texts("#rows .about"):
        assert "asks for Favourite Author (known: Jane Austen" in words
    task = compared.items[0]
    description = compared.scenarios[task.evaluation.scenario].task.description
    assert description not in page.text("#rows")
    assert page.js("return document.querySelector('#rows th[scope=row]').title") == description


@pytest.mark.slow
def test_then_and_now_part_where_the_dialogues_do(page: Page, file: Path, compared: Results) -> None:
    parted = [(i, i.earlier) for i in compared.own if i.earlier is not None and i.earlier.messages]
    assert parted
    for item, earlier in parted[:6]:
        then, now = earlier.messages, item.evaluation.dialogue.messages
        pairs = enumerate(zip(then, now, strict=False))
        first = next((n for n, (old, new) in pairs if old != new), min(len(then), len(now)))
        page.open(file, address(item.nodeid))
        bubbles = [m.content for m in then[first:]]
        assert page.texts(".then .bubble") == bubbles
        assert page.texts(".now .bubble") == [m.content for m in now[first:]]
        assert page.texts(".then .first-difference .bubble") == bubbles[:1]
        assert page.text(".then h3") == "Before (baseline)"
        assert page.each("details.lead", "e.open") == [False] * (first > 2), (
            "it opens where the dialogues part"
        )


@pytest.mark.slow
def test_runs_stand_side_by_side(page: Page, repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("--personalens-sample", "3", *TOLD_AGENTS, "--personalens-report")
    repo.write(conftest=REASONS)
    repo.inline(*args, "old.json").assert_outcomes(passed=3)
    monkeypatch.setenv("FORGETS", "1")
    repo.write(conftest=REASONS.replace("judge 1", "judge 2"))
    repo.inline(*args, "new.json").assert_outcomes(failed=3)
    made = repo.command("report", "new.json", "old.json", "--report", "page.html")
    assert made.ret == 0
    page.open(repo.path / "page.html")
    assert "Beside the earlier results" in page.text("#changes")
    page.click("#rows th a")
    assert page.texts(".then .bubble")[0] == "Your window seat is booked."
    assert page.texts(".now .bubble")[0].startswith("Gladly. Which seat")


@pytest.mark.slow
def test_trials_share_a_row_and_each_can_be_opened(page: Page, tmp_path: Path) -> None:
    page.show(results := rich_results(12, trials=3), tmp_path)
    assert page.text("#count") == "36 dialogues in 12 rows"
    assert len(page.texts("#rows tbody tr")) == 10, "the first rows, until somebody asks for all"
    page.click("#more")
    assert len(page.texts("#rows tbody tr")) == 12
    page.click("[data-sort=scenario]")
    signs = {"passed": "✓", "low": "✕", "uncounted": "\N{EN DASH}"}
    row = "#rows tbody tr:first-child"
    name, mean = page.text(f"{row} a"), page.texts(f"{row} td.num")[1]
    trials = page.each(f"{row} .trials a", "[e.firstChild.textContent, e.getAttribute('href')]")
    of_row = [item for item in results.items if item.evaluation.scenario == name]
    assert [sign for sign, _ in trials] == [signs[i.status] for i in sorted(of_row, key=lambda i: i.trial)]
    assert mean == f"{sum(i.evaluation.personalization or 0 for i in of_row) / 3:.2f}"
    page.go(trials[2][1])
    assert "trial 3" in page.text(".who")
    assert page.text(".place") == "1 of 12"


def test_what_was_tested_is_said_where_it_is_known() -> None:
    provenance = Provenance(
        project="shop/bot", branch="memory", commit="4f" * 20, committed="2026-11-22T10:00:00+00:00",
        pull_request="17", url="https://ci.example/run/3",
    )  # fmt: skip
    results = rich_results(3).model_copy(update={"provenance": provenance})
    tested = "".join(html_page(results)).partition('<p class="tested">')[2].partition("</p>")[0]
    words = re.sub(r"<[^>]+>", "", tested).split()
    assert " ".join(words) == "shop/bot #17 branch memory commit 4f4f4f4f4 of 2026-11-22 run in CI"
    hostile = Provenance(project=HOSTILE[0], url="javascript:alert(1)")
    page = "".join(html_page(results.model_copy(update={"provenance": hostile})))
    assert "javascript:" not in page
    assert HOSTILE[0] not in page
    assert '<p class="tested">' not in "".join(html_page(rich_results(3)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--personalens-gate", "tcr >= 0.5, Movies: p >= 2"],
        ["--personalens-trials", "2", "--personalens-control", "ablation,other-user"],
        ["-o", "personalens_threshold=tc=0,p=3", "--personalens-kind", "single"],
        ["--personalens-gate", "none", "-o", "personalens_max_turns=3"],
    ],
    ids=["plain", "gates", "controls", "thresholds", "report only"],
)
def test_the_command_line_asks_for_the_same_run(repo: Repository, options: list[str]) -> None:
    def results(words: list[str], name: str) -> Results:
        repo.inline("-q", *words, "--personalens-report", name)
        return read_results(repo.path / name)

    bot = "def personalens_assistant(personalens_context):\n    return lambda messages: 'I have booked it.'\n"
    repo.write(conftest=f"import pytest\n\n\n@pytest.fixture\n{bot}")
    first = results(["--personalens-sample", "4", *options], "first.json")
    command = shlex.split(command_line(first.settings, first.of_suite))
    assert command[0] == "pytest"
    second = results(command[1:], "second.json")
    assert second.settings == first.settings
    assert [i.nodeid for i in second.items] == [i.nodeid for i in first.items]


def test_the_command_of_a_dialogue_switches_gates_off_for_which_one_item_is_too_few() -> None:
    results = rich_results(2)
    gated = {"sample": 30, "gate": [["", "tcr", 0.5, ">=", "", ""]], "baseline": "main.json"}
    words = command_line(gated, results.of_suite, of_item=True)
    assert words == "pytest --personalens-sample 30 -o personalens_gate= -o personalens_baseline="
    assert "-o" not in command_line({"sample": 30}, results.of_suite, of_item=True)
