"""A run held against a baseline: what is kept, what is compared, what is refused, what fails."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from pytest_personalens.results.comparison.baseline import read_baseline
from tests.support.datasets.folders import copy_data
from tests.support.processes.runs import (
    assert_ended,
    collect_ids,
    merge_shards,
    run_shards,
)
from tests.support.repository import Repository, edited
from tests.support.scripted_agents import TOLD_AGENTS

ARGS = ("--personalens-sample", "20", *TOLD_AGENTS, "--personalens-gate", "valid >= 0.9")
SAVE = (*ARGS, "--personalens-save-baseline", "base.json")
COMPARE = (*ARGS, "--personalens-baseline", "base.json")


@pytest.fixture
def saved(told: Repository) -> Repository:
    assert told.inline(*SAVE).ret == 0
    return told


def ids(repo: Repository) -> list[str]:
    return [entry["scenario"] for entry in json.loads((repo.path / "base.json").read_text())["entries"]]


def lower(repo: Repository, dimension: str, scenarios: list[str]) -> None:
    with (repo.path / "low.txt").open("a") as file:
        file.writelines(f"{dimension}:{scenario}\n" for scenario in scenarios)


def compared(repo: Repository, *args: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    result = repo.inline(*COMPARE, "--personalens-report=results.json", *args)
    found = json.loads((repo.path / "results.json").read_text())
    return result, {**found["comparison"], "gates": {gate["name"]: gate for gate in found["gates"]}}


@pytest.mark.slow
def test_a_baseline_is_a_line_a_scenario_and_equal_for_equal_runs(saved: Repository) -> None:
    first = (saved.path / "base.json").read_bytes()
    scores, _, said = first.partition(b'"dialogues"')
    assert sum(b'"scenario"' in line for line in scores.splitlines()) == len(ids(saved)) == 20
    assert sum(b'"role"' in line for line in said.splitlines()) == 20
    for extra in (("-n", "2"), ("-o", "personalens_parallel=4")):
        assert saved.run(*SAVE, *extra).ret == 0
        assert (saved.path / "base.json").read_bytes() == first
    assert len(read_baseline(saved.path / "base.json").entries) == 20


def test_a_run_without_a_change_passes_and_says_what_it_could_have_found(saved: Repository) -> None:
    result, comparison = compared(saved)
    assert_ended(
        result,
        0,
        "compared with base.json: 20 scenarios, at the level 0.05 for both gates together",
        "gate regression: tcr: passed, TCR 1.00 -> 1.00 (+0.00, 90 % *) over 20 scenarios: no"
        " significant drop; one of 0.* would have been found 4 times in 5",
        "gate regression: p: passed, P 4.00 -> 4.00 *",
        "gate valid: passed, 20 of 20 items could be scored; the floor is 90%",
    )
    result.assert_outcomes(passed=23)
    assert (comparison["flips"], comparison["left_out"]) == ([], {})


@pytest.mark.slow
def test_a_drop_fails_and_names_the_scenarios_that_flipped(saved: Repository) -> None:
    assert saved.inline(*ARGS, "--personalens-record=new").ret == 0
    shutil.rmtree(saved.path / "__personalens__")  # or the verdicts would be replayed
    worse = ids(saved)[:7]
    lower(saved, "tc", worse)
    result, comparison = compared(saved, "--junitxml", "junit.xml", "--personalens-record=new", "-v")
    assert_ended(
        result,
        1,
        "  7 scores worse than then:",
        f"    {min(worse)}: tc 1 -> 0, told  (__personalens__/test_bot/*.json)",
    )
    result.assert_outcomes(passed=22, failed=1)
    result.stdout.fnmatch_lines(
        [
            "gate regression: tcr: FAILED, TCR 1.00 -> 0.65 (-0.35, 95 % *, one-sided p = 0.008) over 20 scenarios: a significant drop"
        ]
    )
    result.stdout.fnmatch_lines(["FAILED personalens::gate[[]regression: tcr[]]*"])
    tcr = next(d for d in comparison["differences"] if d["dimension"] == "task_completion")
    assert (tcr["regressed"], tcr["worse"], tcr["better"], tcr["pairs"]) == (True, 7, 0, 20)
    assert {flip["scenario"] for flip in comparison["flips"]} == set(worse)
    for flip in comparison["flips"]:
        assert all((saved.path / record).is_file() for record in flip["records"])
    cases = {c.get("name"): c for c in ET.parse(saved.path / "junit.xml").iter("testcase")}
    assert cases["gate[regression: tcr]"].find("failure") is not None
    assert cases["gate[regression: p]"].find("failure") is None


@pytest.mark.slow
def test_a_stale_record_is_not_shown_as_the_transcript_of_a_drop(saved: Repository) -> None:
    assert saved.inline(*ARGS, "--personalens-record=new").ret == 0
    conftest = saved.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('"fine"', '"What do you want?"'))
    lower(saved, "tc", ids(saved)[:7])
    result, comparison = compared(saved, "--personalens-report=run.md", "-v")
    assert_ended(result, 1, f"    {min(ids(saved)[:7])}: tc 1 -> 0, told")
    assert {item["record"] for item in saved.results()["items"]} == {"stale"}
    assert all("records" not in flip or flip["records"] == [] for flip in comparison["flips"])
    assert "__personalens__" not in (saved.path / "run.md").read_text()
    result.stdout.fnmatch_lines(["20 of 20 dialogues changed since recording; check why before re-recording"])
    result.stdout.no_fnmatch_line("*--personalens-record new*")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "args", "problem"),
    [
        ({"JUDGE": "judge 2"}, (), "the judge changed: 'judge 2' now, 'judge 1' then"),
        ({"USER_AGENT": "user 2"}, (), "the simulated user changed: 'user 2' now, 'user 1' then"),
        ({}, ("-o", "personalens_context=D"), "the context changed: 'D' now, 'DIS' then"),
        ({}, ("-o", "personalens_max_turns=3"), "the limit of turns changed: '3' now, \"the benchmark's\" then"),
        ({}, ("--personalens-data=copy",), "the dataset changed: 'embedded 9.9' now, 'embedded *' then"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_what_cannot_be_compared_is_refused_before_anything_is_run(
    saved: Repository,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    args: tuple[str, ...],
    problem: str,
    workers: tuple[str, ...],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if "--personalens-data=copy" in args:
        head = copy_data(saved.path / "copy", "amara") / "dataset.toml"
        head.write_text(
            "".join(
                'version = "9.9"\n' if line.startswith("version") else line
                for line in head.read_text().splitlines(keepends=True)
            )
        )
    result = assert_ended(
        (saved.run if workers else saved.inline)(*COMPARE, *args, *workers),
        4,
        err=f"ERROR: --personalens-baseline: base.json cannot be compared with this run: {problem}; *",
    )
    assert "PASSED" not in result.stdout.str()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: text[: len(text) // 2], "not valid JSON (*); restore it, or save a new one with --personalens-save-baseline"),
        (lambda text: "", "not valid JSON (*"),
        (lambda text: "[" * 200_000, "not valid JSON *"),
        (lambda text: "[]", "not a baseline of this version: its schema is 'None', not 'personalens-baseline/1'; *"),
        (edited(lambda d: d.update(schema="personalens-baseline/2")), "not a baseline of this version: its schema is 'personalens-baseline/2'*"),
        (edited(lambda d: d.update(entries=[])), "no scenario is in it; *"),
        (edited(lambda d: d["entries"][0]["scores"].update(personalization=5)), "entries.0: *personalization is scored 1 to 4, not 5*"),
        (edited(lambda d: d["entries"].append(d["entries"][0])), "*trial 1 of * in test_bot.py::test_bot stands there twice*"),
        (edited(lambda d: d["entries"][0]["scores"].update({"p\u2028x": 1})), r"entries.0.scores.p\u2028x*: unknown measure *"),
        (edited(lambda d: d.pop("terms")), "terms: field required*"),
        (edited(lambda d: d.update(dialogues={"nobody": []})), "dialogues: no entry is that of 'nobody'; restore it, *"),
        (edited(lambda d: d.update(dialogues=[])), "dialogues: expected a table, not []; restore it, *"),
        (edited(lambda d: d.update(dialogues={"nobody": [{"role": "poet", "content": ""}]})), "dialogues.nobody.0.role: expected *"),
    ],
)  # fmt: skip
def test_a_bad_baseline_is_one_line(saved: Repository, change: Callable[[str], str], problem: str) -> None:
    file = saved.path / "base.json"
    file.write_text(change(file.read_text()))
    assert_ended(saved.inline(*COMPARE), 4, err=f"ERROR: --personalens-baseline: {file}: {problem}")


def test_a_path_that_leads_nowhere_is_one_line(told: Repository) -> None:
    assert_ended(
        told.inline(*COMPARE),
        4,
        err="ERROR: --personalens-baseline: *base.json: cannot be read: No such file or directory; *--personalens-save-baseline",
    )
    (told.path / "folder").mkdir()
    folder = told.inline(*ARGS, "--personalens-save-baseline=folder")
    folder.stderr.fnmatch_lines(
        ["ERROR: --personalens-save-baseline: *folder is a folder; give the path of a file"]
    )
    inert = told.inline("--personalens-save-baseline=base.json")
    inert.stderr.fnmatch_lines(["ERROR: --personalens-save-baseline: give --personalens-sample N too*"])


@pytest.mark.slow
def test_results_serve_as_a_baseline_if_their_run_was_whole(told: Repository) -> None:
    assert told.inline(*ARGS, "--personalens-report=base.json").ret == 0
    assert compared(told)[0].ret == 0
    whole = json.loads((told.path / "base.json").read_text())
    (told.path / "base.json").write_text(json.dumps({**whole, "complete": False}))
    assert told.inline(*COMPARE).ret == 4


@pytest.mark.slow
def test_a_run_that_could_hardly_be_scored_is_no_baseline(told: Repository) -> None:
    (told.path / "faults.txt").write_text("\n".join(collect_ids(told, *ARGS)[1:]))
    assert_ended(
        told.inline(*SAVE),
        1,
        "gate valid: FAILED, 1 of 20 items could be scored*",
        "the baseline *base.json was not written: only 1 of 20 items *",
    )
    assert not (told.path / "base.json").exists()
    # A results file of such a run may be given all the same.
    assert told.inline(*ARGS, "--personalens-report=base.json").ret == 1
    (told.path / "faults.txt").unlink()
    few = "1 of the 20 scenarios that are also in base.json could be compared; the floor is 90%"
    assert_ended(told.inline(*COMPARE), 1, f"gate regression: FAILED (not decided), {few}")


@pytest.mark.slow
def test_what_is_compared_is_a_main_dimension_or_has_a_margin(saved: Repository) -> None:
    other = "--personalens-dimensions=nat-user"
    assert saved.inline(*SAVE, other).ret == 0
    neither = "gate regression: FAILED (not decided), neither task completion nor personalization nor facts is judged; *"
    assert_ended(saved.inline(*COMPARE, other), 1, neither, "gate valid: passed*")
    assert saved.inline(*COMPARE, other, "-o", "personalens_margin=nat-user=0.1").ret == 0
    for margin, problem in (
        ("leak=0.1", "leak is not compared"),
        ("coh-user=0.1", "coh-user is not judged in this run; *"),
    ):
        refused = saved.inline(*COMPARE, other, "-o", f"personalens_margin={margin}")
        assert_ended(refused, 4, err=f"ERROR: personalens_margin: {problem}")


@pytest.mark.slow
def test_a_test_whose_mark_changed_is_not_compared(saved: Repository) -> None:
    test = (
        'import pytest\n\n@pytest.mark.personalens(context="D", max_turns=4)\ndef test_bot(personalens):\n   '
        " personalens.check()\n"
    )
    (saved.path / "test_bot.py").write_text(test)
    result, comparison = compared(saved)
    assert result.ret == 1
    assert {why: len(scenarios) for why, scenarios in comparison["left_out"].items()} == {
        "run under other settings": 20
    }
    assert list(comparison["gates"]) == ["regression", "valid"]
    assert saved.inline(*SAVE).ret == 0
    assert compared(saved)[0].ret == 0


@pytest.mark.slow
def test_parametrized_tests_are_kept_apart_by_their_parameters(told: Repository) -> None:
    told.write(
        test_bot="""
        import pytest

        @pytest.mark.parametrize("tone", ["formal", "loud-and-clear"])
        def test_bot(personalens, tone):
            personalens.check()

        class TestMore:
            def test_bot(self, personalens):
                personalens.check()
        """
    )
    assert told.inline(*SAVE).ret == 0
    tests = {entry["test"] for entry in json.loads((told.path / "base.json").read_text())["entries"]}
    assert tests == {
        "test_bot.py::test_bot[formal]",
        "test_bot.py::test_bot[loud-and-clear]",
        "test_bot.py::TestMore::test_bot",
    }
    lower(told, "tc", ids(told)[:6:3])
    result, comparison = compared(told)
    assert comparison["compared"] == 20
    assert "trials" not in result.stdout.str()


def test_a_run_that_was_stopped_saves_no_baseline(told: Repository) -> None:
    told.write(test_second="def test_second(personalens):\n    assert 0\n")
    result = told.inline(*SAVE, "-x")
    assert not (told.path / "base.json").exists()
    result.stdout.fnmatch_lines(["the baseline *base.json was not written: the run was stopped*"])


@pytest.mark.slow
def test_paths_that_leave_a_test_file_out_make_no_baseline(told: Repository) -> None:
    told.write(more__test_other="def test_other(personalens):\n    personalens.check()\n")
    told.write(more__test_unit="def test_unit():\n    pass\n")
    for extra in ((), ("-n", "1")):
        assert_ended(
            told.run(*SAVE, "test_bot.py", *extra),
            3,
            "the baseline *base.json was not written: a selection left at least 1 item of the sample out (*, paths)",
        )
    assert told.run(*ARGS, "test_bot.py").ret == 0
    assert told.inline(*SAVE, "test_bot.py", "more").ret == 0
    (told.path / "pytest.ini").write_text("[pytest]\ntestpaths = more\n")
    assert told.inline(*SAVE, "more/test_other.py").ret == 0


@pytest.mark.slow
def test_saving_over_the_baseline_of_the_configuration_does_not_ask_it(told: Repository) -> None:
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_baseline = base.json\n")
    assert told.inline(*SAVE).ret == 0
    lower(told, "tc", ids(told)[:9])
    assert told.inline(*ARGS).ret == 1
    assert told.inline(*SAVE).ret == 0
    assert told.inline(*ARGS).ret == 0


@pytest.mark.slow
def test_the_same_comparison_on_workers_and_over_shards(saved: Repository) -> None:
    lower(saved, "p", ids(saved)[:8])
    assert compared(saved)[0].ret == 1
    whole = (saved.path / "results.json").read_bytes()
    assert saved.run(*COMPARE, "--personalens-report=results.json", "-n", "2").ret == 1
    assert (saved.path / "results.json").read_bytes() == whole
    assert [run.ret for run in run_shards(saved, 2, *COMPARE)] == [0, 0]
    merged = merge_shards(saved, "--report", "merged.json", "--save-baseline", "new.json")
    assert_ended(merged, 1, "gate regression: p: FAILED, *")
    assert (saved.path / "merged.json").read_bytes() == whole
    assert saved.inline(*SAVE).ret == 0
    assert (saved.path / "new.json").read_bytes() == (saved.path / "base.json").read_bytes()
    assert saved.inline(*SAVE, "--personalens-shard=1/2").ret == 4


@pytest.mark.slow
def test_a_merge_does_not_pass_for_want_of_its_baseline(saved: Repository) -> None:
    assert [run.ret for run in run_shards(saved, 2, *COMPARE)] == [0, 0]
    shutil.move(saved.path / "base.json", saved.path / "moved.json")
    missing = "error: base.json: cannot be read: No such file or directory; *"
    assert_ended(merge_shards(saved), 4, err=missing)
    assert merge_shards(saved, "--baseline", "moved.json").ret == 0
