"""What a run left undone fails its gates: skipped, crashed, left out, judged in part, or too few to tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.processes.runs import assert_ended, merge_shards
from tests.support.repository import Repository
from tests.support.scripted_agents import BOT, TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS)
GATES = ("--personalens-gate", "tcr >= 0.5", "--personalens-report", "results.json")
BASE = ("--personalens-baseline", "base.json")
SAVE = ("--personalens-save-baseline", "base.json")


UNDONE = {
    "skipped by a mark": "@pytest.mark.skip\ndef test_bot(personalens):\n    personalens.check()\n",
    "expected to fail": (
        "@pytest.mark.xfail(run=False)\ndef test_bot(personalens):\n    personalens.check()\n"
    ),
}


def test_a_baseline_of_a_run_that_failed_says_so(told: Repository) -> None:
    (told.path / "low.txt").write_text(
        "\n".join(f"tc:{item['evaluation']['scenario']}" for item in run_items(told))
    )
    told.inline(*ARGS, *GATES, *SAVE).stdout.fnmatch_lines(
        ["baseline (of a run that failed: tcr): *base.json"]
    )


@pytest.mark.parametrize("how", UNDONE)
def test_a_run_of_which_nothing_was_evaluated_fails(told: Repository, how: str) -> None:
    told.write(test_bot="import pytest\n\n" + UNDONE[how])
    assert_ended(
        told.inline(*ARGS, *GATES, *SAVE),
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

    @pytest.fixture
    def key():
        if next(ran) >= 5:
            pytest.skip('no key')

    def test_bot(key, personalens):
        personalens.check()
"""


def test_what_was_skipped_counts_also_with_workers_and_over_shards(told: Repository) -> None:
    half = "gate valid: FAILED, 5 of 10 items could be scored (not: 5 unevaluated); the floor is 90%"
    told.write(test_bot=HALF)
    assert_ended(told.inline(*ARGS, *GATES), 1, half)
    told.write(test_bot=HALF.replace("next(ran) >= 5", "True"))
    assert told.run(*ARGS, *GATES, "-n", "2").ret == 1
    assert len(told.results()["unevaluated"]) == 10
    for number, skips in ((1, "False"), (2, "True")):
        told.write(test_bot=HALF.replace("next(ran) >= 5", skips))
        shard = (f"--personalens-shard={number}/2", f"--personalens-report=shard-{number}.json")
        assert told.inline(*ARGS, *GATES[:2], *shard).ret == 0
    assert_ended(merge_shards(told), 1, half)


@pytest.mark.slow
@pytest.mark.parametrize("extra", [(), ("-n", "2")], ids=("alone", "workers"))
def test_a_run_that_is_asked_for_gates_and_has_nothing_for_them_is_refused(
    told: Repository, extra: tuple[str, ...]
) -> None:
    told.write(test_unit="def test_unit():\n    pass\n")
    none = "no test that is left asks for the fixture personalens and is run, so there is nothing for the gates to decide on; *"
    for words in (("test_unit.py",), ("-k", "unit")):
        assert_ended(told.run(*ARGS, *GATES, *words, *extra), 4, err=f"ERROR: --personalens-sample: {none}")
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_sample = 3\n")
    assert told.run("test_unit.py", *GATES, *extra).ret == 4
    assert told.run("test_unit.py", *extra).ret == 0


@pytest.mark.parametrize("extra", [(), ("-n", "2")], ids=("alone", "workers"))
def test_a_file_that_cannot_be_read_is_told_and_not_the_scenarios_that_it_lacks(
    told: Repository, extra: tuple[str, ...]
) -> None:
    told.write(test_bot="def test_(:\n")
    result = told.run(*ARGS, *GATES, "test_bot.py", *extra)
    assert result.ret in (1, 2)
    result.stdout.fnmatch_lines(["ERROR test_bot.py*"])
    assert "asks for the fixture" not in result.stderr.str()


def test_a_shard_of_a_path_that_is_not_there_is_no_success(told: Repository) -> None:
    for extra in ((), ("-n", "2")):
        assert told.run(*ARGS, "--personalens-shard=1/2", "nowhere", *extra).ret != 0


