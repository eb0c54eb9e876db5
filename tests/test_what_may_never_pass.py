"""Every way to leave something out of a run, against every gate: none of them may end green."""

from __future__ import annotations

import pytest

from tests.conftest import Repository

ARGS = ("--personalens-sample", "10", "--personalens-user-model", "told", "--personalens-judge-model", "told")
FLOOR = ("--personalens-gate", "tcr >= 0.5")
ASKED = {
    "a floor": FLOOR,
    "a baseline": ("--personalens-baseline", "base.json"),
    "a baseline to be saved": ("--personalens-save-baseline", "new.json"),
    "results": ("--personalens-json", "new.json"),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("fixture", ["personalens_scenario", "personalens_context"])
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_tests_that_ask_for_no_dialogue_decide_nothing(told: Repository, asked: str, fixture: str, workers: tuple[str, ...]) -> None:
    told.inline(*ARGS, "--personalens-save-baseline", "base.json")
    told.write(test_bot=f"def test_bot({fixture}, personalens_assistant):\n    pass\n")
    result = told.run(*ARGS, *ASKED[asked], *workers)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --personalens-sample: no test that is left asks for the fixture personalens, so *"])
    assert not (told.path / "new.json").exists()


def test_gates_of_the_configuration_alone_are_said_to_be_undecided(told: Repository) -> None:
    (told.path / "pytest.ini").write_text("[pytest]\npersonalens_gates = tcr >= 0.5\npersonalens_sample = 3\n")
    told.write(test_bot="def test_bot(personalens_scenario):\n    pass\n", test_unit="def test_unit():\n    pass\n")
    told.inline().stdout.fnmatch_lines(["personalens: no gate is decided: no test that ran asks for the fixture personalens"])
    assert "personalens: no gate" not in str(told.inline("test_unit.py").stdout)


@pytest.mark.parametrize("how", ["--setup-only", "--setup-plan"])
def test_a_run_that_only_sets_up_decides_nothing(told: Repository, how: str) -> None:
    result = told.inline(*ARGS, *FLOOR, how)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --personalens-sample: --setup-only and --setup-plan run no test, so there is nothing for *"])
