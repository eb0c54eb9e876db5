"""Shared by all tests: a chatbot repository to run the plugin in, and the official data where it is at hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

with suppress(ImportError):
    # A run in this process forgets what it imported, and numpy cannot be imported twice.
    import numpy as np  # noqa: F401

from pytest_personalens.core.dialogue import Message, UserTurn
from pytest_personalens.core.scenario import Scenario, Situation, Task
from tests.endpoint import Endpoint, play

ROOT = Path(__file__).resolve().parent.parent

#: The example project's bot with a memory that holds all that is known of the user; deterministic.
BOT = f"""
    import sys
    import pytest

    sys.path.insert(0, {str(ROOT / "example_project")!r})
    from helpbot import Memory
    from helpbot.bot import Helpbot

    @pytest.fixture
    def personalens_assistant(personalens_scenario, personalens_context):
        memory = Memory()
        for domain, types in personalens_scenario.preferences.items():
            known = ". ".join(value for values in types.values() for value in values)
            memory.remember(personalens_scenario.user, domain, f"{{known}}. {{personalens_context.interactions.get(domain, '')}}")
        helpbot = Helpbot(personalens_scenario.user, memory)

        def bot(messages):
            return helpbot(messages)

        return bot
"""
TEST = """
    def test_bot(personalens):
        personalens.check()
"""

#: A judge whose scores are in files: ids in low.txt get the lowest score, ids in faults.txt none.
TOLD = """
    import os, pathlib, pytest
    from pytest_personalens import UserTurn, Verdict

    HERE = pathlib.Path(__file__).parent

    def listed(name):
        file = HERE / name
        return file.read_text().split() if file.exists() else []

    class User:
        identity, paid = os.environ.get("USER_AGENT", "user 1"), False
        def turn(self, scenario, transcript):
            return UserTurn("hello" if not transcript else "bye", done=bool(transcript))

    class Judge:
        identity, paid = os.environ.get("JUDGE", "judge 1"), False
        def verdict(self, scenario, dialogue, dimension):
            if scenario.id in listed("faults.txt"):
                raise RuntimeError("not today")
            low, high = dimension.scale
            return Verdict(dimension=dimension, score=low if f"{dimension.short}:{scenario.id}" in listed("low.txt") else high, justification="told")

    def pytest_personalens_user_agent(spec):
        return User() if spec == "told" else None

    def pytest_personalens_judge(spec):
        return Judge() if spec == "told" else None

    @pytest.fixture(scope="session")
    def personalens_assistant():
        return lambda messages: "fine"
"""


#: The options that put the agents of `TOLD` in the roles of user and judge.
TOLD_AGENTS = ("--personalens-user-model", "told", "--personalens-judge-model", "told")

#: Paid agents that write down each call, and a bot whose wording can be changed from outside.
PAID = """
    import os, pytest
    from pathlib import Path
    from pytest_personalens import Dimension, UserTurn, Verdict

    def called(what):
        with Path(os.environ["CALLS"]).open("a") as log:
            log.write(what + "\\n")

    class User:
        identity, paid = "paid-user", True
        def turn(self, scenario, transcript):
            called("user")
            number = len(transcript) // 2
            return UserTurn(f"question {number}", done=number == 2)

    class Judge:
        identity, paid = "paid-judge", True
        def verdict(self, scenario, dialogue, dimension):
            called("judge")
            if os.environ.get("CRASH") == dimension.short:
                os._exit(9)
            return Verdict(dimension=dimension, score=dimension.scale.high, justification="fine")

    def pytest_personalens_user_agent(spec):
        return User() if spec == "paid" else None

    def pytest_personalens_judge(spec):
        return Judge() if spec == "paid" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: f"answer {len(messages)}" + os.environ.get("CHANGE", "")
"""
MODELS = ("--personalens-user-model", "paid", "--personalens-judge-model", "paid")


class Repository:
    """A chatbot repository in a temporary folder."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.path = pytester, pytester.path

    def write(self, **files: str) -> None:
        """Write files; ``a__b`` stands for ``a/b``, and the ending is .py."""
        for name, text in files.items():
            path = self.path / f"{name.replace('__', '/') if not name.startswith('_') else name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")

    def run(self, *args: str) -> pytest.RunResult:
        """pytest in a process of its own, as a user runs it."""
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *args)

    def python(self, *args: str) -> pytest.RunResult:
        """Run Python in a process of its own."""
        return self.pytester.run(sys.executable, *args)

    def results(self, name: str = "results.json") -> dict[str, Any]:
        """What a run wrote to its results file."""
        found: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        return found

    def inline(self, *args: str) -> pytest.RunResult:
        """pytest in this process: faster, for runs without workers."""
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *args)


