"""One table: every way to leave the bad half of a run out, times every gate: none ends green."""

from __future__ import annotations

import pytest

from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.support.processes.runs import ends_worker
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS, TOLD_ALONE

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS)
#: The half of the sample that a way leaves out, with scenarios of either kind.
BAD = [ref.id for ref in draw(EmbeddedDataset(), 10, seed="personalens").refs[:5]]
HEAD = f"import os, sys, pytest\n\nBAD = {BAD!r}\n\n"
GOOD = "def test_bot(personalens):\n    personalens.check()\n"

GATES = {
    "tcr": ("--personalens-gate", "tcr >= 0.5"),
    "p": ("--personalens-gate", "p >= 2"),
    "single": ("--personalens-gate", "single: tcr >= 0.5"),
    "multi": ("--personalens-gate", "multi: p >= 2"),
    "valid": ("--personalens-gate", "valid >= 0.9"),
    "pass^1": ("--personalens-gate", "pass^1 >= 0.5"),
    "lift": ("--personalens-gate", "lift >= 0", "--personalens-control", "no-context"),
    "baseline": ("--personalens-baseline", "base.json"),
    "save-baseline": ("--personalens-save-baseline", "new.json"),
}


def in_test(body: str) -> dict[str, str]:
    """The test does something else with the bad ones."""
    return {
        "test_bot": f"{HEAD}def test_bot(personalens):\n    if personalens.scenario.id in BAD:\n        {body}\n    personalens.check()\n"
    }


def in_fixture(body: str) -> dict[str, str]:
    """A fixture does."""
    fixture = f"@pytest.fixture(autouse=True)\ndef key(personalens_scenario):\n    if personalens_scenario.id in BAD:\n        {body}\n\n"
    return {"test_bot": HEAD + fixture + GOOD}


def in_assistant(body: str, test: str = GOOD) -> dict[str, str]:
    """The assistant does."""
    fixture = f"""
    BAD = {BAD!r}

    @pytest.fixture
    def personalens_assistant(personalens_scenario):
        def reply(messages):
            if personalens_scenario.id in BAD:
                {body}
            return "fine"
        return reply
"""
    return {"conftest": TOLD_ALONE + fixture, "test_bot": test}


SWALLOWS = "def test_bot(personalens):\n    try:\n        personalens.check()\n    except BaseException:\n        pass\n"
DESELECTS = """
    def pytest_collection_modifyitems(config, items):
        gone = [item for item in items if any(id_ in item.name for id_ in {BAD!r})]
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if item not in gone]
"""
FAILS_IN_FIXTURE = in_fixture("raise RuntimeError")["test_bot"]
SKIPS_ITSELF = "import pytest\npytest.skip('no key', allow_module_level=True)\n"
IF_BAD = f"if scenario.id in {BAD!r}: "
#: What -> the files that do it, by name, and options.
WAYS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "skipped in the test": (in_test("pytest.skip('no key')"), ()),
    "a package is missing": (in_test("pytest.importorskip('no_such_package')"), ()),
    "expected to fail": (in_test("pytest.xfail('known')"), ()),
    "returned early": (in_test("return"), ()),
    "skipped by a fixture": (in_fixture("pytest.skip('no key')"), ()),
    "an error in a fixture": ({"test_bot": FAILS_IN_FIXTURE}, ()),
    "expected errors in a fixture": ({"test_bot": FAILS_IN_FIXTURE.replace("def test_bot", "@pytest.mark.xfail\ndef test_bot")}, ()),
    "pytest is left": (in_test("pytest.exit('enough', returncode=0)"), ()),
    "the assistant raises": (in_assistant("raise RuntimeError"), ()),
    "the assistant exits": (in_assistant("raise SystemExit(0)"), ()),
    "the assistant skips": (in_assistant("pytest.skip('no key')"), ()),
    "the assistant returns nothing": (in_assistant("return None"), ()),
    "the assistant raises and the test swallows it": (in_assistant("raise RuntimeError", SWALLOWS), ()),
    "the assistant skips and the test swallows it": (in_assistant("pytest.skip('no key')", SWALLOWS), ()),
    "the user agent raises": ({"conftest": TOLD.replace("return UserTurn(", f"{IF_BAD}raise RuntimeError\n            return UserTurn(")}, ()),
    "the judge raises": ({"conftest": TOLD.replace('listed("faults.txt")', repr(BAD))}, ()),
    "the judge returns nothing": ({"conftest": TOLD.replace("low, high =", f"{IF_BAD}return None\n            low, high =")}, ()),
    "the worker dies": (in_test(ends_worker(0)), ("-n", "1", "--max-worker-restart", "9")),
    "a further file skips itself": ({"test_bot": GOOD, "test_more": SKIPS_ITSELF + GOOD}, ()),
    "its dialogues are not asked for": ({"test_bot": "def test_bot(personalens_scenario):\n    pass\n"}, ()),
    "a selection by a plugin": ({"conftest": TOLD + DESELECTS.replace("{BAD!r}", repr(BAD))}, ()),
    "the gates are blocked": ({}, ("-p", "no:personalens-controller")),
}  # fmt: skip
#: What a selection leaves out is somebody's wish, and said.
SAID = "left out by a selection (-k, -m, --lf, node ids, paths): *"


@pytest.mark.parametrize("gate", GATES)
def test_what_is_good_passes_every_gate(told: Repository, gate: str) -> None:
    told.write(test_bot=GOOD)
    told.inline(*ARGS, "--personalens-save-baseline=base.json")
    assert told.inline(*ARGS, *GATES[gate]).ret == 0


#: Each way with each gate. Each way with one gate, another for each, is quick enough to be run always.
TABLE = [
    pytest.param(
        way, gate, id=f"{way}-{gate}", marks=() if place == number % len(GATES) else pytest.mark.slow
    )
    for number, way in enumerate(WAYS)
    for place, gate in enumerate(GATES)
]


@pytest.mark.parametrize(("way", "gate"), TABLE)
def test_what_is_left_out_never_passes(told: Repository, way: str, gate: str) -> None:
    files, options = WAYS[way]
    told.write(test_bot=GOOD)
    if gate == "baseline":
        more = {"test_more": GOOD} if "test_more" in files else {}
        told.write(**more)
        assert told.inline(*ARGS, "--personalens-save-baseline=base.json").ret == 0
    told.write(**files)
    run = told.run if options else told.inline
    result = run(*ARGS, *GATES[gate], *options)
    if way == "a selection by a plugin" and result.ret == 0:
        result.stdout.fnmatch_lines([SAID])
        assert not (told.path / "new.json").exists()
        return
    assert result.ret != 0
    assert "INTERNALERROR" not in str(result.stdout) + str(result.stderr)
