"""A run split over machines: its shards, and the command that puts their results together, if they are of one run."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.results.gates.test_gates import ARGS, ECHO, HOOKS
from tests.support.processes.commands import refusal
from tests.support.processes.runs import assert_ended, ends_worker, merge_shards, run_shards
from tests.support.repository import Repository, edited
from tests.support.results.scored_items import write_shards
from tests.support.scripted_agents import BY_DOMAIN, TOLD

EMBEDDED = EmbeddedDataset()


@pytest.fixture
def scripted(repo: Repository) -> Repository:
    repo.write(conftest=BY_DOMAIN)
    return repo


@pytest.mark.parametrize("of", [1, 2, 3, 7, 10, 40])
def test_shards_share_a_sample_out_evenly_and_keep_their_scenarios_as_it_grows(of: int) -> None:
    smaller: list[tuple[ScenarioRef, ...]] = [()] * of
    for size in (1, 5, 30, 101):
        sample = draw(EMBEDDED, size, seed="s")
        parts = [sample.shard(number, of) for number in range(1, of + 1)]
        assert sorted(ref for part in parts for ref in part.refs) == sorted(sample.refs)
        assert {part.drawn for part in parts} == {size}
        for kinds in (("single", "multi"), ("single",), ("multi",)):
            sizes = [sum(ref.kind in kinds for ref in part.refs) for part in parts]
            assert max(sizes) - min(sizes) <= 1, kinds
        assert all(part.refs[: len(less)] == less for part, less in zip(parts, smaller, strict=True))
        smaller = [part.refs for part in parts]


def test_shards_share_out_the_domains_too() -> None:
    sample = draw(EMBEDDED, 400, seed="s")
    whole = Counter(domain for ref in sample.refs for domain in ref.domains)
    for number in range(1, 5):
        part = Counter(domain for ref in sample.shard(number, 4).refs for domain in ref.domains)
        assert all(abs(part[domain] - whole[domain] / 4) < 3 for domain in whole)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        *(
            ((f"--personalens-shard={given}",), f"--personalens-shard: expected K/N, such as 3/10: the part K, from 1 to N, of N, not '{given}' *")
            for given in ("11/10", "0/3", "a/b", "3", "1/0", "-1/3", "1/2/3", " ", "1/99999999")
        ),
        (("--personalens-shard=1/1",), "--personalens-shard: expected at least two parts; one is the whole run, so leave the option out, not '1/1' *"),
        (("-opersonalens_shard=6/5",), "personalens_shard: expected K/N*"),
        *((("--personalens-shard=1/2", f"--personalens-{act}-judge=j.json"), "*the judge is held against whole runs*") for act in ("adopt", "check")),
    ],
)  # fmt: skip
def test_a_shard_that_there_is_not(repo: Repository, options: tuple[str, ...], problem: str) -> None:
    with pytest.raises(pytest.UsageError) as refused:
        repo.settings("--personalens-sample=2", *options)
    pytest.LineMatcher([str(refused.value)]).fnmatch_lines([problem])


def test_a_shard_leaves_the_gates_to_the_merge(scripted: Repository) -> None:
    shard = ("--personalens-gate=p >= 3.9", "--personalens-shard=2/3", "--personalens-report=results.json")
    result = assert_ended(
        scripted.inline(*ARGS, *shard),
        0,
        "personalens: shard 2/3, 7 of 20 scenarios of embedded *",
        "shard 2/3 of the run: its gates are decided over all shards, by personalens merge",
        "below the threshold*:",
    )
    result.assert_outcomes(passed=7)
    result.stdout.no_fnmatch_line("gate *")
    found = scripted.results()
    assert (found["gates"], found["drawn"], found["settings"]["shard"]) == ([], 20, [2, 3])
    assert found["settings"]["gate"] == [["", "p", 3.9, ">=", "", ""]]
    assert scripted.inline(*ARGS, "--personalens-shard=2/3").ret == 1, "without a gate, items fail"


@pytest.mark.slow
def test_the_shards_of_a_run_add_up_to_it(scripted: Repository) -> None:
    lost = 'if scenario.domains[0] in ("Alarm", "Music"): raise RuntimeError\n            return UserTurn('
    scripted.write(
        conftest=BY_DOMAIN.replace("return UserTurn(", lost),
        test_more="""
        import pytest

        @pytest.mark.personalens(sample=3, seed="other", tc=False)
        def test_more(personalens):
            personalens.evaluate()
        """,
    )
    floors = ("tcr >= 0.2", "p >= 3", "valid >= 0.5")
    args = (*ARGS[1:], "--personalens-dimensions=all", *(f"--personalens-gate={floor}" for floor in floors))
    (scripted.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 20\n")
    whole = scripted.inline(*args, "--personalens-report=whole.json")
    parts = run_shards(scripted, 4, *args, extra={2: ("-n", "2"), 3: ("-n", "2", "--dist", "worksteal")})
    assert [part.ret for part in parts] == [0, 0, 0, 0]
    merged = merge_shards(scripted, "--report", "merged.json")
    assert merged.ret == whole.ret == 1
    assert (scripted.path / "merged.json").read_bytes() == (scripted.path / "whole.json").read_bytes()
    found, lines = scripted.results("merged.json"), whole.outlines
    assert found["uncounted"]["user-agent"] > 0
    assert len(found["items"]) == found["drawn"] == 23
    summary = lines[next(n for n, line in enumerate(lines) if "= personalens =" in line) + 1 :]
    summary = summary[: next(n for n, line in enumerate(summary) if line.startswith("results: "))]
    told = f"personalens: 4 of 4 shards of a run over 23 scenarios of {found['dataset']}"
    assert merged.outlines[0] == told
    assert merged.outlines[-len(summary) - 1 :] == [*summary, "results: merged.json"]


def test_the_gates_of_the_merge(scripted: Repository) -> None:
    run_shards(scripted, 2, *ARGS, "--personalens-gate=p >= 2")
    passed = (
        "gate p: passed, mean personalization * over 20 scenarios",
        "gate valid: passed, 20 of 20 items *",
    )
    assert_ended(merge_shards(scripted), 0, *passed)
    other = ("--gate", "tcr >= 0.1, p >= 3.9", "--gate", "valid >= 1", "--report", "merged.json")
    failed = ("gate p: FAILED, *", "gate tcr: passed, *", "results: merged.json")
    assert_ended(merge_shards(scripted, *other), 1, *failed)
    settings = scripted.results("merged.json")["settings"]
    assert settings["shard"] is None
    assert [gate[1:3] for gate in settings["gate"]] == [["tcr", 0.1], ["p", 3.9], ["valid", 1.0]]


@pytest.mark.slow
def test_items_that_failed_where_they_ran_fail_the_merge(scripted: Repository) -> None:
    assert {result.ret for result in run_shards(scripted, 2, *ARGS)} == {1}
    said = "failed items: *, whose runs say why; the first is test_bot.py::test_bot*"
    assert_ended(merge_shards(scripted), 1, said)
    scripted.write(test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    run_shards(scripted, 2, *ARGS)
    assert merge_shards(scripted).ret == 0


@pytest.mark.slow
def test_a_share_of_nothing(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\nempty_parameter_set_mark = fail_at_collect\n")
    repo.write(conftest=HOOKS, test_bot="def test_bot(personalens):\n    personalens.evaluate()\n")
    for own_test in (True, False):
        if not own_test:  # the built-in suite
            (repo.path / "test_bot.py").unlink()
        results = run_shards(repo, 3, "--personalens-sample=2", "--personalens-gate=valid >= 0", "-rs")
        assert [(result.ret, *result.parseoutcomes()) for result in results] == [
            (0, "passed"), (0, "passed"), (0, "skipped"),
        ]  # fmt: skip
        skipped = "SKIPPED*: personalens: this shard has no scenario of the sample"
        results[2].stdout.fnmatch_lines(["shard 3/3 of the run: *", skipped])
        assert repo.results("shard-3.json")["items"] == []
        assert merge_shards(repo, "--report", "merged.json").ret == 0
        assert len(repo.results("merged.json")["items"]) == 2
    # Nor does a selection need to leave something.
    results = run_shards(repo, 2, "--personalens-sample=4", "-k", "nonesuch", extra={1: ("-n", "2")})
    assert [result.ret for result in results] == [0, 0]
    (repo.path / "shard-3.json").unlink()
    assert_ended(merge_shards(repo), 4, err="error: no item in 2 results: did the runs collect any test?")


@pytest.mark.slow
def test_items_lost_in_a_shard_stay_lost(told: Repository) -> None:
    dies = f"if 'sports' in personalens.scenario.id:\n        {ends_worker(9)}\n    personalens.check()"
    told.write(test_bot=f"def test_bot(personalens):\n    {dies}\n")
    args = ("--personalens-gate", "valid >= 1", "--personalens-gate", "tcr >= 0")
    crashed = run_shards(told, 2, *ARGS, *args, extra={1: ("-n", "2"), 2: ("-n", "2")})
    assert any(result.ret for result in crashed)
    missed = "gate valid: FAILED, * of 20 items could be scored (not: * lost); *"
    assert_ended(merge_shards(told, "--report", "merged.json"), 1, missed)
    merged = told.results("merged.json")
    assert (lost := len(merged["lost"])) > 0
    assert merged["uncounted"] == {"lost": lost}
    assert len(merged["items"]) + lost == 20


def test_a_shard_that_was_stopped_or_is_missing_leaves_a_part(scripted: Repository) -> None:
    low = "assert personalens.evaluate().personalization > 2"
    scripted.write(test_bot=f"def test_bot(personalens):\n    {low}\n")
    stopped = run_shards(scripted, 2, *ARGS, "--personalens-gate=p >= 1", extra={2: ("-x",)})[1]
    part = "a part of the run only: it was stopped, or shards are missing; no gate is decided"
    stopped.stdout.fnmatch_lines([part])
    again = "its run was stopped; run the shard again, or give --partial for a report without gates"
    assert_ended(merge_shards(scripted), 4, err=f"error: shard-2.json: {again}")
    partial = assert_ended(merge_shards(scripted, "--partial", "--report", "merged.json"), 1, part)
    partial.stdout.no_fnmatch_line("gate *")
    merged = scripted.results("merged.json")
    assert (merged["complete"], merged["gates"]) == (False, [])
    (scripted.path / "shard-2.json").unlink()
    lines = ("personalens: 1 of 2 shards of a run over 20 scenarios of *", "overall * 10 *", part)
    assert_ended(merge_shards(scripted, "--partial"), 1, *lines).stdout.no_fnmatch_line("gate *")


def test_what_a_selection_left_of_a_shard_is_said_of_the_whole(scripted: Repository) -> None:
    run_shards(scripted, 2, *ARGS, "--personalens-gate=p >= 1", extra={2: ("-k", "nonesuch")})
    left = "left out by a selection (*): at least 10 items of the sample; *"
    assert_ended(merge_shards(scripted, "--save-baseline", "new.json"), 4, left)
    assert not (scripted.path / "new.json").exists()


def test_calls_and_dollars_add_up(repo: Repository) -> None:
    repo.write(conftest=HOOKS)
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_prices =\n    echo:small = 3, 15\n")
    repo.inline(*ECHO, "--personalens-report=whole.json")
    run_shards(repo, 3, *ECHO)
    assert merge_shards(repo, "--report", "merged.json").ret == 0
    assert repo.results("merged.json")["usd"]
    assert (repo.path / "merged.json").read_bytes() == (repo.path / "whole.json").read_bytes()


# What does not belong together


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, now the current one, with the results of two shards, 1.json and 2.json."""
    monkeypatch.chdir(tmp_path)
    write_shards(tmp_path)
    return tmp_path


