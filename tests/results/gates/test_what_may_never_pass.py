"""What a run left undone fails its gates: left out, skipped, lost, not paid for, or too little to decide on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.runs import assert_ended, collect_ids, ends_worker, merge_shards
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT, TOLD, TOLD_AGENTS
from tests.support.servers.endpoint import Endpoint

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS)
RESULTS = ("--personalens-report", "results.json")
FLOOR = ("--personalens-gate", "tcr >= 0.5")
BASE, SAVE = ("--personalens-baseline", "base.json"), ("--personalens-save-baseline", "base.json")
INFRA = ("-o", "personalens_exit_infra=75")
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
UNIT = "def test_unit():\n    pass\n"
HALF_SCORED = "gate valid: FAILED, 5 of 10 items could be scored (not: 5 unevaluated); the floor is 90%"


# Nothing to decide on


@pytest.mark.parametrize(
    ("asked", "fixture", "more"),
    [
        *((asked, "personalens_scenario", ()) for asked in (FLOOR, BASE, SAVE, RESULTS)),
        (FLOOR, "personalens_context", ()),
        (RESULTS, "personalens_context", ("-n", "2")),
        *((FLOOR, "personalens", (how,)) for how in ("--setup-only", "--setup-plan", "test_unit.py")),
        (FLOOR, "personalens", ("-k", "unit")),
        pytest.param(FLOOR, "personalens", ("-k", "unit", "-n", "2"), marks=pytest.mark.slow),
    ],
)
def test_tests_that_ask_for_no_dialogue_decide_nothing(
    told: Repository, asked: tuple[str, ...], fixture: str, more: tuple[str, ...]
) -> None:
    if asked is BASE:
        told.inline(*ARGS, *SAVE)
    told.write(test_bot=f"def test_bot({fixture}, personalens_assistant):\n    pass\n", test_unit=UNIT)
    none = "no test that is left asks for the fixture personalens and is run, so *"
    assert_ended(told.run(*ARGS, *asked, *more), 4, err=f"ERROR: --personalens-sample: {none}")
    assert asked is BASE or not list(told.path.glob("*.json"))


def test_gates_of_the_configuration_alone_are_said_to_be_undecided(told: Repository) -> None:
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = tcr >= 0.5\npersonalens_sample = 3\n")
    told.write(test_bot="def test_bot(personalens_scenario):\n    pass\n", test_unit=UNIT)
    undecided = "personalens: no gate is decided: no test that ran asks for the fixture personalens"
    told.inline().stdout.fnmatch_lines([undecided])
    alone = told.inline("test_unit.py")
    assert alone.ret == 0
    assert "personalens: no gate" not in str(alone.stdout)
    assert told.inline("test_unit.py", *FLOOR).ret == 4, "a gate that was asked for is another matter"


@WORKERS
def test_a_file_that_cannot_be_read_is_told_and_no_more(told: Repository, workers: tuple[str, ...]) -> None:
    told.write(test_bot="def test_(:\n")
    result = told.run(*ARGS, *FLOOR, "test_bot.py", *workers)
    assert result.ret in (1, 2)
    result.stdout.fnmatch_lines(["ERROR test_bot.py*"])
    assert "asks for the fixture" not in result.stderr.str()
    assert told.run(*ARGS, "--personalens-shard=1/2", "nowhere", *workers).ret != 0, "nor a path that is none"


@pytest.mark.slow
def test_a_test_file_that_cannot_be_read_is_no_trouble_of_others(told: Repository) -> None:
    (told.path / "faults.txt").write_text("\n".join(collect_ids(told, *ARGS)))
    told.write(test_broken="def test_(:\n")
    assert told.inline(*ARGS, *FLOOR, *INFRA, "test_bot.py").ret == 75
    assert told.inline(*ARGS, *FLOOR, *INFRA, "--continue-on-collection-errors").ret == 1


# Skipped


@pytest.mark.parametrize("mark", ["skip", "xfail(run=False)"])
def test_a_run_of_which_nothing_was_evaluated_fails(told: Repository, mark: str) -> None:
    told.write(
        test_bot=f"import pytest\n\n@pytest.mark.{mark}\ndef test_bot(personalens):\n    personalens.check()\n"
    )
    assert_ended(
        told.inline(*ARGS, *FLOOR, *RESULTS, *SAVE),
        1,
        "not scored: 10, the test ended before it was evaluated *",
        "gate tcr: FAILED (not decided), task completion rate: no item could be scored",
        "gate valid: FAILED, 0 of 10 items could be scored (not: 10 unevaluated); the floor is 90%",
        "the baseline *base.json was not written: only 0 of 10 items could be scored",
    )
    assert len(told.results()["unevaluated"]) == 10
    assert told.results()["uncounted"] == {"unevaluated": 10}
    assert told.inline(*ARGS).ret == 0, "what no gate looks at is as pytest has it"


HALF = """
    import itertools, pytest

    ran = itertools.count()

    @pytest.mark.parametrize("mode", [{mode!r}])
    def test_bot(personalens, mode):
        if next(ran) >= {first}:
            {end}
        personalens.check()
