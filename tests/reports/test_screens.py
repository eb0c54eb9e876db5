"""What people read of runs that failed, whole, as golden files: terminal, Markdown, JUnit and page.

After a sentence was reworded on purpose: ``pytest tests/reports/test_screens.py --snapshot-update``, and read the diff.
"""

from __future__ import annotations

import html
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.results.values.results import write_json
from tests.reports.conftest import ARGS, forget_records
from tests.support.repository import Repository
from tests.support.results.rich_results import rich_results
from tests.support.scripted_agents import REASONS, TOLD_AGENTS, TOLD_ALONE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

GATE = ("--personalens-gate", "tcr >= 0.5, p >= 2.5")
EVERY = ("github", "run.md", "run.html", "results.json")
REPORTS = tuple(word for name in EVERY for word in ("--personalens-report", name))
#: What differs from machine to machine, or from release to release.
_VARIES = (
    (r"/[^\s:]*/test_\w+?\d/", ""),
    (r"\d+\.\d+s\b", "0.00s"),
    (r"embedded \d+\.\d+", "embedded X.Y"),
    (r"pytest-personalens [\w.+]+", "pytest-personalens X"),
)


def same(text: str) -> str:
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text)
    return text


def screen(result: pytest.RunResult) -> str:
    """The terminal from the failures on, or from our section on where nothing failed."""
    lines = [line.rstrip() for line in result.outlines]
    begin = next(n for n, line in enumerate(lines) if "= FAILURES =" in line or "= personalens =" in line)
    return same("\n".join(line for line in lines[begin:] if "generated xml file" not in line))


def page_text(path: Path) -> str:
    """The words of a page up to its table, a line for each element."""
    body = path.read_text(encoding="utf-8").partition("<main>")[2].partition('<section id="figures"')[0]
    body = re.sub(r"<svg.*?</svg>|<form.*?</form>", "", body, flags=re.DOTALL)
    lines = (re.sub(r"<[^>]+>", " ", line) for line in body.splitlines())
    words = (" ".join(html.unescape(line).split()) for line in lines)
    return same("\n".join(filter(None, words)))


def markdown(path: Path) -> str:
    """The report up to its list of all dialogues."""
    return same(path.read_text(encoding="utf-8").partition("<details><summary>Failed, below")[0])


def told(repo: Repository, *args: str, page: bool = False) -> dict[str, str]:
    """What a run with all reports says."""
    result = repo.inline(*args, *REPORTS, "--junitxml", "junit.xml")
    shown = {"terminal": screen(result), "markdown": markdown(repo.path / "run.md")}
    cases = ET.parse(repo.path / "junit.xml").iter("failure")
    shown["junit"] = same("\n\n".join(case.attrib["message"] for case in cases))
    return shown | ({"page": page_text(repo.path / "run.html")} if page else {})


def test_a_red_gate(bot: Repository, snapshot: SnapshotAssertion) -> None:
    shown = told(bot, *ARGS, *GATE)
    assert shown == snapshot
    lines = shown["terminal"].splitlines()
    command = next(line for line in lines if line.startswith("again:")).split("pytest ", 1)[1]
    bot.inline(*shlex.split(command)).assert_outcomes(failed=2)


def test_a_drop_from_the_baseline(bot: Repository, snapshot: SnapshotAssertion) -> None:
    assert told(bot, *ARGS, *GATE, "--personalens-baseline", "base.json", page=True) == snapshot


def test_items_that_no_gate_decides_about(bot: Repository, snapshot: SnapshotAssertion) -> None:
    assert told(bot, *ARGS[:1], "7", *TOLD_AGENTS) == snapshot


def test_report_only(bot: Repository, snapshot: SnapshotAssertion) -> None:
    assert told(bot, *ARGS, "--personalens-gate", "none") == snapshot


BOOKED = 'return Verdict(dimension=dimension, score=1, justification="booked")'
DONE = """return Verdict(dimension=dimension, score=0, justification="not reached", reasons=(
                Reason(code="done", part="a seat", turn=1), Reason(code="done", part="its price")))"""


@pytest.mark.parametrize("silent", ["1", ""], ids=["without reasons", "all parts done"])
def test_what_a_judge_says(
    bot: Repository, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion, silent: str
) -> None:
    """One without reasons is quoted; and a task whose parts are all done."""
    monkeypatch.setenv("SILENT", silent)
    bot.write(conftest=REASONS if silent else REASONS.replace(BOOKED, DONE))
    forget_records(bot)
    assert told(bot, *ARGS, *GATE) == snapshot


