"""A run held against a baseline: what is kept, what is compared, what is refused, what fails."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.errors import DataError
from pytest_personalens.results.comparison.baseline import baseline_of, read_baseline
from tests.support.datasets.folders import copy_data
from tests.support.processes.runs import assert_ended, merge_shards, run_shards
from tests.support.repository import ROOT, Repository, edited
from tests.support.results.scored_items import items, run
from tests.support.scripted_agents import TOLD_AGENTS

RESULTS = "--personalens-report=results.json"
ARGS = ("--personalens-sample", "20", *TOLD_AGENTS, "--personalens-gate", "valid >= 0.9")
SAVE = (*ARGS, "--personalens-save-baseline", "base.json")
COMPARE = (*ARGS, "--personalens-baseline", "base.json", RESULTS)
REFUSED = "ERROR: --personalens-baseline:"


@pytest.fixture
def saved(told: Repository) -> Repository:
    assert told.inline(*SAVE).ret == 0
    return told


def entries(repo: Repository) -> list[dict[str, Any]]:
    return list(repo.results("base.json")["entries"])


def ids(repo: Repository) -> list[str]:
    return [entry["scenario"] for entry in entries(repo)]


def lower(repo: Repository, dimension: str, scenarios: list[str]) -> None:
    with (repo.path / "low.txt").open("a") as file:
        file.writelines(f"{dimension}:{scenario}\n" for scenario in scenarios)


def ini(repo: Repository, line: str) -> None:
    (repo.path / "pytest.ini").write_text(f"[pytest]\n{line}\n")


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


@pytest.mark.slow
def test_a_drop_fails_and_names_the_scenarios_that_flipped(saved: Repository) -> None:
    assert saved.inline(*ARGS, "--personalens-record=new").ret == 0
    shutil.rmtree(saved.path / "__personalens__")  # or the verdicts would be replayed
    worse = ids(saved)[:7]
    lower(saved, "tc", worse)
    result = saved.inline(*COMPARE, "--junitxml=junit.xml", "--personalens-record=new", "-v")
    first = f"    {min(worse)}: tc 1 -> 0, told  (__personalens__/test_bot/*.json)"
    assert_ended(result, 1, "  7 scores worse than then:", first).assert_outcomes(passed=22, failed=1)
    result.stdout.fnmatch_lines(["FAILED personalens::gate[[]regression: tcr[]]*"])
    comparison = saved.results()["comparison"]
    tcr = next(d for d in comparison["differences"] if d["dimension"] == "task_completion")
    assert (tcr["regressed"], tcr["worse"], tcr["better"], tcr["pairs"]) == (True, 7, 0, 20)
    assert {flip["scenario"] for flip in comparison["flips"]} == set(worse)
    assert all((saved.path / record).is_file() for flip in comparison["flips"] for record in flip["records"])
    cases = {c.get("name"): c for c in ET.parse(saved.path / "junit.xml").iter("testcase")}
    assert cases["gate[regression: tcr]"].find("failure") is not None
    assert cases["gate[regression: p]"].find("failure") is None


@pytest.mark.slow
def test_a_stale_record_is_not_shown_as_the_transcript_of_a_drop(saved: Repository) -> None:
    assert saved.inline(*ARGS, "--personalens-record=new").ret == 0
    conftest = saved.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('"fine"', '"What do you want?"'))
    lower(saved, "tc", ids(saved)[:7])
    result = saved.inline(*COMPARE, "--personalens-report=run.md", "-v")
    assert_ended(result, 1, f"    {min(ids(saved)[:7])}: tc 1 -> 0, told")
    found = saved.results()
    assert {item["record"] for item in found["items"]} == {"stale"}
    assert not any(flip.get("records") for flip in found["comparison"]["flips"])
    assert "__personalens__" not in (saved.path / "run.md").read_text()
    result.stdout.fnmatch_lines(["20 of 20 dialogues changed since recording; check why before re-recording"])
    result.stdout.no_fnmatch_line("*--personalens-record new*")


# What is refused


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "args", "problem"),
    [
        ({"JUDGE": "judge 2"}, (), "the judge changed: 'judge 2' now, 'judge 1' then"),
        ({"JUDGE": "judge 2"}, ("-n", "2"), "the judge changed: 'judge 2' now, 'judge 1' then"),
        ({"USER_AGENT": "user 2"}, (), "the simulated user changed: 'user 2' now, 'user 1' then"),
        ({}, ("-o", "personalens_context=D"), "the context changed: 'D' now, 'DIS' then"),
        ({}, ("-o", "personalens_max_turns=3"), "the limit of turns changed: '3' now, \"the benchmark's\" then"),
        ({}, ("--personalens-data=copy",), "the dataset changed: 'embedded 9.9' now, 'embedded *' then"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_before_anything_is_run(
    saved: Repository,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    args: tuple[str, ...],
    problem: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    head = copy_data(saved.path / "copy", "amara") / "dataset.toml"
    head.write_text(re.sub("(?m)^version = .*", 'version = "9.9"', head.read_text()))
    result = saved.run(*COMPARE, *args)
    assert_ended(result, 4, err=f"{REFUSED} base.json cannot be compared with this run: {problem}; *")
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
        (edited(lambda d: d["entries"].append(d["entries"][0])), "*trial 1 of s0 in t.py::t stands there twice*"),
        (edited(lambda d: d["entries"][0]["scores"].update({"p\u2028x": 1})), "entries.0.scores.*: unknown measure 'p*x'; *"),
        (edited(lambda d: d.pop("terms")), "terms: field required*"),
        (lambda text: run(items(3), complete=False).model_dump_json(by_alias=True), "the run was stopped, or *; *"),
        (edited(lambda d: d.update(dialogues={"nobody": []})), "dialogues: no entry is that of 'nobody'; restore it, *"),
        (edited(lambda d: d.update(dialogues=[])), "dialogues: expected a table, not []; restore it, *"),
        (edited(lambda d: d.update(dialogues={"nobody": [{"role": "poet", "content": ""}]})), "dialogues.nobody.0.role: expected *"),
    ],
)  # fmt: skip
def test_a_bad_baseline_is_one_line(tmp_path: Path, change: Callable[[str], str], problem: str) -> None:
    file = tmp_path / "base.json"
    file.write_text(change(baseline_of(run(items(3)), for_file=True).text()))
    with pytest.raises(DataError) as bad:
        read_baseline(file)
    pytest.LineMatcher([str(bad.value)]).fnmatch_lines([f"{file}: {problem}"])


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (COMPARE, f"{REFUSED} *base.json: cannot be read: No such file or directory; *--personalens-save-baseline"),
        ((*COMPARE[:-2], "ours.json"), rf"{REFUSED} *ours.json: not a baseline of this version: its schema is 'x\u2028', not *"),
        ((*ARGS, "--personalens-save-baseline=folder"), "ERROR: --personalens-save-baseline: *folder is a folder; give the path of a file"),
        (("--personalens-save-baseline=base.json",), "ERROR: --personalens-save-baseline: give --personalens-sample N too*"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_one_line(told: Repository, args: tuple[str, ...], problem: str) -> None:
    (told.path / "folder").mkdir()
    (told.path / "ours.json").write_text('{"schema": "x\u2028"}')
    assert_ended(told.inline(*args), 4, err=problem)


# What makes a baseline


def test_a_run_that_was_stopped_saves_no_baseline(told: Repository) -> None:
    told.write(test_second="def test_second(personalens):\n    assert 0\n")
    result = told.inline(*SAVE, "-x")
    assert not (told.path / "base.json").exists()
    result.stdout.fnmatch_lines(["the baseline *base.json was not written: the run was stopped*"])


@pytest.mark.slow
def test_paths_that_leave_a_test_file_out_make_no_baseline(told: Repository) -> None:
    told.write(more__test_other="def test_other(personalens):\n    personalens.check()\n")
    told.write(more__test_unit="def test_unit():\n    pass\n")
    left = "a selection left at least 1 item of the sample out (*, paths)"
    for extra in ((), ("-n", "1")):
        result = told.run(*SAVE, "test_bot.py", *extra)
        assert_ended(result, 3, f"the baseline *base.json was not written: {left}")
    assert told.run(*ARGS, "test_bot.py").ret == 0
    assert told.inline(*SAVE, "test_bot.py", "more").ret == 0
    ini(told, "testpaths = more")
    assert told.inline(*SAVE, "more/test_other.py").ret == 0


@pytest.mark.slow
def test_saving_over_the_baseline_of_the_configuration_does_not_ask_it(told: Repository) -> None:
    ini(told, "personalens_baseline = base.json")
    assert told.inline(*SAVE).ret == 0
    lower(told, "tc", ids(told)[:9])
    assert [told.inline(*args).ret for args in (ARGS, SAVE, ARGS)] == [1, 0, 0]


# What is compared


@pytest.mark.slow
def test_what_is_compared_is_a_main_dimension_or_has_a_margin(saved: Repository) -> None:
    other = "--personalens-dimensions=nat-user"
    assert saved.inline(*SAVE, other).ret == 0
    neither = "gate regression: FAILED (not decided), neither task completion nor personalization nor facts is judged; *"
    assert_ended(saved.inline(*COMPARE, other), 1, neither, "gate valid: passed*")
    assert saved.inline(*COMPARE, other, "-o", "personalens_margin=nat-user=0.1").ret == 0
    for margin, problem in (("leak", "leak is not compared"), ("coh-user", "coh-user is not judged in *")):
        refused = saved.inline(*COMPARE, other, "-o", f"personalens_margin={margin}=0.1")
        assert_ended(refused, 4, err=f"ERROR: personalens_margin: {problem}")


@pytest.mark.slow
def test_a_test_whose_mark_changed_is_not_compared(saved: Repository) -> None:
    mark = '@pytest.mark.personalens(context="D", max_turns=4)'
    saved.write(test_bot=f"import pytest\n\n{mark}\ndef test_bot(personalens):\n    personalens.check()\n")
    assert saved.inline(*COMPARE).ret == 1
    found = saved.results()
    (left,) = found["comparison"]["left_out"].items()
    assert (left[0], len(left[1])) == ("run under other settings", 20)
    assert [gate["name"] for gate in found["gates"]] == ["regression", "valid"]
    assert [saved.inline(*args).ret for args in (SAVE, COMPARE)] == [0, 0]


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
    tests = {entry["test"].removeprefix("test_bot.py::") for entry in entries(told)}
    assert tests == {"test_bot[formal]", "test_bot[loud-and-clear]", "TestMore::test_bot"}
    lower(told, "tc", ids(told)[:6:3])
    assert "trials" not in told.inline(*COMPARE).stdout.str()
    assert told.results()["comparison"]["compared"] == 20


@pytest.mark.slow
def test_the_same_comparison_on_workers_and_over_shards(saved: Repository) -> None:
    lower(saved, "p", ids(saved)[:8])
    assert saved.inline(*COMPARE).ret == 1
    whole = (saved.path / "results.json").read_bytes()
    assert saved.run(*COMPARE, "-n", "2").ret == 1
    assert (saved.path / "results.json").read_bytes() == whole
    assert [run.ret for run in run_shards(saved, 2, *COMPARE[:-1])] == [0, 0]
    merged = merge_shards(saved, "--report", "merged.json", "--save-baseline", "new.json")
    assert_ended(merged, 1, "gate regression: p: FAILED, *")
    assert (saved.path / "merged.json").read_bytes() == whole
    assert saved.inline(*SAVE).ret == 0
    assert (saved.path / "new.json").read_bytes() == (saved.path / "base.json").read_bytes()
    assert saved.inline(*SAVE, "--personalens-shard=1/2").ret == 4


@pytest.mark.slow
def test_a_merge_does_not_pass_for_want_of_its_baseline(saved: Repository) -> None:
    assert [run.ret for run in run_shards(saved, 2, *COMPARE[:-1])] == [0, 0]
    (saved.path / "base.json").rename(saved.path / "moved.json")
    missing = "error: base.json: cannot be read: No such file or directory; *"
    assert_ended(merge_shards(saved), 4, err=missing)
    assert merge_shards(saved, "--baseline", "moved.json").ret == 0


# Scenarios whose content changed since, whatever their dataset is called

OWN = ("--personalens-sample", "10", *TOLD_AGENTS, "--personalens-data", "own")
SAVE_OWN, HOLD_OWN = (*OWN, "--personalens-save-baseline", "base.json"), (*OWN, "--personalens-baseline")
REWRITTEN = "*: the content of 10 of its 10 scenarios in this sample changed in the dataset, such as *"


def rewrite(folder: Path, pattern: str) -> None:
    for file in (file for ending in ("toml", "json") for file in sorted(folder.rglob(f"*.{ending}"))):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(pattern, r"\1Anything at all will do. ", text), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["base.json", "results.json"])
def test_rewritten_goals_are_refused_before_anything_runs(told: Repository, file: str) -> None:
    shutil.copytree(ROOT / "data", told.path / "own")
    assert told.inline(*SAVE_OWN, RESULTS).ret == 0
    rewrite(told.path / "own", r'(goal = "+)')
    assert_ended(told.inline(*HOLD_OWN, file), 4, err=f"{REFUSED} {REWRITTEN}")


def test_official_data_that_was_rewritten(told: Repository, official: Path) -> None:
    for user in sorted((official / "data" / "profile").iterdir())[:10]:
        subprocess.run(["cp", "-r", "--no-preserve=mode", str(user), str(told.path)], check=True)
        (told.path / "own" / "profile").mkdir(parents=True, exist_ok=True)
        (told.path / user.name).rename(told.path / "own" / "profile" / user.name)
    assert told.inline(*SAVE_OWN).ret == 0
    assert told.inline(*HOLD_OWN, "base.json").ret == 0
    rewrite(told.path / "own", r'("Task Goal": ")')
    assert_ended(told.inline(*HOLD_OWN, "base.json"), 4, err=f"{REFUSED} {REWRITTEN}")


@pytest.mark.slow
def test_one_scenario_that_changed_is_left_out_and_told(told: Repository) -> None:
    shutil.copytree(ROOT / "data", told.path / "own")
    assert told.inline(*SAVE_OWN).ret == 0
    # One person of the sample, and so one scenario of ten.
    rewrite(told.path / "own" / "histories" / "tinashe", '(noted = ")')
    nine, one = "compared with base.json: 9 scenarios*", "  not compared, changed in the dataset: 1*"
    assert_ended(told.inline(*HOLD_OWN, "base.json"), 0, nine, one)