"""
SKIP = "pytest.skip('no key')"


@pytest.mark.parametrize(
    ("mode", "place"),
    [
        *((mode, "test_bot") for mode in ("plain", "tools+none", "+D", "x-+swapped", "books-1-user7+none")),
        ("plain", "a+none__test_bot"),
        ("tools+none", "a+none__test_bot"),
    ],
)
def test_what_is_skipped_counts_however_its_test_is_called(told: Repository, mode: str, place: str) -> None:
    (told.path / "test_bot.py").unlink()
    told.write(**{place: HALF.format(mode=mode, first=5, end=SKIP)})
    assert_ended(told.inline(*ARGS, *FLOOR), 1, HALF_SCORED)


def test_what_was_skipped_counts_also_with_workers_and_over_shards(told: Repository) -> None:
    told.write(test_bot=HALF.format(mode="plain", first=0, end=SKIP))
    assert told.run(*ARGS, *FLOOR, *RESULTS, "-n", "2").ret == 1
    assert len(told.results()["unevaluated"]) == 10
    for number, first in ((1, 9), (2, 0)):
        told.write(test_bot=HALF.format(mode="plain", first=first, end=SKIP))
        shard = (f"--personalens-shard={number}/2", f"--personalens-report=shard-{number}.json")
        assert told.inline(*ARGS, "--personalens-gate=single: tcr >= 0.5", *shard).ret == 0
    few = "gate single: tcr: FAILED (not decided), only 4 of its 8 items could be scored; the floor is 90%"
    assert_ended(merge_shards(told), 1, few, HALF_SCORED)


@pytest.mark.parametrize(
    ("how", "workers"),
    [
        ("import pytest\npytest.skip('no key', allow_module_level=True)\n", ()),
        ("import pytest\npytest.skip('no key', allow_module_level=True)\n", ("-n", "2")),
        ("import pytest\nno_such = pytest.importorskip('no_such_module')\n", ()),
    ],
    ids=["skip", "skip on workers", "importorskip"],
)
def test_a_file_that_skips_itself_counts_too(told: Repository, how: str, workers: tuple[str, ...]) -> None:
    told.write(test_unit=how + UNIT)
    assert told.run(*ARGS, *FLOOR, *workers).ret == 0, "it has no test of ours"
    told.write(test_other=how + "def test_other(personalens):\n    personalens.check()\n")
    half = "gate valid: FAILED, 10 of 20 items could be scored (not: 10 unevaluated); the floor is 90%"
    assert_ended(told.run(*ARGS, *FLOOR, *workers), 1, half)


@WORKERS
def test_a_control_that_the_test_skips_is_told_apart(told: Repository, workers: tuple[str, ...]) -> None:
    skips = "if personalens.control:\n        pytest.skip('no control')\n    personalens.check()"
    told.write(test_bot=f"import pytest\n\ndef test_bot(personalens):\n    {skips}\n")
    control = ("--personalens-control", "no-context", "--personalens-gate", "lift >= -3")
    none = "no scenario was scored both with and without its context; 10 skipped by your test"
    undecided = f"gate lift: FAILED (not decided), *: {none}: in a control, call evaluate() and return"
    assert_ended(told.run(*ARGS, *control, *workers), 1, undecided)


# Lost, or not paid for


@pytest.mark.parametrize("mode", ["plain", "tools+none"])
def test_what_is_lost_with_its_worker_counts_by_what_it_was(told: Repository, mode: str) -> None:
    """Of 10 items and as many of the control, the worker dies in one of either."""
    dies = f"pass\n        if personalens.scenario.user == 'tinashe':\n            {ends_worker(3)}"
    told.write(test_bot=HALF.format(mode=mode, first=5, end=dies))
    result = told.run(*ARGS, *FLOOR, *RESULTS, "--personalens-control=no-context", "-n", "1")
    assert result.ret == 1
    found = told.results()
    assert len(found["lost"]) == 2 * len(found["of_controls"]) > 0
    assert found["uncounted"] == {"lost": len(found["of_controls"])}


OWN_SAMPLE = """
    import os, pytest

    @pytest.mark.personalens(domain="Movies")
    def test_bot(personalens):
        if os.environ.get("CRASH") and "movies" in personalens.scenario.id:
            os._exit(1)
        personalens.check()