#: Another user or judge -> what is replaced in the agents, and options.
SCENES: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "a goodbye cost nothing": (
        (
            ("() if os.environ", "() if True or os.environ"),
            ("evidence=(Evidence.of(1, dialogue.messages[1].content),),", ""),
            ('"Thank you, bye.", done=bool(transcript)', '("Bye.", "And row 3, please.")[len(transcript) < 3], done=len(transcript) > 2'),
        ),
        GATE,
    ),
    "a score that fell, with what was known": (
        (
            ('"asks-known"', '"contradicts"'), ('"window"', '"another"'), ('"Movies"', "next(iter(scenario.preferences))"),
            ('"Seat Type"', "next(iter(next(iter(scenario.preferences.values()))))"),
        ),
        ("--personalens-baseline", "base.json", "-v"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene(bot: Repository, snapshot: SnapshotAssertion, scene: str) -> None:
    """What is shown though no report is written."""
    agents, (changes, options) = REASONS, SCENES[scene]
    for old, new in changes:
        agents = agents.replace(old, new)
    bot.write(conftest=agents)
    forget_records(bot)
    assert screen(bot.inline(*ARGS[:1], "4", *TOLD_AGENTS, *options)) == snapshot


#: What pytest shows of failures, by its own options: the size of the sample, and the options.
SHOWN = {
    "in colour": ("1", "--color=yes"),
    "short": ("2", "--tb=short"),
    "line": ("2", "--tb=line"),
    "no": ("2", "--tb=no"),
    "verbose": ("1", "-v"),
    "a gate, short": ("12", "--tb=short", *GATE),
    "a gate, line": ("12", "--tb=line", *GATE),
    "a gate, verbose": ("1", "--personalens-gate", "tcr >= 0", "-v"),
}


def failures(result: pytest.RunResult) -> str:
    """What pytest shows of each item and gate, and of those that failed, without its own headings."""
    lines = [line.rstrip().replace("\x1b", "^") for line in result.outlines]
    end = next(n for n, line in enumerate(lines) if "= personalens =" in line)
    begin = next((n for n, line in enumerate(lines) if "= FAILURES =" in line), end)
    ended = [line for line in lines[:begin] if " PASSED" in line or " FAILED" in line]
    return same("\n".join([*ended, *(line for line in lines[begin + 1 : end] if "____" not in line)]))


def test_options_of_pytest(bot: Repository, snapshot: SnapshotAssertion) -> None:
    run = {name: bot.inline("--personalens-sample", *args, *TOLD_AGENTS) for name, args in SHOWN.items()}
    assert {name: failures(result) for name, result in run.items()} == snapshot


def test_the_same_fault_of_each_item(bot: Repository, snapshot: SnapshotAssertion) -> None:
    bot.write(conftest=REASONS.replace("ASKS if os", "{}['user'] if os"))
    assert screen(bot.inline(*ARGS[:1], "3", *TOLD_AGENTS)) == snapshot


CRASHES = """
    import itertools

    @pytest.fixture(scope="session")
    def personalens_assistant():
        number = itertools.count()

        def reply(messages):
            n = next(number)
            if n < 6:
                raise KeyError("user")
            if n < 8:
                raise TimeoutError(f"no answer to call {n}")
            return None if n == 8 else "fine"

        return reply
"""


def test_an_assistant_that_crashes(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repo.path / "summary.md"))
    repo.write(conftest=TOLD_ALONE + CRASHES)
    assert told(repo, *ARGS, "--personalens-gate", "tcr >= 0", page=True) == snapshot


@pytest.mark.parametrize("beside", [False, True], ids=["one run", "beside another"])
def test_stored_results(repo: Repository, snapshot: SnapshotAssertion, beside: bool) -> None:
    """Trials, controls, a comparison and every kind of loss; and two runs with another context."""
    made = rich_results(12, trials=2, controls=("none", "swapped"), compared=not beside)
    write_json(made.model_copy(update={"gates": ()} if beside else {}), repo.path / "now.json")
    then = rich_results(10, seed="then")
    other = then.model_copy(update={"settings": {**then.settings, "context": "none"}, "gates": ()})
    write_json(other, repo.path / "then.json")
    files = ("now.json", "then.json") if beside else ("now.json",)
    shown = {"terminal": same(str(repo.command("report", *files).stdout))}
    repo.command("report", *files, "--report", "run.html", "--report", "run.md")
    shown["page"] = page_text(repo.path / "run.html")
    assert shown | {"markdown": markdown(repo.path / "run.md")} == snapshot
