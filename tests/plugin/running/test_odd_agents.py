"""Agents, models and datasets of somebody's own that are none, or cannot be opened, are told in one line
before anything is run.
"""

from __future__ import annotations

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import BOT, TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample=2", "--personalens-gate=tcr >= 0.5")
HOOKS = {
    "user_agent": ("--personalens-user-model", "turn"),
    "judge": ("--personalens-judge-model", "verdict"),
    "model": ("--personalens-judge-model", "complete"),
}


def offers(repo: Repository, role: str, value: str) -> pytest.RunResult:
    """A run with what a conftest offers for a role."""
    given = "spec, config" if role == "model" else "spec"
    hook = f"\n\ndef pytest_personalens_{role}({given}):\n    {value}\n"
    repo.path.joinpath("conftest.py").write_text(repo.path.joinpath("conftest.py").read_text() + hook)
    return repo.inline(*ARGS, HOOKS[role][0], "odd")


@pytest.mark.parametrize("role", HOOKS)
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("return 5", "is int, whose * is no text; it needs *, paid and {method}()"),
        ("return type('Odd', (), {'identity': None, 'name': None, 'paid': False})()", "is Odd, whose * is no text; it needs *"),
        ("return type('Odd', (), {'identity': 'x', 'name': 'x', 'paid': None})()", "is Odd, whose paid is neither true nor false*"),
        ("return type('Odd', (), {'identity': 'x', 'name': 'x', 'paid': False})()", "is Odd, which has no method {method}()*"),
        ("return type('Odd', (), {})", "is the class Odd; give an instance of it"),
    ],
)  # fmt: skip
def test_what_is_no_agent(repo: Repository, role: str, value: str, told: str) -> None:
    result = offers(repo, role, value)
    assert result.ret == 4
    flag, method = HOOKS[role]
    line = f"ERROR: personalens: {flag}: what is offered as a {role.replace('_', ' ')} {told.format(method=method)}"
    result.stderr.fnmatch_lines([line])
    assert len([line for line in result.errlines if line]) == 1


@pytest.mark.parametrize("role", HOOKS)
def test_what_cannot_be_opened(repo: Repository, role: str) -> None:
    assert_usage_error(
        offers(repo, role, "raise RuntimeError('no key')"),
        f"ERROR: personalens: {HOOKS[role][0]}: the {role.replace('_', ' ')} cannot be had: RuntimeError: no key",
    )


@pytest.mark.parametrize("answer", ["None", "'bye'", "{'content': 'bye'}", "object()"])
def test_a_user_agent_that_returns_no_turn(told: Repository, answer: str) -> None:
    told.write(
        conftest=TOLD.replace('UserTurn("hello" if not transcript else "bye", done=bool(transcript))', answer)
    )
    result = told.inline(*ARGS, *TOLD_AGENTS)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*such as: the user agent returned *; it must return a UserTurn"])
    assert "Traceback" not in str(result.stdout)


@pytest.mark.parametrize("lines", ["[b'x']", "5", "'text'", "[None]", "1 / 0"])
def test_further_lines_that_are_none(repo: Repository, lines: str) -> None:
    repo.write(
        conftest=BOT
        + f"\n    def pytest_personalens_report_lines(results, config):\n        return {lines}\n"
    )
    result = repo.inline(*ARGS)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["pytest_personalens_report_lines failed: *"])
    assert "Traceback" not in str(result.stdout) + str(result.stderr)


def test_a_scenario_that_somebody_made_something_else_of(repo: Repository) -> None:
    repo.write(
        conftest="""
            import pytest

            @pytest.fixture
            def personalens_scenario(personalens_scenario):
                return "a text"

            @pytest.fixture
            def personalens_assistant():
                return lambda messages: "fine"
        """
    )
    result = repo.inline(*ARGS)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*personalens: the fixture personalens_scenario returned str; one that overrides ours must return a Scenario*"
        ]
    )


def test_a_judge_that_is_measured_and_is_none(repo: Repository) -> None:
    repo.write(
        mine="class Judge:\n    identity = 'mine'\n    def verdict(self, *args):\n        return None\n"
    )
    labels = str(ROOT / "data" / "agreement" / "anchors.jsonl")
    assert_usage_error(
        repo.command("agreement", labels, "--judge-model", "mine:Judge"),
        "error: --judge-model: what is offered as a judge is Judge, whose paid is neither true nor false*",
    )