"""


def test_a_mark_with_a_sample_of_its_own_is_the_only_one_that_counts(told: Repository) -> None:
    own = "def test_own(record_property):\n    record_property('personalens', 'hello')\n"  # no item of ours
    told.write(test_bot=OWN_SAMPLE, test_own=own)
    assert told.run(*ARGS, *SAVE, *RESULTS, "-n", "1").ret == 0
    found = told.results()
    assert (found["requested"], found["drawn"], len(found["items"])) == (10, 10, 10)
    assert told.inline(*ARGS, *BASE).ret == 0


@pytest.mark.slow
def test_a_worker_that_dies_over_such_a_sample(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    told.write(test_bot=OWN_SAMPLE)
    monkeypatch.setenv("CRASH", "1")
    result = told.run(*ARGS, *FLOOR, *RESULTS, "-n", "2", *INFRA)
    found = told.results()
    assert found["lost"]
    assert len(found["lost"]) + len(found["items"]) == 10
    assert result.ret == 1, "an assistant may bring a worker down: that is no trouble of others"


CAPPED = (
    *ARGS[:2], "--personalens-user-model=openai:small", "--personalens-record=live", "--personalens-budget=1calls",
)  # fmt: skip


@WORKERS
@pytest.mark.parametrize("gates", [(), FLOOR], ids=["no gate", "gate"])
def test_a_cap_that_left_nothing_scored(
    repo: Repository, endpoint: Endpoint, workers: tuple[str, ...], gates: tuple[str, ...]
) -> None:
    unpaid = "gate valid: FAILED, 0 of 10 items could be scored (not: 10 budget); the floor is 90%"
    assert_ended(repo.run(*CAPPED, *gates, *workers), 1, unpaid)
    assert len(endpoint.calls) == 1


@pytest.mark.slow
def test_a_cap_counts_the_calls_of_its_own_run_only(
    repo: Repository, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    for number in (1, 2):
        repo.run(*CAPPED, *FLOOR, "-n", "2", "--testrunuid", "build-7")
        assert len(endpoint.calls) == number
        assert not list(scratch.glob("personalens*")), "nothing is left there"


# Left out by a selection

TWO = """
    import pytest

    def test_a(personalens):
        personalens.check()

    class TestB:
        @pytest.mark.parametrize("mode", ["tools", "plain"])
        def test_b(self, mode, personalens):
            personalens.check()

    def test_unit():
        pass