@pytest.fixture
def empty_repo(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with nothing in it."""
    # These tests may themselves run on a worker; the run inside must not take itself for one.
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID", "PYTEST_ADDOPTS", "HELPBOT"):
        monkeypatch.delenv(name, raising=False)
    return Repository(pytester)


@pytest.fixture
def repo(empty_repo: Repository) -> Repository:
    """A repository with a bot and one test."""
    empty_repo.write(conftest=BOT, test_bot=TEST)
    return empty_repo


@pytest.fixture
def told(repo: Repository) -> Repository:
    """A repository whose user agent and judge say what its files tell them to."""
    repo.write(conftest=TOLD)
    return repo


@pytest.fixture
def paid(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repo.write(conftest=PAID)
    monkeypatch.setenv("CALLS", str(repo.path / "calls.log"))
    return repo


@pytest.fixture(scope="session")
def official() -> Path:
    """A sample of the official data, which is not part of the project."""
    path = Path(os.environ.get("PERSONALENS_OFFICIAL", ROOT.parent / "shared" / "official"))
    if not (path / "data" / "profile").is_dir():
        pytest.skip("the official PersonaLens data is not at hand (set PERSONALENS_OFFICIAL to a checkout)")
    return path


@pytest.fixture
def scenario() -> Scenario:
    """A small scenario."""
    return Scenario(
        id="train-1-ada",
        user="ada",
        name="Ada",
        dataset="test 1",
        kind="single",
        domains=("Train",),
        demographics={"age": "35-44"},
        preferences={"Train": {"Preferred Seat Type": ("window",), "Preferred Train Class": ("second class",)}},
        summaries={"Train": "Ada takes her bicycle along and reads maps. She wants the platform beforehand."},
        situation=Situation(location="Leeds", device="Laptop", time_of_day="Evening", day_of_week="Monday", environment="Quiet"),
        task=Task(
            id="train-1",
            description="The user wants a ticket.",
            intent="You want to buy a ticket to York.",
            goal="A ticket to York is bought and the seat has been stated.",
            relevant=(("Train", "Preferred Seat Type"), ("Train", "Preferred Train Class")),
        ),
    )


@pytest.fixture
def bots(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The bots of the example project."""
    monkeypatch.syspath_prepend(ROOT / "example_project")
    import helpbot.bot

    yield helpbot.bot
    for name in [n for n in sys.modules if n.split(".")[0] == "helpbot"]:
        del sys.modules[name]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Models behind Bedrock's and OpenAI's protocols on loopback, which play every role well."""
    server = Endpoint()
    server.answer = play
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    yield server
    server.close()


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    """What makes of the text of a JSON file one whose data was changed."""

    def edit(text: str) -> str:
        data: dict[str, Any] = json.loads(text)
        change(data)
        return json.dumps(data)

    return edit


def run_at_once(script: str, *arguments: str) -> None:
    """Run a script in three processes; `wait()` in it returns when all of them got there. Each must end without a word."""
    command = [sys.executable, "-c", f"import sys; from pathlib import Path; wait = sys.stdin.readline\n{script}", *arguments]
    running = [subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in running:
        assert one.communicate(timeout=600)[1] == ""
        assert one.returncode == 0


def calls(repo: Repository) -> int:
    """How often the paid agents were asked since this was last asked."""
    log = repo.path / "calls.log"
    number = len(log.read_text().splitlines()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return number


def records(repo: Repository) -> list[Path]:
    """The files of the repository's records."""
    return sorted(repo.path.glob("__personalens__/**/*.json"))


class ScriptedUser:
    """A user agent that says what it is told to."""

    identity = "scripted"
    paid = False

    def __init__(self, *turns: UserTurn) -> None:
        self.turns = turns

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        number = sum(m.role == "user" for m in transcript)
        return self.turns[min(number, len(self.turns) - 1)]
