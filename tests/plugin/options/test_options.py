"""One table of options: groups in the help, lists, and which settings of a run they make."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from pytest_personalens.core.options.options import OPTIONS
from pytest_personalens.core.options.settings import Settings
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS

ARGS = ("--personalens-sample=4", *TOLD_AGENTS)
SETTING = "--personalens-report=r.json"


def refused(result: pytest.RunResult, problem: str) -> None:
    """The run ended with 4 and told the problem in one line."""
    assert result.ret == 4
    told = [line for line in (*result.outlines, *result.errlines) if line.startswith("ERROR")]
    assert len(told) == 1
    assert problem in told[0]


def settings(repo: Repository, *args: str) -> dict[str, object]:
    """The settings in the results of a run."""
    repo.inline(*ARGS, "--personalens-report=r.json", *args)
    found: dict[str, object] = repo.results("r.json")["settings"]
    return found


def test_every_option_makes_a_setting() -> None:
    assert {o.key for o in OPTIONS} | {"not_read", "report_only"} == set(get_type_hints(Settings))


def test_the_help_names_each_option_once_by_group(repo: Repository) -> None:
    lines = repo.inline("--help").outlines
    named = [line.split()[0].partition("=")[0] for line in lines if "--personalens-" in line]
    assert named == [o.long for o in OPTIONS if o.on != "ini"]
    assert len(named) <= 33
    titles = [line.split(" (")[0] for line in lines if line.startswith("personalens, ")]
    assert titles == [f"personalens, {group}" for group in ("select", "run", "judge", "gate", "report")]
    ini = [line.split()[0] for line in lines if line.startswith("  personalens_")]
    assert {o.ini for o in OPTIONS if o.on != "command line"} <= set(ini)


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        (("--personalens-gate=tcr=0.1, p >= 1", "--personalens-gate=single: p >= 1"), "gate", [["", "tcr", 0.1, ">=", "", ""], ["", "p", 1.0, ">=", "", ""], ["single", "p", 1.0, ">=", "", ""]]),
        (("-opersonalens_threshold=p=3,tc>=0",), "threshold", [["personalization", 3], ["task_completion", 0]]),
        (("--personalens-dimensions=p", "--personalens-dimensions=tc,leak"), "dimensions", ["task_completion", "personalization", "opening_leak"]),
        (("--personalens-control=other-user,no-context",), "control", ["none", "swapped"]),
        (("--personalens-control=ablation", "--personalens-control=i"), "control", ["none", "D", "I", "S"]),
        (("--personalens-control=D",), "control", ["D"]),
        (("--personalens-domain=movies, rental cars", "--personalens-domain=BOOKS"), "domain", ["movies", "rental cars", "BOOKS"]),
        (("--personalens-budget=200calls,5usd",), "budget", [["calls", 200], ["usd", 5.0]]),
        (("--personalens-budget=1 call", "--personalens-budget=$5"), "budget", [["calls", 1], ["usd", 5.0]]),
        (("--personalens-budget=0.5 USD",), "budget", [["usd", 0.5]]),
        (("-o", "personalens_margin=tc=0.02,p=0.1"), "margin", [["task_completion", 0.02], ["personalization", 0.1]]),
        (("--personalens-record=live",), "record", "live"),
    ],
)  # fmt: skip
def test_lists_take_commas_and_repetition(
    told: Repository, given: tuple[str, ...], key: str, value: object
) -> None:
    assert settings(told, *given)[key] == value


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("--personalens-budget=200", "--personalens-budget: expected a number of calls or of dollars, such as 200calls or 5usd, not '200'"),
        ("--personalens-budget=$5calls", "--personalens-budget: expected a number of calls or of dollars"),
        ("--personalens-control=no", "--personalens-control: expected one of: no-context, other-user, D, I, H, S, ablation, not 'no'"),
        ("--personalens-report=r.txt", "--personalens-report: expected a path that ends in .json, .html, .htm, .md, or the word github, not 'r.txt'"),
        ("--personalens-record=yes", "--personalens-record: expected one of: none, live, new, all"),
        ("--personalens-gate=", "--personalens-gate: expected LIST"),
        ("--personalens-gate=tcr >= 0.5, tcr >= 0.6", "--personalens-gate: tcr has two floors; give one"),
        ("--personalens-gate=(a, b): tcr >= 0.5", "--personalens-gate: unknown group '(a, b)'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_what_was_expected(told: Repository, given: str, problem: str) -> None:
    refused(told.inline(*ARGS, given), problem)


@pytest.mark.parametrize(
    ("context", "control", "problem"),
    [
        ("D", "D", "the run itself knows D of the user"),
        ("DS", "I", "the run itself knows D+S of the user"),
        ("none", "S", "the run itself knows nothing"),
        ("none", "no-context", "the run itself knows nothing"),
        ("S", "other-user", "the run itself knows no more of the user"),
    ],
)
def test_a_control_in_which_nothing_is_withheld(
    told: Repository, context: str, control: str, problem: str
) -> None:
    result = told.inline(*ARGS, f"-opersonalens_context={context}", "--personalens-control", control)
    refused(
        result,
        f"--personalens-control {control}: {problem} (personalens_context); there is nothing to compare",
    )


def test_several_reports_of_one_kind(told: Repository) -> None:
    assert (
        told.inline(
            *ARGS, *(f"--personalens-report={name}" for name in ("a.json", "b.JSON", "c.md", "d.md"))
        ).ret
        == 0
    )
    assert (told.path / "a.json").read_text() == (told.path / "b.JSON").read_text()
    assert (told.path / "c.md").read_text() == (told.path / "d.md").read_text()
    refused(
        told.inline(*ARGS, "--personalens-report=a.json", "--personalens-report=./a.json"),
        "give each a file of its own",
    )


def test_reports_of_the_command_line_go_before_those_of_their_kind(told: Repository) -> None:
    told.path.joinpath("pytest.ini").write_text("[pytest]\npersonalens_report =\n    ini.json\n    ini.md\n")
    assert told.inline(*ARGS, "--personalens-report=typed.json").ret == 0
    assert {path.name for path in told.path.glob("*.[jm][sd]*")} == {"typed.json", "ini.md"}


def test_a_gate_on_valid_sets_the_floor_of_all(told: Repository) -> None:
    told.path.joinpath("faults.txt").write_text("\n".join(settings_ids(told)[:2]))
    strict = told.inline(*ARGS, "--personalens-gate=tcr >= 0")
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["gate valid: FAILED, 2 of 4 items could be scored*; the floor is 90%"])
    lenient = told.inline(*ARGS, "--personalens-gate=tcr >= 0, valid >= 0.5")
    assert lenient.ret == 0
    lenient.stdout.fnmatch_lines(["gate tcr: passed, *", "gate valid: passed, 2 of 4 items could be scored*"])


def settings_ids(repo: Repository) -> list[str]:
    """The scenarios of the sample."""
    repo.inline(*ARGS, "--personalens-report=ids.json")
    return [item["evaluation"]["scenario"] for item in repo.results("ids.json")["items"]]


def test_a_run_asks_nobody_paid_where_records_are_to_be_replayed(told: Repository) -> None:
    told.path.joinpath("pytest.ini").write_text("[pytest]\npersonalens_record = live\n")
    assert settings(told)["record"] == "live"
    assert settings(told, "--personalens-record=none")["record"] == "none"
