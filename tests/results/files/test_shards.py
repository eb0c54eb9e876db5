"""A run split over machines: its shards, and the command that puts their results together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.results.gates.test_gates import ARGS, ECHO, HOOKS, SCRIPTED
from tests.support.processes.runs import assert_ended, merge_shards, run_shards
from tests.support.repository import Repository, edited

EMBEDDED = EmbeddedDataset()


@pytest.fixture
def scripted(repo: Repository) -> Repository:
    repo.write(conftest=SCRIPTED)
    return repo


def read(repo: Repository, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo.path / name).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("of", [1, 2, 3, 5, 7, 10, 40])
@pytest.mark.parametrize("size", [1, 4, 5, 30, 101])
def test_shards_share_a_sample_out_evenly(of: int, size: int) -> None:
    sample = draw(EMBEDDED, size, seed="s")
    parts = [sample.shard(number, of).refs for number in range(1, of + 1)]
    assert sorted(ref for part in parts for ref in part) == sorted(sample.refs)
    for kinds in (("single", "multi"), ("single",), ("multi",)):
        sizes = [sum(ref.kind in kinds for ref in part) for part in parts]
        assert max(sizes) - min(sizes) <= 1, kinds
    assert [sample.shard(n, of).drawn for n in range(1, of + 1)] == [size] * of


def test_shards_share_out_the_domains_too() -> None:
    sample = draw(EMBEDDED, 400, seed="s")
    whole = Counter(domain for ref in sample.refs for domain in ref.domains)
    for number in range(1, 5):
        part = Counter(domain for ref in sample.shard(number, 4).refs for domain in ref.domains)
        assert all(abs(part[domain] - whole[domain] / 4) < 3 for domain in whole)


def test_a_sample_that_grows_leaves_every_scenario_in_its_shard() -> None:
    small, large = draw(EMBEDDED, 30, seed="s"), draw(EMBEDDED, 77, seed="s")
    for number in range(1, 8):
        part = small.shard(number, 7).refs
        assert large.shard(number, 7).refs[: len(part)] == part


@pytest.mark.parametrize("given", ["11/10", "0/3", "a/b", "3", "1/0", "-1/3", "1/2/3", " ", "1/99999999"])
def test_a_shard_that_there_is_not(repo: Repository, given: str) -> None:
    result = assert_ended(
        repo.inline("--personalens-sample=2", f"--personalens-shard={given}"),
        4,
        err=f"ERROR: --personalens-shard: expected K/N, such as 3/10: the part K, from 1 to N, of N, not '{given}'",
    )
    assert len(result.stderr.str().strip().splitlines()) == 1


def test_a_single_shard_is_the_whole_run(repo: Repository) -> None:
    refused = "expected at least two parts; one is the whole run, so leave the option out, not '1/1'"
    result = repo.inline("--personalens-sample=2", "--personalens-shard=1/1")
    assert_ended(result, 4, err=f"ERROR: --personalens-shard: {refused}")


def test_the_ini_file_names_a_shard_too(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 5\npersonalens_shard = 6/5\n")
    repo.inline().stderr.fnmatch_lines(["ERROR: personalens_shard: expected K/N*"])
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 5\npersonalens_shard = 4/5\n")
    repo.inline("--collect-only", "-q").stdout.fnmatch_lines(["1 test collected*"])


@pytest.mark.parametrize("option", ["--personalens-adopt-judge", "--personalens-check-judge"])
def test_the_judge_is_not_watched_over_a_shard(repo: Repository, option: str) -> None:
    assert_ended(
        repo.inline("--personalens-sample=2", "--personalens-shard=1/2", option, "judge.json"),
        4,
        err=f"ERROR: --personalens-shard: not allowed with {option}: the judge is held against whole runs",
    )


def test_a_shard_leaves_the_gates_to_the_merge(scripted: Repository) -> None:
    args = (
        *ARGS,
        "--personalens-gate=p >= 3.9",
        "--personalens-shard=2/3",
        "--personalens-report=results.json",
    )
    result = assert_ended(
        scripted.inline(*args),
        0,
        "personalens: shard 2/3, 7 of 20 scenarios of embedded *",
        "shard 2/3 of the run: its gates are decided over all shards, by personalens merge",
        "below the threshold*:",
    )
    result.assert_outcomes(passed=7)
    result.stdout.no_fnmatch_line("gate *")
    found = read(scripted, "results.json")
    assert (found["gates"], found["drawn"], found["settings"]["shard"], found["settings"]["gate"]) == (
        [],
        20,
        [2, 3],
        [["", "p", 3.9, ">=", "", ""]],
    )
    assert scripted.inline(*ARGS, "--personalens-shard=2/3").ret == 1, "without a gate, items fail"


@pytest.mark.slow
def test_the_shards_of_a_run_add_up_to_it(scripted: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTS", "user")
    scripted.write(
        test_more="""
        import pytest

        @pytest.mark.personalens(sample=3, seed="other", tc=False)
        def test_more(personalens):
            personalens.evaluate()
        """
    )
    args = (
        *ARGS[1:],
        "--personalens-gate=tcr >= 0.2",
        "--personalens-gate=p >= 3",
        "--personalens-dimensions=all",
        "--personalens-gate=valid >= 0.5",
    )
    (scripted.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 20\n")
    whole = scripted.inline(*args, "--personalens-report=whole.json")
    parts = run_shards(scripted, 4, *args, extra={2: ("-n", "2"), 3: ("-n", "2", "--dist", "worksteal")})
    assert [part.ret for part in parts] == [0, 0, 0, 0]
    merged = merge_shards(scripted, "--report", "merged.json")
    assert merged.ret == whole.ret == 1
    assert (scripted.path / "merged.json").read_bytes() == (scripted.path / "whole.json").read_bytes()
    assert len(read(scripted, "merged.json")["items"]) == read(scripted, "merged.json")["drawn"] == 23
    summary = whole.outlines[
        next(n for n, line in enumerate(whole.outlines) if "= personalens =" in line) + 1 :
    ]
    summary = summary[: next(n for n, line in enumerate(summary) if line.startswith("results: "))]
    assert (
        merged.outlines[0]
        == "personalens: 4 of 4 shards of a run over 23 scenarios of "
        + read(scripted, "whole.json")["dataset"]
    )
    assert merged.outlines[-len(summary) - 1 :] == [*summary, "results: merged.json"]


def test_the_gates_of_the_merge(scripted: Repository) -> None:
    run_shards(scripted, 2, *ARGS, "--personalens-gate=p >= 2")
    assert_ended(
        merge_shards(scripted),
        0,
        "gate p: passed, mean personalization * over 20 scenarios",
        "gate valid: passed, 20 of 20 items *",
    )
    assert_ended(
        merge_shards(
            scripted, "--gate", "tcr >= 0.1, p >= 3.9", "--gate", "valid >= 1", "--report", "merged.json"
        ),
        1,
        "gate p: FAILED, *",
        "gate tcr: passed, *",
        "results: merged.json",
    )
    settings = read(scripted, "merged.json")["settings"]
    assert (settings["shard"], settings["gate"]) == (
        None,
        [["", "tcr", 0.1, ">=", "", ""], ["", "p", 3.9, ">=", "", ""], ["", "valid", 1.0, ">=", "", ""]],
    )


@pytest.mark.slow
def test_items_that_failed_where_they_ran_fail_the_merge(scripted: Repository) -> None:
    assert {result.ret for result in run_shards(scripted, 2, *ARGS)} == {1}
    assert_ended(
        merge_shards(scripted), 1, "failed items: *, whose runs say why; the first is test_bot.py::test_bot*"
    )
    scripted.write(test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    run_shards(scripted, 2, *ARGS)
    assert merge_shards(scripted).ret == 0


@pytest.mark.slow
def test_a_share_of_nothing(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\nempty_parameter_set_mark = fail_at_collect\n")
    repo.write(
        conftest=f"{dedent(HOOKS)}\n", test_bot="def test_bot(personalens):\n    personalens.evaluate()\n"
    )
    for own_test in (True, False):
        if not own_test:  # the built-in suite
            (repo.path / "test_bot.py").unlink()
        results = run_shards(repo, 3, "--personalens-sample=2", "--personalens-gate=valid >= 0", "-rs")
        assert [result.ret for result in results] == [0, 0, 0]
        assert [result.parseoutcomes() for result in results] == [
            {"passed": 1},
            {"passed": 1},
            {"skipped": 1},
        ]
        results[2].stdout.fnmatch_lines(
            ["shard 3/3 of the run: *", "SKIPPED*: personalens: this shard has no scenario of the sample"]
        )
        assert read(repo, "shard-3.json")["items"] == []
        result = merge_shards(repo, "--report", "merged.json")
        assert result.ret == 0
        assert len(read(repo, "merged.json")["items"]) == 2


@pytest.mark.slow
def test_a_share_of_which_nothing_is_selected(repo: Repository) -> None:
    for extra in ((), ("-n", "2")):
        results = run_shards(repo, 2, "--personalens-sample=4", "-k", "nonesuch", extra={1: extra})
        assert [result.ret for result in results] == [0, 0]
        result = merge_shards(repo)
        assert result.ret == 4
        assert result.stderr.str() == "error: no item in 2 results: did the runs collect any test?"


@pytest.mark.slow
def test_items_lost_in_a_shard_stay_lost(scripted: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTS", "crash")
    args = ("--personalens-gate", "valid >= 1", "--personalens-gate", "tcr >= 0")
    crashed = run_shards(scripted, 2, *ARGS, *args, extra={1: ("-n", "2"), 2: ("-n", "2")})
    assert any(result.ret for result in crashed)
    result = merge_shards(scripted, "--report", "merged.json")
    assert result.ret == 1
    merged = read(scripted, "merged.json")
    assert merged["lost"]
    assert merged["uncounted"] == {"lost": len(merged["lost"])}
    assert len(merged["items"]) + len(merged["lost"]) == 20
    result.stdout.fnmatch_lines(
        [f"gate valid: FAILED, * of 20 items could be scored (not: {len(merged['lost'])} lost); *"]
    )


def test_a_shard_that_was_stopped_is_no_part_of_a_whole(scripted: Repository) -> None:
    scripted.write(
        test_bot="def test_bot(personalens):\n    assert personalens.evaluate().personalization > 2\n"
    )
    stopped = run_shards(scripted, 2, *ARGS, "--personalens-gate=p >= 1", extra={2: ("-x",)})[1]
    stopped.stdout.fnmatch_lines(
        ["a part of the run only: it was stopped, or shards are missing; no gate is decided"]
    )
    result = merge_shards(scripted)
    assert result.ret == 4
    assert (
        result.stderr.str()
        == "error: shard-2.json: its run was stopped; run the shard again, or give --partial for a report without gates"
    )
    partial = assert_ended(
        merge_shards(scripted, "--partial", "--report", "merged.json"), 1, "a part of the run only: *"
    )
    partial.stdout.no_fnmatch_line("gate *")
    merged = read(scripted, "merged.json")
    assert (merged["complete"], merged["gates"]) == (False, [])


def test_a_missing_shard_leaves_a_part(scripted: Repository) -> None:
    run_shards(scripted, 3, *ARGS, "--personalens-gate=p >= 1")
    (scripted.path / "shard-2.json").unlink()
    partial = assert_ended(
        merge_shards(scripted, "--partial"),
        1,
        "personalens: 2 of 3 shards of a run over 20 scenarios of *",
        "overall * 13 *",
        "a part of the run only: *",
    )
    partial.stdout.no_fnmatch_line("gate *")


def test_calls_and_dollars_add_up(repo: Repository) -> None:
    repo.write(conftest=HOOKS)
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_prices =\n    echo:small = 3, 15\n")
    repo.inline(*ECHO, "--personalens-report=whole.json")
    run_shards(repo, 3, *ECHO)
    assert merge_shards(repo, "--report", "merged.json").ret == 0
    assert read(repo, "merged.json")["usd"]
    assert (repo.path / "merged.json").read_bytes() == (repo.path / "whole.json").read_bytes()


@pytest.fixture(scope="module")
def two_shards(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The results of two shards, as text."""
    folder = tmp_path_factory.mktemp("shards")
    (folder / "conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef personalens_assistant():\n    return lambda messages: 'Booked.'\n"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    for number in (1, 2):
        words = ["-p", "no:cacheprovider", "--personalens-sample", "4", "--personalens-gate", "tcr >= 0.5"]
        words += ["--personalens-shard", f"{number}/2", "--personalens-report", f"{number}.json"]
        subprocess.run(
            [sys.executable, "-m", "pytest", *words], cwd=folder, env=clean, capture_output=True, check=True
        )
    return [(folder / f"{number}.json").read_text(encoding="utf-8") for number in (1, 2)]


def setting(**values: object) -> Callable[[str], str]:
    return edited(lambda data: data["settings"].update(values))


FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "truncated": (lambda text: text[:3000], "b.json: not valid JSON (*); fetch it or run its tests again"),
    "not JSON at all": (lambda text: "", "b.json: not valid JSON (*"),
    "a list": (lambda text: "[]", "b.json: not a results file of this version: its schema is 'None', not 'personalens-results/2'*"),
    "another schema": (edited(lambda d: d.update(schema="personalens-results/3")), "b.json: not a results file of this version: its schema is 'personalens-results/3', *"),
    "another version": (edited(lambda d: d.update(plugin="0.0.1")), "b.json: written by pytest-personalens '0.0.1', this is '*'; use one version in all jobs"),
    "a field too many": (edited(lambda d: d["items"][0].update(mood="good")), "b.json: items.0.mood: unknown field; correct its name, or remove it*"),
    "another sample": (lambda text: setting(sample=5)(edited(lambda d: d.update(requested=5, drawn=5))(text)), "a.json and b.json are not of one run: sample is 4 in the first, 5 in the second"),
    "another draw": (edited(lambda d: d.update(drawn=3)), "a.json and b.json are not of one run: drawn is 4 in the first, 3 in the second"),
    "another seed": (setting(seed="x"), "a.json and b.json are not of one run: seed is 'personalens' in the first, 'x' in the second"),
    "another context": (setting(context=""), "a.json and b.json are not of one run: context is 'DIS' in the first, '' in the second"),
    "another judge": (setting(judge_model="openai:x"), "a.json and b.json are not of one run: judge_model is *"),
    "another floor": (setting(gate=[["", "tcr", 0.6]]), "a.json and b.json are not of one run: gate is * in the first, * in the second"),
    "another dataset": (edited(lambda d: d.update(dataset="embedded 1.0")), "a.json and b.json are not of one run: dataset is *"),
    "another division": (setting(shard=[2, 3]), "a.json and b.json are not of one run: number of shards is 2 in the first, 3 in the second"),
    "the same shard": (setting(shard=[1, 2]), "a.json and b.json are both shard 1/2; give one of them"),
    "no shard": (setting(shard=None), "b.json: the results of a whole run and not of a shard (--personalens-shard K/N): there is nothing to merge"),
    "no shard of this division": (setting(shard=[3, 2]), "b.json: settings.shard: there is no shard 3/2"),
    "a shard that is none": (setting(shard="2/2"), "b.json: settings: shard is '2/2', not list or tuple; *"),
    "a floor that is none": (setting(gate=[["", "tcr", "high"]]), "b.json: settings.gate*: expected a number, not 'high'*"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_results_that_do_not_belong_together(
    empty_repo: Repository, two_shards: list[str], fault: str
) -> None:
    edit, message = FAULTS[fault]
    (empty_repo.path / "a.json").write_text(two_shards[0], encoding="utf-8")
    (empty_repo.path / "b.json").write_text(edit(two_shards[1]), encoding="utf-8")
    refused(empty_repo.command("merge", "a.json", "b.json"), message)


def test_results_that_overlap_are_missing_or_cannot_be_read(
    empty_repo: Repository, two_shards: list[str]
) -> None:
    for number, text in enumerate(two_shards, 1):
        (empty_repo.path / f"{number}.json").write_text(text, encoding="utf-8")
    (empty_repo.path / "again.json").write_text(setting(shard=[2, 2])(two_shards[0]), encoding="utf-8")
    (empty_repo.path / "of-five.json").write_text(setting(shard=[2, 5])(two_shards[0]), encoding="utf-8")

    def run(*args: str) -> pytest.RunResult:
        return empty_repo.command("merge", *args)

    refused(
        run("1.json", "again.json"),
        "1.json and again.json both hold 'personalens::test_personalens*: they are not shards of one sample",
    )
    refused(run("1.json", "1.json"), "1.json and 1.json are both shard 1/2; give one of them")
    refused(
        run("2.json"), "shard 1/2 is missing: give its results too, or --partial for a report without gates"
    )
    refused(run("of-five.json"), "shard 1/5 (and 3 more) is missing: *")
    refused(run("3.json"), "3.json: cannot be read: No such file or directory*")
    refused(run("1.json", "2.json", "--report", "1.json/x.json"), "--report: cannot write to 1.json: *")
    refused(
        run("1.json", "2.json", "--report", "."),
        "argument --report: expected a path that ends in .json, .html, .htm, .md, or the word github, not '.'",
    )
    (empty_repo.path / "precious.json").write_text('{"name": "a package"}', encoding="utf-8")
    refused(
        run("1.json", "2.json", "--save-baseline", "precious.json"),
        "--save-baseline: precious.json was not written by this plugin; *",
    )
    refused(
        run("1.json", "2.json", "--gate", "tcr >= 7"),
        "argument --gate: tcr lies from 0 to 1; did you mean 7%[?], not 'tcr >= 7'",
    )
    refused(run(), "the following arguments are required: RESULTS.json")


def refused(result: pytest.RunResult, message: str) -> None:
    assert_ended(result, 4, err=f"error: {message}")
    assert result.outlines == []
    assert len(result.errlines) == 1
