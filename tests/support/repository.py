"""A chatbot repository in a temporary folder, and what tests ask of one."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, Literal

import pytest

from pytest_personalens.core.dialogue.dialogue import Message, UserTurn
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.plugin.running.keys import SETTINGS
from tests.support.processes.fork_server import ForkServer

ROOT = Path(__file__).resolve().parents[2]
#: The plugin of hypothesis imports all of it at the end of every run.
_WITHOUT_HYPOTHESIS = ("-p", "no:hypothesispytest")
_WITHOUT = ("-p", "no:cacheprovider", *_WITHOUT_HYPOTHESIS)


#: The code at the end of an error, with the line of it where it did not fit on the one before.
CODE: Final = re.compile(r"(?:^E   )?(?:^| )\(PL\d{3}\)$")


class Repository:
    """A chatbot repository in a temporary folder.

    The results are without the codes of errors, which tests/project/docs/test_error_codes.py tests, unless `with_codes` is set.
    """

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.path = pytester, pytester.path
        self.with_codes = False

    def write(self, **files: str) -> None:
        """Write files; ``a__b`` stands for ``a/b``, and the ending is .py."""
        for name, text in files.items():
            path = self.path / f"{name.replace('__', '/') if not name.startswith('_') else name}.py"
            path.parent.mkdir(exist_ok=True)
            before = path.stat().st_mtime if path.exists() else None
            path.write_text(dedent(text), encoding="utf-8")
            if before is not None:
                # Python takes bytecode for current if the file has the same size and second.
                os.utime(path, (before + 2, before + 2))

    def bot(self, reply: str, **files: str) -> None:
        """Write a conftest.py whose assistant replies with an expression of `messages`, and other files."""
        fixture = (
            "import pytest\n\n@pytest.fixture\ndef personalens_assistant():\n    return lambda messages: "
        )
        self.write(conftest=f"{fixture}{reply}\n", **files)

    def run(self, *args: str) -> pytest.RunResult:
        """pytest in a process of its own: a fork of one that has all modules, where the system can fork."""
        return self.run_with_cache("-p", "no:cacheprovider", *args)

    def run_with_cache(self, *args: str) -> pytest.RunResult:
        """The same with pytest's cache, for runs that leave something there for the next one."""
        server = self._server()
        if server is None:
            return self._told(self.pytester.runpytest_subprocess(*_WITHOUT_HYPOTHESIS, *args))
        folder = Path(tempfile.mkdtemp(prefix="runpytest-", dir=self.path))
        return self._forked(server, "pytest", [f"--basetemp={folder}", *_WITHOUT_HYPOTHESIS, *args])

    def command(self, *args: str) -> pytest.RunResult:
        """``python -m pytest_personalens ARGS`` in a process of its own, a fork where the system can fork."""
        server = self._server()
        if server is None:
            return self.python("-m", "pytest_personalens", *args)
        return self._forked(server, "pytest_personalens", list(args))

    def _server(self) -> ForkServer | None:
        server = _fork_server()
        return server if server is not None and server.can(dict(os.environ)) else None

    def _forked(
        self, server: ForkServer, module: Literal["pytest", "pytest_personalens"], args: list[str]
    ) -> pytest.RunResult:
        print("running:", module, *args)
        stdout, stderr, start = self.path / "stdout", self.path / "stderr", time.perf_counter()
        with stdout.open("w") as out, stderr.open("w") as err:
            code = server.run(module, args, Path.cwd(), out, err).wait()
        outlines, errlines = (file.read_text(encoding="utf-8").splitlines() for file in (stdout, stderr))
        print(*outlines, sep="\n")
        print(*errlines, sep="\n", file=sys.stderr)
        return self._told(pytest.RunResult(code, outlines, errlines, time.perf_counter() - start))

    def _told(self, result: pytest.RunResult) -> pytest.RunResult:
        if not self.with_codes:
            for name in ("out", "err"):
                lines = [CODE.sub("", x) for x in getattr(result, f"{name}lines") if CODE.sub("", x) or not x]
                setattr(result, f"{name}lines", lines)
                setattr(result, f"std{name}", pytest.LineMatcher(lines))
        return result

    def run_fresh(self, *args: str) -> pytest.RunResult:
        """pytest in a new process, which has imported nothing."""
        return self._told(self.pytester.runpytest_subprocess(*_WITHOUT, *args))

    def python(self, *args: str) -> pytest.RunResult:
        """Run Python in a process of its own."""
        return self._told(self.pytester.run(sys.executable, *args))

    def results(self, name: str = "results.json") -> dict[str, Any]:
        """What a run wrote to its results file."""
        found: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        return found

    def inline(self, *args: str, plugins: Sequence[object] = ()) -> pytest.RunResult:
        """pytest in this process: faster, for runs without workers."""
        found = self.pytester.runpytest_inprocess(*_WITHOUT, "-p", "no:xdist", *args, plugins=plugins)
        return self._told(found)

    def settings(self, *args: str) -> Settings:
        """The settings that pytest reads here, without a run; raise `pytest.UsageError` for bad ones."""
        return self.pytester.parseconfigure(*_WITHOUT, "-p", "no:xdist", *args).stash[SETTINGS]


@cache
def _fork_server() -> ForkServer | None:
    """One server for all tests of this process; none where forks are not safe."""
    if not sys.platform.startswith("linux"):
        return None
    server = ForkServer()
    atexit.register(server.close)
    return server


def run_at_once(script: str, *arguments: str) -> None:
    """Run a script, without a word, in three processes; `wait()` in it returns when all got there."""
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


def unwrapped(result: pytest.RunResult) -> str:
    """What was printed, with what is wrong in one line: where it is wrapped depends on the folder's name."""
    return re.sub(r"\nE   ", " ", result.stdout.str())


def calls(repo: Repository) -> int:
    """How often the paid agents were asked since this was last asked."""
    log = repo.path / "calls.log"
    number = len(log.read_text().splitlines()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return number


def run_for(repo: Repository, price: int, *args: str) -> pytest.RunResult:
    """Run, check how many calls of the paid agents that took, and return the result."""
    calls(repo)
    result = repo.run(*args)
    assert calls(repo) == price
    return result


def forget_calls() -> None:
    """Clear the log of calls in the user's cache, so that only records know what was bought."""
    shutil.rmtree(Path(os.environ["PERSONALENS_CACHE_DIR"]) / "calls", ignore_errors=True)


def records(repo: Repository) -> list[Path]:
    """The files of the repository's records."""
    return sorted(repo.path.glob("__personalens__/**/*.json"))


def record_bytes(repo: Repository) -> dict[str, bytes]:
    """The content of the repository's records by file name."""
    return {path.name: path.read_bytes() for path in records(repo)}


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
