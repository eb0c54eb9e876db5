"""A chatbot repository in a temporary folder, and what tests ask of one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_personalens.core.dialogue import Message, UserTurn
from pytest_personalens.core.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]


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


def run_at_once(script: str, *arguments: str) -> None:
    """Run a script in three processes; `wait()` in it returns when all of them got there.

    Each must end without a word.
    """
    command = [
        sys.executable,
        "-c",
        f"import sys; from pathlib import Path; wait = sys.stdin.readline\n{script}",
        *arguments,
    ]
    running = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
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


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    """What makes of the text of a JSON file one whose data was changed."""

    def edit(text: str) -> str:
        data: dict[str, Any] = json.loads(text)
        change(data)
        return json.dumps(data)

    return edit
