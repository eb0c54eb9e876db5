"""pytest's exit, debugger and traceback options do for an assistant what they do for any code under test."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample=2", *TOLD_AGENTS)
SYNC = "return lambda messages: reply_of(messages)"
ASYNC = "async def reply(messages):\n            return reply_of(messages)\n        return reply"
IN_THREAD = ("-opersonalens_parallel=2",)


def assistant(body: str, kind: str = SYNC) -> str:
    reply_of = f"def reply_of(messages):\n        first = messages[0]['content']\n        {body}"
    bot = TOLD.replace('return lambda messages: "fine"', kind)
    return bot.replace("    @pytest.fixture(scope", f"    {reply_of}\n\n    @pytest.fixture(scope")


def typed(repo: Repository, text: str, *args: str) -> subprocess.CompletedProcess[str]:
    """pytest with `text` typed at the prompt of its debugger."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *ARGS, *args]
    return subprocess.run(
        command, cwd=repo.path, input=text, capture_output=True, text=True, timeout=120, check=False
    )


TURN, READ = "def turn(self, scenario, transcript):", "low, high ="
BREAKS = {
    "assistant": assistant("breakpoint()"),
    "judge": TOLD.replace(READ, f"breakpoint()\n            {READ}"),
}
BREAKS["user agent"] = TOLD.replace(TURN, f"{TURN}\n            breakpoint()")


@pytest.mark.slow
@pytest.mark.parametrize("where", BREAKS)
def test_q_in_the_debugger_ends_the_run(told: Repository, where: str) -> None:
    told.write(conftest=BREAKS[where])
    result = typed(told, "q\n")
    assert result.returncode == 2
    assert "Quitting debugger" in result.stdout and "at fault" not in result.stdout


alone_or_not = pytest.mark.parametrize("args", [(), IN_THREAD], ids=["alone", "concurrency"])
sync_or_not = pytest.mark.parametrize("kind", [SYNC, ASYNC], ids=["sync", "async"])


@pytest.mark.slow
@alone_or_not
@sync_or_not
def test_an_exit_of_pytest_reaches_pytest(told: Repository, kind: str, args: tuple[str, ...]) -> None:
    told.write(conftest=assistant("pytest.exit('enough', returncode=7)", kind))
    assert "at fault" not in str(assert_ended(told.run(*ARGS, *args), 7).stdout)


@pytest.mark.slow
@alone_or_not
@sync_or_not
def test_pdb_opens_in_the_assistant(told: Repository, kind: str, args: tuple[str, ...]) -> None:
    told.write(conftest=assistant("raise KeyError(first)", kind))
    result = typed(told, "p 'it is ' + first\nq\n", "--pdb", *args)
    assert "'it is hello'" in result.stdout


@pytest.mark.slow
@sync_or_not
def test_the_traceback_is_shown_where_it_is_asked_for(told: Repository, kind: str) -> None:
    told.write(conftest=assistant("raise KeyError(first)", kind))
    for asks, shown in (("--tb=long", True), ("--full-trace", True), ("--tb=auto", False)):
        assert ("raise KeyError(first)" in told.inline(*ARGS, asks).stdout.str()) == shown


def test_an_exception_that_cannot_be_written_is_the_assistants_fault(told: Repository) -> None:
    bad = "class Bad(Exception):\n            def __str__(self):\n                raise ValueError('no')\n        raise Bad"
    told.write(conftest=assistant(bad))
    assert told.inline(*ARGS, "--personalens-report=results.json").ret == 1
    (detail,) = {item["evaluation"]["detail"] for item in told.results()["items"]}
    assert "the assistant raised Bad (its __str__ raises ValueError) (conftest.py, line" in detail


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        ("type('Answer', (), {'output': 'hi'})()", "Answer; it must return text (str): the text may be reply.output"),
        ("{'messages': ['a']}", "dict; it must return text (str): the text is that of the last message, such as *"),
        ("{'output': 'hi'}", "dict; it must return text (str): the text may be reply['output']"),
        ("{'choices': []}", "dict; it must return text (str): the text is response['choices'][0]['message']['content']"),
        ("[{'type': 'text', 'text': 'hi'}]", "list; it must return text (str): join the texts of its parts"),
        ("None", "NoneType; it must return text (str)"),
    ],
)  # fmt: skip
def test_what_frameworks_return_gets_a_hint(told: Repository, reply: str, hint: str) -> None:
    told.write(conftest=assistant(f"return {reply}"))
    told.inline(*ARGS).stdout.fnmatch_lines([f"*the assistant returned {hint}*".replace("[", "[[]")])


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("mybot:nope", "mybot has no 'nope'; did you mean 'hope'?"),
        ("mybot:agent.gone", "mybot.agent has no 'gone'"),
        ("mybot:agent", "mybot.agent is Agent, which cannot be called; write a function that calls its .invoke(...) and returns the reply's text"),
    ],
)  # fmt: skip
def test_an_assistant_that_is_not_there(told: Repository, spec: str, problem: str) -> None:
    agent = "class Agent:\n    def invoke(self):\n        pass\n\nagent = Agent()\n"
    told.write(mybot=f"{agent}\ndef hope(messages):\n    return 'x'\n")
    run = told.inline(*ARGS, "--personalens-assistant", spec)
    assert_one_line(run, f"personalens: --personalens-assistant: {problem}")