"""
#: What a selection is by -> its words, and how many items of 30 it leaves out.
SELECTIONS = {
    "-k": (("-k", "not test_a"), 10),
    "-m": (("-m", "personalens(kind='single')"), 6),
    "--deselect": (("--deselect", "test_bot.py::test_a"), 10),
    "a node id": (("test_bot.py::TestB::test_b",), 10),
    "a class": (("test_bot.py::TestB",), 10),
    "a parameter": (("-k", "plain and not test_a"), 20),
    "another test of ours": (("-k", "test_a"), 20),
    "none": ((), 0),
    "all but what is not ours": (("-k", "not unit"), 0),
}


@pytest.mark.parametrize(
    ("selection", "workers"),
    [
        *((selection, ()) for selection in SELECTIONS),
        # Workers select by the same code; what differs is how the controller hears of it.
        *((selection, ("-n", "2")) for selection in ("another test of ours", "none")),
    ],
)
def test_what_a_selection_leaves_is_said(told: Repository, selection: str, workers: tuple[str, ...]) -> None:
    told.write(test_bot=TWO)
    words, left = SELECTIONS[selection]
    result = told.run(*ARGS, *FLOOR, *SAVE, *workers, *words)
    assert result.ret == (3 if left else 0)
    assert (told.path / "base.json").exists() is not bool(left)
    said = f"left out by a selection (-k, -m, --lf, node ids, paths): at least {left} item{'s' * (left > 1)} of the sample; all figures are over the rest"
    assert (said in result.outlines) is bool(left)


def test_results_over_a_selection_are_no_baseline(told: Repository) -> None:
    told.inline(*ARGS, "-k", "movies or multi", "--personalens-report=base.json")
    assert told.results("base.json")["left_out"] > 0
    left = "ERROR: --personalens-baseline: *: a selection left * items of the sample out *"
    assert_ended(told.inline(*ARGS, *BASE), 4, err=left)
    told.inline(*ARGS, "--personalens-report=base.json", "test_bot.py::test_bot")
    assert told.inline(*ARGS, *BASE).ret == 0, "what selects all leaves nothing out"


def test_what_the_last_failed_leave_out_is_said(told: Repository) -> None:
    told.write(test_bot=TWO, test_other="def test_other(personalens):\n    personalens.check()\n")
    args = ("-p", "cacheprovider", "--personalens-sample=3", *TOLD_AGENTS)
    (told.path / "low.txt").write_text("tc:" + collect_ids(told, *args[2:], "-k", "test_a")[0])
    for more, left in ((), 9), (("test_bot.py",), 8):
        told.run_with_cache(*args, "-k", "test_a")
        result = told.run_with_cache(*args, *FLOOR, "--lf", *more)
        result.stdout.fnmatch_lines([f"left out by a selection (*): at least {left} items of the sample; *"])


# Baselines


def test_a_baseline_of_a_run_that_failed_says_so(told: Repository) -> None:
    (told.path / "low.txt").write_text("\n".join(f"tc:{name}" for name in collect_ids(told, *ARGS)))
    said = "baseline (of a run that failed: tcr): *base.json"
    told.inline(*ARGS, *FLOOR, *SAVE).stdout.fnmatch_lines([said])


@pytest.mark.slow
def test_a_judge_of_several_votes_is_the_same_in_the_same_run(repo: Repository) -> None:
    mark = "import pytest\n@pytest.mark.personalens(p=3)"
    repo.write(conftest=BOT, test_bot=f"{mark}\ndef test_bot(personalens):\n    personalens.evaluate()\n")
    args = ("--personalens-sample=10", "-o", "personalens_judge_votes=3")
    assert repo.inline(*args, *SAVE).ret == 0
    assert_ended(repo.inline(*args, *BASE), 0, "compared with base.json: 10 scenarios*")
    assert repo.inline(*args[:2], "personalens_judge_votes=5", *BASE).ret == 4


#: Of three trials of a scenario, the first goes wrong; the judge says of each what it heard.
FIRST_BAD = (
    TOLD.replace('lambda messages: "fine"', 'lambda messages: "bad" if next(replies) % 6 < 2 else "fine"')
    .replace("    class User:", "    import itertools\n    replies = itertools.count()\n\n    class User:")
    .replace(
        'f"{dimension.short}:{scenario.id}" in listed("low.txt")', '"bad" in dialogue.messages[1].content'
    )
    .replace('justification="told"', "justification=f'heard {dialogue.messages[1].content}'")
)


def test_the_reason_beside_a_drop_is_that_of_the_trial_that_fell(told: Repository) -> None:
    assert told.inline(*ARGS, *SAVE, "--personalens-trials=3").ret == 0
    told.write(conftest=FIRST_BAD)
    result = told.inline(*ARGS, *BASE, "--personalens-trials=3", "-v")
    worse = [line for line in result.outlines if ": tc 1 -> 0.67" in line or ": p 4 -> 3" in line]
    assert worse
    assert all("heard bad" in line for line in worse)