def test_what_a_selection_left_out_is_said_and_makes_no_baseline(told: Repository) -> None:
    part = told.inline(*ARGS, "-k", "movies or multi", "--personalens-report=base.json")
    part.stdout.fnmatch_lines(
        ["left out by a selection (-k, -m, --lf, node ids, paths): * items of the sample; *"]
    )
    assert told.results("base.json")["left_out"] > 0
    assert_ended(
        told.inline(*ARGS, *BASE),
        4,
        err="ERROR: --personalens-baseline: *: a selection left * items of the sample out *",
    )
    whole = told.inline(*ARGS, "--personalens-report=base.json", "test_bot.py::test_bot")
    assert "left out" not in whole.stdout.str()
    assert told.inline(*ARGS, *BASE).ret == 0


OWN_SAMPLE = """
    import os, pytest

    @pytest.mark.personalens(domain="Movies")
    def test_bot(personalens):
        if os.environ.get("CRASH") and "movies" in personalens.scenario.id:
            os._exit(1)
        personalens.check()
"""


def test_a_mark_with_a_sample_of_its_own_is_the_only_one_that_counts(told: Repository) -> None:
    told.write(test_bot=OWN_SAMPLE)
    assert told.inline(*ARGS, *SAVE, "--personalens-report=results.json").ret == 0
    found = told.results()
    assert (found["requested"], found["drawn"], len(found["items"])) == (10, 10, 10)
    assert told.inline(*ARGS, *BASE).ret == 0


@pytest.mark.slow
def test_a_worker_that_dies_over_a_sample_of_a_mark_is_seen(
    told: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.write(test_bot=OWN_SAMPLE)
    monkeypatch.setenv("CRASH", "1")
    result = told.run(*ARGS, *GATES, "-n", "2", "-o", "personalens_exit_infra=75")
    found = told.results()
    assert found["lost"]
    assert len(found["lost"]) + len(found["items"]) == 10
    assert result.ret == 1, "an assistant may bring a worker down: that is no trouble of others"


@pytest.mark.slow
def test_a_test_file_that_cannot_be_read_is_no_trouble_of_others(told: Repository) -> None:
    told.write(test_broken="def test_(:\n")
    (told.path / "faults.txt").write_text("\n".join(i["evaluation"]["scenario"] for i in run_items(told)))
    args = (*ARGS, *GATES, "-o", "personalens_exit_infra=75")
    assert told.inline(*args, "test_bot.py").ret == 75
    assert told.inline(*args, "--continue-on-collection-errors").ret == 1


def run_items(repo: Repository) -> list[dict[str, Any]]:
    repo.inline(*ARGS, "--personalens-report=results.json", "test_bot.py")
    found: list[dict[str, Any]] = repo.results()["items"]
    return found


SKIPS = """
    import pytest

    def test_bot(personalens):
        if personalens.control:
            pytest.skip("no control")
        personalens.check()
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "workers"])
def test_a_control_that_the_test_skips_is_told_apart(told: Repository, workers: tuple[str, ...]) -> None:
    told.write(test_bot=SKIPS)
    control = ("--personalens-control", "no-context", "--personalens-gate", "lift >= -3")
    assert_ended(
        told.run(*ARGS, *control, *workers),
        1,
        "gate lift: FAILED (not decided), *: no scenario was scored both with and without its"
        " context; 10 skipped by your test: in a control, call evaluate() and return",
    )


@pytest.mark.slow
def test_a_judge_of_several_votes_is_the_same_in_the_same_run(repo: Repository) -> None:
    repo.write(
        conftest=BOT,
        test_bot="import pytest\n@pytest.mark.personalens(p=3)\ndef test_bot(personalens):\n    personalens.evaluate()\n",
    )
    args = ("--personalens-sample", "10", "-o", "personalens_judge_votes=3")
    assert repo.inline(*args, *SAVE).ret == 0
    assert_ended(repo.inline(*args, *BASE), 0, "compared with base.json: 10 scenarios*")
    other = repo.inline(*args[:2], "-o", "personalens_judge_votes=5", *BASE)
    assert other.ret == 4


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
