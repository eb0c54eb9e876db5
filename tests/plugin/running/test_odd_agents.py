"""Agents, models and datasets of somebody's own that are none, or cannot be opened, are told in one line."""

from __future__ import annotations

import pytest

from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import BOT, TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample=2", "--personalens-gate=tcr >= 0.5")
JUDGE = "--personalens-judge-model"
HOOKS = {"user_agent": ("--personalens-user-model", "turn")}
HOOKS |= {"judge": (JUDGE, "verdict"), "model": (JUDGE, "complete")}
NO_TEST = "no test is run yet that could end so: *: no key"


@pytest.mark.parametrize("role", HOOKS)
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("return 5", "{offered} is int, whose * is no text; it needs *, paid and {method}()"),
        ("return type('Odd', (), {'identity': None, 'name': None, 'paid': False})()", "{offered} is Odd, whose * is no text; it needs *"),
        ("return type('Odd', (), {'identity': 'x', 'name': 'x', 'paid': None})()", "{offered} is Odd, whose paid is neither true nor false*"),
        ("return type('Odd', (), {'identity': 'x', 'name': 'x', 'paid': False})()", "{offered} is Odd, which has no method {method}()*"),
        ("return type('Odd', (), {})", "{offered} is the class Odd; give an instance of it"),
        ("raise RuntimeError('no key')", "{flag}: the {role} cannot be had: RuntimeError: no key"),
        *((f"import pytest, sys; {outcome}('no key')", NO_TEST) for outcome in ("pytest.fail", "pytest.skip", "pytest.xfail", "sys.exit")),
    ],
)  # fmt: skip
def test_what_is_no_agent(repo: Repository, role: str, value: str, told: str) -> None:
    given = "spec, config" if role == "model" else "spec"
    repo.write(conftest=BOT + f"\n    def pytest_personalens_{role}({given}):\n        {value}\n")
    (flag, method), name = HOOKS[role], role.replace("_", " ")
    offered = f"{flag}: what is offered as a {name}"
    line = told.format(offered=offered, method=method, flag=flag, role=name)
    assert_one_line(repo.inline(*ARGS, flag, "odd"), f"personalens: {line}")


TURN = 'UserTurn("hello" if not transcript else "bye", done=bool(transcript))'
VERDICT = 'Verdict(dimension=dimension, score=score, justification="told")'
MADE = "Verdict.model_construct(**{{**dict(dimension=dimension, justification='x', evidence=(), reasons=(), turns=(), votes=()), **dict({})}})"
OVERRIDES = """
    @pytest.fixture
    def personalens_scenario(personalens_scenario):
        return "a text"
"""


@pytest.mark.parametrize(
    ("conftest", "ret", "told"),
    [
        *(
            (TOLD.replace(TURN, answer), 1, "*such as: the user agent returned *; it must return a UserTurn")
            for answer in ("None", "'bye'", "{'content': 'bye'}", "object()")
        ),
        *(
            (TOLD.replace(VERDICT, MADE.format(fields)), 1, "*such as: tc: the judge did not return a verdict on tc but *")
            for fields in ("score='1'", "score=99", "score=None", "score=1, justification=None", "score=1, evidence=None")
        ),
        *(
            (TOLD + f"\n    def pytest_personalens_report_lines(results, config):\n        return {lines}\n", 0, "pytest_personalens_report_lines failed: *")
            for lines in ("[b'x']", "5", "'text'", "[None]", "1 / 0")
        ),
        (TOLD + OVERRIDES, 1, "*personalens: the fixture personalens_scenario returned str; one that overrides ours must return a Scenario*"),
    ],
)  # fmt: skip
def test_what_hooks_and_agents_return(repo: Repository, conftest: str, ret: int, told: str) -> None:
    repo.write(conftest=conftest)
    result = assert_ended(repo.inline(*ARGS, *TOLD_AGENTS), ret, told)
    assert "Traceback" not in str(result.stdout) + str(result.stderr)


def test_a_judge_that_is_measured_and_is_none(repo: Repository) -> None:
    repo.write(
        mine="class Judge:\n    identity = 'mine'\n    def verdict(self, *args):\n        return None\n"
    )
    labels = str(ROOT / "data" / "agreement" / "anchors.jsonl")
    told = "--judge-model: what is offered as a judge is Judge, whose paid is neither true nor false*"
    assert_one_line(repo.command("agreement", labels, "--judge-model", "mine:Judge"), told)


@pytest.mark.parametrize("leaves", ["raise SystemExit(0)", "pytest.exit('enough', returncode=0)"])
def test_a_judge_that_leaves_beside_another_reading(told: Repository, leaves: str) -> None:
    """What ends a reading in a thread of its own ends the item, and is no item without that reading."""
    judge = TOLD.replace(
        'paid = os.environ.get("JUDGE", "judge 1"), False', 'paid, parallel = "j", False, True'
    )
    left = f"if dimension.short == 'p':\n                {leaves}\n            low, high = "
    told.write(conftest=judge.replace("low, high = ", left))
    run = ("--personalens-sample=2", *TOLD_AGENTS, "--personalens-record=live")
    for gate in ((), ("--personalens-gate=tcr >= 0.5",)):
        result = told.inline(*run, *gate)
        assert result.ret != 0
        assert "Exception in thread" not in str(result.stdout)


def test_what_others_raise_is_told_in_one_line(repo: Repository) -> None:
    raises = "def pytest_personalens_dataset(spec, config):\n        raise OSError('no\\n::error::disk\\x1b[31m')\n"
    repo.write(conftest=f"{BOT}\n    {raises}")
    told = r"the dataset 'mine' cannot be had: OSError: no\n::error::disk\x1b[[]31m"
    assert_one_line(repo.inline(*ARGS, "--personalens-data=mine"), f"personalens: --personalens-data: {told}")


PATHS = (
    "--personalens-baseline=",
    "--personalens-report=",
    "-opersonalens_prompts=",
    "--personalens-data=",
    "-opersonalens_users=file:",
    "--personalens-check-judge=",
)


@pytest.mark.parametrize("option", PATHS)
def test_a_path_with_a_line_break_is_told_in_one_line(repo: Repository, option: str) -> None:
    assert_one_line(repo.inline(*ARGS, f"{option}conftest.py/a\nb\x1b[31m"), "*conftest.py/a*")


def test_a_path_of_a_command_with_a_line_break_is_too(repo: Repository) -> None:
    assert_one_line(repo.command("report", "conftest.py/a\nb\x1b[31m"), r"conftest.py/a\nb\x1b[[]31m: *")
