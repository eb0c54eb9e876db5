"""A suite of a few lines runs, is gated, compared, stored and reported like the first: the seam is one."""

from __future__ import annotations

import json

import jsonschema
import pytest

from pytest_personalens.cli.command import main
from pytest_personalens.core.names import SUITES
from tests.suites.personaconv.arguments import check_refused, gates
from tests.support import third_suite
from tests.support.processes.commands import refusal
from tests.support.processes.runs import assert_ended
from tests.support.repository import ROOT, Repository

SUMS = ("--personalens-suite", "sums", "--personalens-sample")
GATE, REPORT = "--personalens-gate", "--personalens-report"
#: Right where it knows the result; else too high by the first number. MISTAKE is added for user u3.
CONFTEST = f"""
import os, re, sys
import pytest
from pytest_personalens.core.names import SUITES

sys.path.insert(0, {str(ROOT)!r})
SUITES["sums"] = "tests.support.third_suite"

@pytest.fixture
def personalens_assistant(personalens_context):
    def reply(messages):
        first, second = map(int, re.findall(r"[0-9]+", messages[-1]["content"]))
        if not personalens_context.interactions:
            return {{"answer": first + second + first}}
        return str(first + second + (float(os.environ.get("MISTAKE", "0")) if first == 3 else 0))
    return reply
"""


@pytest.fixture
def sums(empty_repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository whose assistant adds."""
    monkeypatch.setitem(SUITES, "sums", third_suite.__name__)
    empty_repo.write(conftest=CONFTEST)
    return empty_repo


def test_a_run_is_gated_in_the_words_of_its_suite(sums: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A low error is the better one, and a lift is above zero where the run is better."""
    monkeypatch.setenv("MISTAKE", "2.5")
    lifts = ", ".join(f"lift({name}, Blind) >= 0.5" for name in ("accuracy", "mae", "largest"))
    wanted = f"accuracy >= 0.8, mae <= 0.3, largest <= 2, large: accuracy >= 0.9, valid >= 0.9, {lifts}"
    result = sums.inline(
        *SUMS, "16", "--personalens-control=blind", GATE, wanted, "-v", REPORT, "results.json"
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "personalens: 16 sums of sums 1.0, seed 'personalens', given result, controls blind",
        "*::test_personalens[[]*plus*-u*+blind]*",
        "               items  scored    acc  error largest",
        "overall           16      16   0.88   0.31    2.50",
        "small              8       8   0.88      -       -",
        "large              8       8   0.88   0.31    2.50",
        "control blind: accuracy 0.12, with this user's context 0.88: lift +0.75 (*one-sided p = 0.0*)",
        "control blind: error 3.50, with this user's context 0.31: lift +3.19 (*one-sided p = 0.0*)",
        "below the threshold*:",
        "  3plus*-u3: right 0 < 1",
        "gate mae: FAILED, mean error 0.31 (0.00 to *) > 0.30 over 8 sums",
        "gate accuracy: passed, share of right sums 0.88 (*) >= 0.80 over 16 sums of 8 users",
    ])  # fmt: skip
    assert "user turns" not in result.stdout.str()
    found = gates(sums)
    assert {name: (round(g["value"], 4), g["direction"], g["passed"]) for name, g in found.items()} == {
        "accuracy": (0.875, ">=", True), "mae": (0.3125, "<=", False), "largest": (2.5, "<=", False), "large: accuracy": (0.875, ">=", False), "valid": (1.0, ">=", True),
        "lift(accuracy, blind)": (0.75, ">=", True), "lift(mae, blind)": (3.1875, ">=", True), "lift(largest, blind)": (4.5, ">=", True),
    }  # fmt: skip
    # Seven of eight users are better, and each could as well have been worse.
    assert "one-sided p = 0.008" in found["lift(mae, blind)"]["message"]
    figures = sums.results()["overall"]["figures"]
    off = figures["off"]
    assert (off["better"], off["count"], off["high"] > 0.3125) == ("low", 8, True)
    assert set(figures) == {"right", "off", "largest"}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((GATE, "mae <= -1"), "--personalens-gate: mae lies from 0 up, not 'mae <= -1'"),
        ((GATE, "lift(mae, other-user) >= 1"), "*unknown control 'other-user'; known: blind*"),
        (("-o", "personalens_threshold=off>=1"), "personalens_threshold: off is better low: write off<=1, *"),
        (("--personalens-user-model", "embedded"), "--personalens-user-model: means nothing in the suite sums; *"),
    ],
)  # fmt: skip
def test_a_refused_command_line_is_one_line(sums: Repository, args: tuple[str, ...], problem: str) -> None:
    check_refused(sums, problem, *SUMS, "4", *args)


