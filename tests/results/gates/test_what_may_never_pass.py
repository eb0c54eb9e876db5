"""Every way to leave something out of a run, against every gate: none of them may end green."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.runs import assert_ended, ends_worker
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS
from tests.support.servers.endpoint import Endpoint

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS)
FLOOR = ("--personalens-gate", "tcr >= 0.5")
ASKED = {
    "a floor": FLOOR,
    "a baseline": ("--personalens-baseline", "base.json"),
    "a baseline to be saved": ("--personalens-save-baseline", "new.json"),
    "results": ("--personalens-report", "new.json"),
}


@pytest.mark.parametrize(
    ("asked", "fixture", "workers"),
    [
        *((asked, "personalens_scenario", ()) for asked in ASKED),
        ("a floor", "personalens_context", ()),
        ("results", "personalens_context", ("-n", "2")),
    ],
)
def test_tests_that_ask_for_no_dialogue_decide_nothing(
    told: Repository, asked: str, fixture: str, workers: tuple[str, ...]
) -> None:
    if asked == "a baseline":
        told.inline(*ARGS, "--personalens-save-baseline=base.json")
    told.write(test_bot=f"def test_bot({fixture}, personalens_assistant):\n    pass\n")
    assert_ended(
        told.run(*ARGS, *ASKED[asked], *workers),
        4,
        err="ERROR: --personalens-sample: no test that is left asks for the fixture personalens and is run, so *",
    )
    assert not (told.path / "new.json").exists()


def test_gates_of_the_configuration_alone_are_said_to_be_undecided(told: Repository) -> None:
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_gate = tcr >= 0.5\npersonalens_sample = 3\n")
    told.write(
        test_bot="def test_bot(personalens_scenario):\n    pass\n", test_unit="def test_unit():\n    pass\n"
    )
    told.inline().stdout.fnmatch_lines(
        ["personalens: no gate is decided: no test that ran asks for the fixture personalens"]
    )
    assert "personalens: no gate" not in str(told.inline("test_unit.py").stdout)


@pytest.mark.parametrize("how", ["--setup-only", "--setup-plan"])
def test_a_run_that_only_sets_up_decides_nothing(told: Repository, how: str) -> None:
    assert_ended(
        told.inline(*ARGS, *FLOOR, how),
        4,
        err="ERROR: --personalens-sample: no test that is left asks for the fixture personalens and is run, so there is nothing for *",
    )


HALF = """
    import itertools, pytest

    ran = itertools.count()

    @pytest.mark.parametrize("mode", [{mode!r}])
    def test_bot(personalens, mode):
        if next(ran) >= 5:
            {end}
        personalens.check()
"""


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
    told.write(**{place: HALF.format(mode=mode, end="pytest.skip('no key')")})
    assert_ended(
        told.inline(*ARGS, *FLOOR),
        1,
        "gate valid: FAILED, 5 of 10 items could be scored (not: 5 unevaluated); the floor is 90%",
    )


@pytest.mark.parametrize("mode", ["plain", "tools+none"])
def test_what_is_lost_with_its_worker_counts_by_what_it_was(told: Repository, mode: str) -> None:
    """Of 10 items and as many of the control, the worker dies in one of either."""
    dies = f"pass\n        if personalens.scenario.user == 'tinashe':\n            {ends_worker(3)}"
    told.write(test_bot=HALF.format(mode=mode, end=dies))
    result = told.run(
        *ARGS, *FLOOR, "--personalens-control=no-context", "-n", "1", "--personalens-report=results.json"
    )
    assert result.ret == 1
    found = told.results()
    assert len(found["lost"]) == 2 * len(found["of_controls"]) > 0
    assert found["uncounted"] == {"lost": len(found["of_controls"])}


@pytest.mark.slow
def test_a_property_of_that_name_in_a_test_of_ones_own(told: Repository) -> None:
    told.write(test_own="def test_own(record_property):\n    record_property('personalens', 'hello')\n")
    assert told.run(*ARGS, *FLOOR, "-n", "1").ret == 0


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
        *((selection, ("-n", "2")) for selection in ("-k", "another test of ours", "none")),
    ],
)
def test_what_a_selection_left_out_is_said_and_makes_no_baseline(
    told: Repository, selection: str, workers: tuple[str, ...]
) -> None:
    told.write(test_bot=TWO)
    words, left = SELECTIONS[selection]
    result = told.run(*ARGS, *FLOOR, *ASKED["a baseline to be saved"], *workers, *words)
    assert result.ret == (3 if left else 0)
    assert (told.path / "new.json").exists() is not bool(left)
    if left:
        result.stdout.fnmatch_lines(
            [
                f"left out by a selection (*): at least {left} item{'s' * (left > 1)} of the sample; all figures are over the rest"
            ]
        )


def test_what_the_last_failed_leave_out_is_said(told: Repository) -> None:
    told.write(test_bot=TWO, test_other="def test_other(personalens):\n    personalens.check()\n")
    kept = ("-p", "cacheprovider")
    (told.path / "low.txt").write_text("tc:" + next(iter(told_ids(told))))
    for more, left in ((), 30), (("test_bot.py",), 29):
        told.run_with_cache(*kept, *ARGS, "-k", "test_a")
        result = told.run_with_cache(*kept, *ARGS, *FLOOR, "--lf", *more)
        result.stdout.fnmatch_lines([f"left out by a selection (*): at least {left} items of the sample; *"])


def told_ids(repo: Repository) -> list[str]:
    """The scenarios of the sample."""
    repo.inline(*ARGS, "--personalens-report=ids.json")
    return [item["evaluation"]["scenario"] for item in repo.results("ids.json")["items"]]


CAPPED = (
    *ARGS[:2],
    "--personalens-user-model=openai:small",
    "--personalens-record=live",
    "--personalens-budget=1calls",
)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize("gates", [(), FLOOR], ids=["no gate", "gate"])
def test_a_cap_that_left_nothing_scored(
    repo: Repository, endpoint: Endpoint, workers: tuple[str, ...], gates: tuple[str, ...]
) -> None:
    assert_ended(
        repo.run(*CAPPED, *gates, *workers),
        1,
        "gate valid: FAILED, 0 of 10 items could be scored (not: 10 budget); the floor is 90%",
    )
    assert len(endpoint.calls) == 1


@pytest.mark.slow
def test_a_cap_counts_the_calls_of_its_own_run_only(
    repo: Repository, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    for number in (1, 2):
        repo.run(*CAPPED, *FLOOR, "-n", "2", "--testrunuid", "build-7")
        assert len(endpoint.calls) == number
        assert not [path for path in scratch.iterdir() if path.name.startswith("personalens")], (
            "nothing is left there"
        )


SKIPS = {
    "skip": "import pytest\npytest.skip('no key', allow_module_level=True)\n",
    "importorskip": "import pytest\nno_such = pytest.importorskip('no_such_module')\n",
}


@pytest.mark.parametrize("how", SKIPS)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_file_that_skips_itself_counts_against_the_gates(
    told: Repository, how: str, workers: tuple[str, ...]
) -> None:
    told.write(test_unit=SKIPS[how] + "def test_unit():\n    pass\n")
    assert told.run(*ARGS, *FLOOR, *workers).ret == 0, "it has no test of ours"
    told.write(test_other=SKIPS[how] + "def test_other(personalens):\n    personalens.check()\n")
    assert_ended(
        told.run(*ARGS, *FLOOR, *workers),
        1,
        "gate valid: FAILED, 10 of 20 items could be scored (not: 10 unevaluated); the floor is 90%",
    )