@pytest.mark.parametrize(
    "keyword", ["sample=()", "seed=('a', 'b')", "p=T()", "domain=T()", "kind=T()", "threshold=[T()]"]
)
def test_a_mark_that_holds_anything(repo: Repository, keyword: str) -> None:
    head = (
        "import pytest\n\nclass T:\n    def __str__(self):\n        return None\n    __repr__ = __str__\n\n"
    )
    repo.write(
        test_bot=f"{head}@pytest.mark.personalens({keyword})\ndef test_bot(personalens):\n    personalens.check()\n"
    )
    result = repo.inline(*ARGS)
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*personalens: test_bot.py::test_bot: personalens(*): expected *"])
    assert "options.py" not in str(result.stdout)


@pytest.mark.parametrize("leaves", ["raise SystemExit(0)", "pytest.exit('enough', returncode=0)"])
def test_a_judge_that_leaves_beside_another_reading(told: Repository, leaves: str) -> None:
    """What ends a reading in a thread of its own ends the item, and is no item without that reading."""
    judge = TOLD.replace('paid = os.environ.get("JUDGE"', 'paid, parallel = os.environ.get("JUDGE"').replace(
        '"judge 1"), False', '"judge 1"), False, True'
    )
    told.write(
        conftest=judge.replace(
            "low, high = ", f"if dimension.short == 'p':\n                {leaves}\n            low, high = "
        )
    )
    run = ("--personalens-sample=2", *TOLD_AGENTS, "--personalens-record=live")
    for gate in ((), ("--personalens-gate=tcr >= 0.5",)):
        result = told.inline(*run, *gate)
        assert result.ret != 0
        assert "Exception in thread" not in str(result.stdout)


def test_what_others_raise_is_told_in_one_line(repo: Repository) -> None:
    repo.write(
        conftest=BOT
        + "\n    def pytest_personalens_dataset(spec, config):\n        raise OSError('no\\n::error::disk\\x1b[31m')\n"
    )
    result = repo.inline(*ARGS, "--personalens-data=mine")
    assert result.ret == 4
    assert [line for line in result.errlines if line] == [
        r"ERROR: personalens: --personalens-data: the dataset 'mine' cannot be had: OSError: no\n::error::disk\x1b[31m"
    ]


@pytest.mark.parametrize("option", ["--personalens-baseline=", "--personalens-report=", "-opersonalens_prompts=", "--personalens-data=",
     "-opersonalens_users=file:", "--personalens-check-judge="])  # fmt: skip
def test_a_path_with_a_line_break_is_told_in_one_line(repo: Repository, option: str) -> None:
    path = "conftest.py/a\nb\x1b[31m"
    result = repo.inline(*ARGS, f"{option}{path}")
    assert result.ret == 4
    assert len([line for line in result.errlines if line]) == 1
    assert "\x1b" not in str(result.stderr)
    command = repo.command("report", path)
    assert command.ret == 4
    assert next(line for line in command.errlines if line).startswith(r"error: conftest.py/a\nb\x1b[31m: ")


@pytest.mark.parametrize("outcome", ["pytest.fail", "pytest.skip", "pytest.xfail", "sys.exit"])
@pytest.mark.parametrize("role", HOOKS)
def test_an_outcome_of_a_test_where_none_is_run(repo: Repository, role: str, outcome: str) -> None:
    result = assert_usage_error(
        offers(repo, role, f"import pytest, sys; {outcome}('no key')"),
        "ERROR: personalens: no test is run yet that could end so: *: no key",
    )
    assert len([line for line in result.errlines if line]) == 1


@pytest.mark.parametrize(
    "fields", ["score='1'", "score=99", "score=None", "score=1, justification=None", "score=1, evidence=None"]
)
def test_a_verdict_made_past_its_checks(told: Repository, fields: str) -> None:
    lists = "evidence=(), reasons=(), turns=(), votes=()"
    made = f"Verdict.model_construct(**{{**dict(dimension=dimension, justification='x', {lists}), **dict({fields})}})"
    told.write(conftest=TOLD.replace('Verdict(dimension=dimension, score=score, justification="told")', made))
    result = told.inline(*ARGS, *TOLD_AGENTS)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*such as: tc: the judge did not return a verdict on tc but *"])
    assert "Traceback" not in str(result.stdout)