def test_one_configuration_serves_two_suites(sums: Repository) -> None:
    config = sums.path / "pytest.ini"
    config.write_text(
        "[pytest]\npersonalens_gate = tcr >= 0, accuracy >= 0.5, mae <= 3\npersonalens_threshold = p=1, off<=2\n"
        "personalens_user_model = embedded\npersonalens_max_turns = 3\npersonalens_kind = single\n"
    )
    sums.inline(*SUMS, "8", REPORT, "results.json")
    assert list(gates(sums)) == ["accuracy", "mae", "valid"]
    settings = sums.results()["settings"]
    assert (settings["threshold"], settings["kind"], settings["max_turns"]) == ([["off", 2]], "all", 0)
    sums.write(
        conftest=CONFTEST.replace("first, second = map", "return 'Done.'\n        first, second = map")
    )
    sums.inline("--personalens-sample", "2", REPORT, "results.json")
    assert list(gates(sums)) == ["tcr", "valid"]
    assert sums.results()["settings"]["threshold"] == [["personalization", 1]]
    config.write_text("[pytest]\npersonalens_gate = speed >= 1\n")
    check_refused(sums, "personalens_gate: unknown metric 'speed'; known: *", *SUMS, "8")


def test_a_test_of_another_suite_is_skipped_once_with_the_command_that_runs_it(sums: Repository) -> None:
    sums.write(
        test_bot="""
        import pytest

        @pytest.mark.personalens(suite="sums", off=3)
        def test_sums(personalens):
            personalens.check()

        @pytest.mark.personalens(p=2)
        def test_both(personalens):
            personalens.evaluate()

        @pytest.mark.personalens(suite="personalens", p=2)
        def test_dialogues(personalens):
            personalens.check()
        """
    )
    result = sums.inline(*SUMS, "4", "-rs")
    result.assert_outcomes(passed=8, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * a test of the suite personalens, which is run by pytest --personalens-suite personalens *"])  # fmt: skip
    mark = "@pytest.mark.personalens(suite='songs')"
    sums.write(test_bot=f"import pytest\n\n{mark}\ndef test_it(personalens): ...\n")
    told = "*personalens(suite='songs'): expected one of: personalens, personaconv, *sums"
    assert_ended(sums.inline(*SUMS, "4"), 2, told)


@pytest.mark.slow
def test_files_hold_the_suite_and_are_read_by_it(
    sums: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--personalens-control=blind", "--personalens-trials=2", GATE, "largest <= 3, pass^2 >= 0.5")
    sums.inline(*SUMS, "8", *wanted, REPORT, "results.json", REPORT, "page.html", REPORT, "page.md")
    schema = json.loads((ROOT / "docs/reference/results.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(sums.results(), schema)
    page, text = (sums.path / name for name in ("page.html", "page.md"))
    assert "Largest" not in page.read_text(encoding="utf-8")
    assert "| blind | error | " in text.read_text(encoding="utf-8")
    assert "8 sums of sums 1.0" in text.read_text(encoding="utf-8")
    report = ("report", str(sums.path / "results.json"))
    data = sums.results()
    for value in (data["overall"]["figures"]["largest"]["value"], 1.0):  # it is not taken from the file
        data["overall"]["figures"]["largest"]["value"] = value
        (sums.path / "results.json").write_text(json.dumps(data), encoding="utf-8")
        assert main(report) == 0
        assert "gate largest: passed, largest error 0.00" in capsys.readouterr().out
    monkeypatch.delitem(SUITES, "sums")
    monkeypatch.setattr("pytest_personalens.core.suite._OPEN", {})
    unknown = "results.json: suite: unknown suite 'sums'; known: personalens, personaconv"
    assert unknown in refusal(capsys, *report)


@pytest.mark.slow
def test_shards_workers_and_records_know_the_suite(
    sums: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sums.path)
    whole = ("16", GATE, "mae <= 1")
    sums.inline(*SUMS, *whole, "--personalens-record", "new", REPORT, "results.json")
    one = sums.results()
    assert {item["record"] for item in one["items"]} == {"written"}
    for part in ("1", "2"):
        sums.run(*SUMS, *whole, "--personalens-shard", f"{part}/2", "-n", "2", REPORT, f"shard{part}.json")
    merge = ("merge", "shard1.json", "shard2.json", "--gate")
    assert main([*merge, "largest <= 1", "--report", "m.json"]) == 0
    assert "gate largest: passed, largest error 0.00" in capsys.readouterr().out
    merged = sums.results("m.json")
    assert merged["overall"] == one["overall"]
    assert {item["record"] for item in merged["items"]} == {"replayed"}
    of = "(of the suite personalens: give --personalens-suite personalens)"
    told = f"--gate: unknown metric 'tcr' {of}; known: accuracy, mae, largest"
    assert told in refusal(capsys, *merge, "tcr >= 1")
