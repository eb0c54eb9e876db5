"""A gate or an item that failed says why, for whom, and what to do next."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import REASONS, TOLD_AGENTS

ARGS = ("--personalens-sample", "12", *TOLD_AGENTS)
GATE = ("--personalens-gate", "tcr >= 0.5, p >= 2.5")


@pytest.fixture
def bot(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with records of a bot that knows its users, and forgets them from now on."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("CI", "BUILD_NUMBER", "FORGETS", "SILENT"):
        monkeypatch.delenv(name, raising=False)
    repo.write(conftest=REASONS)
    repo.inline(*ARGS, "--personalens-record", "new").assert_outcomes(passed=12)
    monkeypatch.setenv("FORGETS", "1")
    return repo


def end_of(result: pytest.RunResult) -> list[str]:
    """The lines from the failures on."""
    lines = [*result.outlines]
    return lines[next(n for n, line in enumerate(lines) if "= FAILURES =" in line) :]


def test_the_command_of_a_red_gate_leaves_out_the_gates_of_the_configuration(bot: Repository) -> None:
    (bot.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = p >= 3\n")
    result = bot.inline(*ARGS, "-o", "personalens_threshold=p=1")
    command = next(line for line in result.outlines if line.startswith("again:")).split("pytest ", 1)[1]
    assert "personalens_gate=" in shlex.split(command)
    bot.inline(*shlex.split(command)).assert_outcomes(
        failed=2
    )  # though their scores pass the run's threshold


def test_a_goodbye_cost_nothing(bot: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILENT", "1")
    quoted = "evidence=(Evidence.of(1, dialogue.messages[1].content),),"
    ends = '"Thank you, bye.", done=bool(transcript)'
    bot.write(
        conftest=REASONS.replace(quoted, "").replace(
            ends, '("Bye.", "And row 3, please.")[len(transcript) < 3], done=len(transcript) > 2'
        )
    )
    for file in bot.path.glob("__personalens__/**/*.json"):
        file.unlink()
    result = bot.inline(*ARGS, *GATE)
    result.stdout.fnmatch_lines(["      user *And row 3, please.", "    + now  Your window seat is booked."])
    assert not any(line == "      user Bye." for line in result.outlines)


@pytest.mark.parametrize("width", [80, 140])
def test_a_failing_item_fits_the_terminal(
    bot: Repository, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = end_of(bot.inline(*ARGS))
    assert max(len(line) for line in lines if not line.startswith("again:")) <= width
    assert any(len(line) > width - 20 for line in lines if line.startswith(("goal:", "wants:", "        ")))


def test_a_failing_item_obeys_tb_also_in_a_worker(bot: Repository) -> None:
    short = bot.run(*ARGS[:1], "2", *TOLD_AGENTS, "-n", "1", "--tb=short")
    short.stdout.fnmatch_lines(
        [
            "test_bot.py:3: Failed",
            "E   personalization 1, below the required 2: *",
            "",
            "     0 user *",
            "again: *",
        ]
    )
    assert not any(line.startswith("wants:") for line in short.outlines)


def test_merged_shards_say_why_a_gate_failed(bot: Repository) -> None:
    files = [f"{number}.json" for number in (1, 2)]
    for number, file in enumerate(files, 1):
        bot.inline(*ARGS, *GATE, f"--personalens-shard={number}/2", "--personalens-report", file)
    result = bot.command("merge", *files)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gate p:", "E   Personalization is 1.00, *", "    + now  Gladly. *"])


def test_too_few_scenarios_are_not_told_as_a_drop(bot: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    few = (*ARGS[:1], "3", *TOLD_AGENTS)
    monkeypatch.delenv("FORGETS")
    bot.inline(*few, "--personalens-save-baseline", "base.json")
    result = bot.inline(*few, "--personalens-baseline", "base.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["E   P 3.00 -> 3.00 * over 3 scenarios:*"])
    assert "fell from" not in result.stdout.str() and "rose from" not in result.stdout.str()


def test_a_score_that_fell_is_told_with_what_was_known_though_no_report_is_written(
    bot: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORGETS")
    bot.inline(*ARGS, "--personalens-save-baseline", "base.json")
    judge = REASONS
    for old, new in (
        ('"asks-known"', '"contradicts"'),
        ('"window"', '"another"'),
        ('"Movies"', "next(iter(scenario.preferences))"),
        ('"Seat Type"', "next(iter(next(iter(scenario.preferences.values()))))"),
    ):
        judge = judge.replace(old, new)
    bot.write(conftest=judge)
    monkeypatch.setenv("FORGETS", "1")
    result = bot.inline(*ARGS, "--personalens-baseline", "base.json", "-v")
    result.stdout.fnmatch_lines(["    *: p 3 -> 1, goes against * (known *, did another)*"])


def test_a_traceback_of_the_assistant_is_marked_by_pytest_alone(bot: Repository) -> None:
    bot.write(conftest=REASONS.replace("ASKS if os", "{}['user'] if os"))
    lines = end_of(bot.inline(*ARGS[:1], "1", *TOLD_AGENTS, "--tb=long"))
    assert any(re.match(r"E  +\S*ItemFailed: not scored, assistant at fault", line) for line in lines)
    assert not [line for line in lines if re.match(r"E +E ", line)]