def setting(**values: object) -> Callable[[str], str]:
    return edited(lambda data: data["settings"].update(values))


OTHER_RUN = "1.json and 2.json are not of one run:"
FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "truncated": (lambda text: text[:900], "2.json: not valid JSON (*); fetch it or run its tests again"),
    "not JSON at all": (lambda text: "", "2.json: not valid JSON (*"),
    "a list": (lambda text: "[]", "2.json: not a results file of this version: its schema is 'None', not 'personalens-results/2'*"),
    "another schema": (edited(lambda d: d.update(schema="personalens-results/3")), "2.json: not a results file of this version: its schema is 'personalens-results/3', *"),
    "another version": (edited(lambda d: d.update(plugin="0.0.1")), "2.json: written by pytest-personalens '0.0.1', this is '*'; use one version in all jobs"),
    "a field too many": (edited(lambda d: d["items"][0].update(mood="good")), "2.json: items.0.mood: unknown field; correct its name, or remove it*"),
    "another sample": (lambda text: setting(sample=5)(edited(lambda d: d.update(requested=5, drawn=5))(text)), f"{OTHER_RUN} sample is 4 in the first, 5 in the second"),
    "another draw": (edited(lambda d: d.update(drawn=3)), f"{OTHER_RUN} drawn is 4 in the first, 3 in the second"),
    "another seed": (setting(seed="x"), f"{OTHER_RUN} seed is 'personalens' in the first, 'x' in the second"),
    "another context": (setting(context=""), f"{OTHER_RUN} context is 'DIS' in the first, '' in the second"),
    "another model as judge": (setting(judge_model="openai:x"), f"{OTHER_RUN} judge_model is *"),
    "another judge": (edited(lambda d: [i["evaluation"].update(judge="lenient") for i in d["items"]]), f"{OTHER_RUN} the judge is 'judge' in the first, 'lenient' in the second"),
    "another floor": (setting(gate=[["", "tcr", 0.6]]), f"{OTHER_RUN} gate is * in the first, * in the second"),
    "another dataset": (edited(lambda d: d.update(dataset="embedded 1.0")), f"{OTHER_RUN} dataset is *"),
    "another division": (setting(shard=[2, 3]), f"{OTHER_RUN} number of shards is 2 in the first, 3 in the second"),
    "the same shard": (setting(shard=[1, 2]), "1.json and 2.json are both shard 1/2; give one of them"),
    "no shard": (setting(shard=None), "2.json: the results of a whole run and not of a shard (--personalens-shard K/N): there is nothing to merge"),
    "no shard of this division": (setting(shard=[3, 2]), "2.json: settings.shard: there is no shard 3/2"),
    "a shard that is none": (setting(shard="2/2"), "2.json: settings: shard is '2/2', not list or tuple; *"),
    "a floor that is none": (setting(gate=[["", "tcr", "high"]]), "2.json: settings.gate*: expected a number, not 'high'*"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_results_of_different_runs(shards: Path, capsys: pytest.CaptureFixture[str], fault: str) -> None:
    edit, message = FAULTS[fault]
    (shards / "2.json").write_text(edit((shards / "2.json").read_text(encoding="utf-8")), encoding="utf-8")
    line = pytest.LineMatcher([refusal(capsys, "merge", "1.json", "2.json")])
    line.fnmatch_lines([f"error: {message}"])


def test_results_that_overlap_or_cannot_be_read(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (shards / "1.json").read_text(encoding="utf-8")
    (shards / "again.json").write_text(setting(shard=[2, 2])(text), encoding="utf-8")
    (shards / "of-five.json").write_text(setting(shard=[2, 5])(text), encoding="utf-8")
    (shards / "precious.json").write_text('{"name": "a package"}', encoding="utf-8")
    both = ("1.json", "2.json")
    for words, message in (
        (("1.json", "again.json"), "1.json and again.json both hold 't.py::t*: they are not shards of one sample"),
        (("1.json", "1.json"), "1.json and 1.json are both shard 1/2; give one of them"),
        (("2.json",), "shard 1/2 is missing: give its results too, or --partial for a report without gates"),
        (("of-five.json",), "shard 1/5 (and 3 more) is missing: *"),
        (("3.json",), "3.json: cannot be read: No such file or directory*"),
        ((*both, "--report", "1.json/x.json"), "--report: cannot write to 1.json: *"),
        ((*both, "--report", "."), "argument --report: expected a path that ends in .json, .html, .htm, .md, or the word github, not '.'"),
        ((*both, "--save-baseline", "precious.json"), "--save-baseline: precious.json was not written by this plugin; *"),
        ((*both, "--gate", "tcr >= 7"), "argument --gate: tcr lies from 0 to 1; did you mean 7%[?], not 'tcr >= 7'"),
        ((), "the following arguments are required: RESULTS.json"),
    ):  # fmt: skip
        pytest.LineMatcher([refusal(capsys, "merge", *words)]).fnmatch_lines([f"error: {message}"])


def test_a_file_of_yesterday_is_not_merged(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    then = (shards / "2.json").stat().st_mtime - 24 * 3600
    os.utime(shards / "2.json", (then, then))
    told = "error: 2.json was written 24 hours before 1.json: is it of an earlier run? "
    assert refusal(capsys, "merge", "1.json", "2.json").startswith(told)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No CI service says which run this is."""
    for name in (
        "PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "CIRCLE_WORKFLOW_ID", "BUILDKITE_BUILD_ID",
        "BUILD_BUILDID", "BUILD_TAG",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def shard(number: int) -> tuple[str, ...]:
    floor = ("--personalens-gate=tcr >= 0.5", f"--personalens-shard={number}/2")
    return ("--personalens-sample=6", *ARGS[1:], *floor, f"--personalens-report=shard-{number}.json")


OTHER = "error: shard-1.json and shard-2.json are not of one run:"


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("name", ["PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "BUILD_TAG"])
def test_shards_of_different_runs_in_ci(told: Repository, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for number in (1, 2):
        monkeypatch.setenv(name, f"run-{number}")
        told.inline(*shard(number))
    why = f"the run ({name}) is 'run-1' in the first, 'run-2' in the second"
    assert_ended(merge_shards(told), 4, err=f"{OTHER} {why}")
    if name == "PERSONALENS_RUN_ID":
        told.inline(*shard(1))
        assert merge_shards(told, "--report", "whole.json").ret == 0
        assert told.results("whole.json")["origin"] == {}


@pytest.mark.usefixtures("nowhere")
def test_shards_of_different_commits_and_dead_ones(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(told.path.parent))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init"], cwd=told.path, check=True, capture_output=True)
    for number in (1, 2):
        commit = [*git, "commit", "--allow-empty", "-m", str(number)]
        subprocess.run(commit, cwd=told.path, check=True, capture_output=True)
        told.inline(*shard(number))
    assert_ended(merge_shards(told), 4, err=f"{OTHER} the commit is *")
    # A shard that dies leaves nothing of an earlier run that could stand in for it.
    told.write(conftest=TOLD.replace('return lambda messages: "fine"', "os._exit(9)"))
    assert told.run(*shard(2)).ret == 9
    assert not (told.path / "shard-2.json").exists()
    assert merge_shards(told).ret == 4
