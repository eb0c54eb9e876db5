"""A run that is killed goes on where it stopped: the result is the same, and only what was in flight is bought twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pytest_personalens.plugin.stored.resume import first_changed, sources
from tests.support.repository import Repository, forget_calls, record_bytes, records
from tests.support.scripted_agents import TEST

#: Models and an assistant that write down when a call begins and when it is answered, 50 ms later.
CONFTEST = """
    import hashlib, os, time
    from functools import partial
    import pytest
    from pytest_personalens import Answer, FakeModel

    USED = {"input_tokens": 9, "output_tokens": 9}

    def call(who, what):
        key = who + hashlib.sha256(what.encode()).hexdigest()[:12]
        note("asked", key)
        time.sleep(0.05)
        note("answered", key)

    def note(what, key):
        line = f"{what} {key} {time.time()}\\n".encode()
        file = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line)
        os.close(file)

    def answer(name, request):
        call(name, request.prompt)
        if request.answer is not None:
            yes = request.answer["properties"]["score"]["type"] == "boolean"
            return Answer(**USED, data={"evidence": [{"turn": 0, "quote": "I need"}], "justification": "It fits.", "score": True if yes else 3})
        wish = f"I need something done, {hashlib.sha256(request.prompt.encode()).hexdigest()[:8]}."
        return Answer(**USED, text="Thanks! TERMINATE" if "<transcript>" in request.prompt else wish)

    def pytest_personalens_model(spec, config):
        return FakeModel(partial(answer, spec), name=spec, paid=True) if spec in ("user", "judge") else None

    @pytest.fixture(scope="session")
    def personalens_assistant():
        def bot(messages, context):
            call("bot", context.user + str(messages))
            return f"It is booked for Thursday at 16:00, reply {len(messages)}."

        return bot
"""
RESUMES = ("--personalens-sample=3", "--personalens-resume", "--personalens-record=new", "-v")
MODELS = ("--personalens-user-model=user", "--personalens-judge-model=judge")
#: So many dialogues are under way at a time: the last answer of each may not be noted down when the run is killed.
PLACES = 4


@pytest.fixture
def asked(empty_repo: Repository) -> Repository:
    empty_repo.write(conftest=CONFTEST, test_bot=TEST)
    return empty_repo


class Calls:
    """What the calls of a repository's runs wrote down."""

    def __init__(self, repo: Repository) -> None:
        self.file = repo.path / "calls.log"
        self.file.touch()

    def made(self, what: str = "asked") -> list[tuple[str, float]]:
        lines = map(str.split, self.file.read_text(encoding="utf-8").splitlines())
        return [(key, float(at)) for event, key, at in lines if event == what]

    def of_bot(self, what: str = "asked") -> set[str]:
        return {key for key, _ in self.made(what) if key.startswith("bot")}

    def forget(self) -> None:
        self.file.write_text("")


def run(repo: Repository, *args: str) -> pytest.RunResult:
    return repo.run_with_cache("-q", *MODELS, *args)


def killed(repo: Repository, calls: int, *args: str) -> float:
    """Start a run, end it with SIGKILL, workers and all, once it has made so many calls; returns when.

    Fails if it ends before.
    """
    made = Calls(repo)
    goal = len(made.made()) + calls
    command = [sys.executable, "-m", "pytest", "-q", *MODELS, *args]
    process = subprocess.Popen(command, cwd=repo.path, start_new_session=True, stdout=subprocess.DEVNULL)
    while len(made.made()) < goal and process.poll() is None:
        time.sleep(0.005)
    at = time.time()
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(timeout=600) == -signal.SIGKILL
    return at


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "kills"),
    [(("-opersonalens_parallel=4",), 20), (("-n", "2", "-opersonalens_parallel=2"), 8)],
    ids=["alone", "workers"],
)
def test_killed_at_random_the_union_is_the_whole_run(
    asked: Repository, how: tuple[str, ...], kills: int
) -> None:
    args, calls = ("--personalens-sample=30", "--personalens-record=new"), Calls(asked)
    run(asked, *args, "-p", "no:cacheprovider", "-opersonalens_parallel=30")
    undisturbed, needed = record_bytes(asked), {key for key, _ in calls.made()}
    assert len(needed) == len(calls.made()) == 30 * 6, "two turns, two replies, two readings"
    for path in records(asked):
        path.unlink()
    calls.forget()
    forget_calls()

    chance, ends = random.Random(7), list[float]()
    for _ in range(kills):
        ends.append(killed(asked, chance.randint(1, 12), *args, *how, "--personalens-resume"))
    last = run(asked, *args, *how, "--personalens-resume")
    assert last.ret == 0, last.stdout.str()
    assert record_bytes(asked) == undisturbed
    assert {key for key, _ in calls.made()} == needed
    answered: dict[str, float] = {}
    lost = Counter[float]()
    for key, at in calls.made("answered"):
        if key in answered:
            lost[next((end for end in ends if end > answered[key]), ends[-1])] += 1
        answered[key] = at
    assert max(lost.values(), default=0) <= PLACES, "answered, and asked again after a kill"
    # It has come to its end: the next run is another one.
    assert not list(Path(os.environ["PERSONALENS_CACHE_DIR"]).glob("calls/*/run.json"))


@pytest.mark.slow
def test_without_the_flag_the_assistant_is_asked_anew(asked: Repository) -> None:
    args, calls = ("--personalens-sample=3", "--personalens-record=new"), Calls(asked)
    killed(asked, 8, *args)
    before = {key for key, _ in calls.made("answered")}
    calls.forget()
    assert run(asked, *args).ret == 0
    again = [key for key, _ in calls.made()]
    assert sum(key in calls.of_bot() for key in again) == 3 * 2
    assert not before & ({*again} - calls.of_bot()), "what was paid for is not bought again"


@pytest.mark.slow
def test_what_all_parts_of_a_run_used_is_summed(asked: Repository) -> None:
    prices = "--override-ini=personalens_prices=user = 10, 20\n  judge = 100, 200"
    args = (*RESUMES, prices, "-opersonalens_parallel=2")
    killed(asked, 7, *args)
    killed(asked, 5, *args)
    again = run(asked, *args, "--personalens-report=r.json")
    assert again.ret == 0, again.stdout.str()
    found = asked.results("r.json")
    # Of each dialogue two turns and two readings, each of 9 tokens in and 9 out, whichever part of the run bought them.
    calls = {purpose: used["calls"] for purpose, used in found["usage"].items()}
    assert calls == {"judge p": 3, "judge tc": 3, "user agent": 6}
    assert found["usage"]["user agent"]["input_tokens"] == 6 * 9
    reading, turns = 3 * 9 * 300e-6, 6 * 9 * 30e-6
    assert found["usd"] == pytest.approx({"judge p": reading, "judge tc": reading, "user agent": turns})
    assert "; 12 model calls, $0.0178" in again.stdout.str()
    anew = run(asked, *args, "--personalens-report=r.json")
    assert "model calls" not in anew.stdout.str(), "the next run is another one, and spends nothing"


@pytest.mark.slow
def test_the_header_says_that_a_run_goes_on_and_another_run_is_refused(asked: Repository) -> None:
    killed(asked, 5, *RESUMES)
    other = run(asked, *RESUMES, "-opersonalens_context=D")
    assert other.ret == 4
    told = "ERROR: --personalens-resume: the interrupted run had personalens_context 'DIS', this one has 'D'; give the same, "
    assert other.stderr.str().startswith(told)
    out = run(asked, *RESUMES, "-opersonalens_parallel=2").stdout.str()
    assert "continues the interrupted run" in out and "3 passed" in out
    assert "continues" not in run(asked, *RESUMES).stdout.str()


def test_a_run_that_ends_in_order_or_never_began_is_not_resumed(asked: Repository) -> None:
    """Who mends the assistant after -x wants it asked again."""
    calls = Calls(asked)
    failing = (*RESUMES, "-x", "-opersonalens_threshold=p>=4", "--personalens-record=live")
    for _ in range(2):
        calls.forget()
        assert run(asked, *failing).ret == 1
        assert calls.of_bot()
    for idle in ("-k=nothing", "--personalens-estimate", "--collect-only"):
        assert run(asked, "--personalens-sample=2", idle).ret in (0, 4)
    out = run(asked, *RESUMES).stdout.str()
    assert "continues" not in out and "3 passed" in out


def git(repo: Repository, *words: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    subprocess.run(command, cwd=repo.path, check=True, capture_output=True)


@pytest.mark.parametrize("version_control", [True, False], ids=["git", "no git"])
def test_another_assistant(asked: Repository, monkeypatch: pytest.MonkeyPatch, version_control: bool) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(asked.path.parent))
    if version_control:
        git(asked, "init")
        (asked.path / ".gitignore").write_text(".pytest_cache\n__pycache__\n")
        git(asked, "add", "conftest.py", "test_bot.py", ".gitignore")
        git(asked, "commit", "-m", "a bot")
    for change, told in (
        ("conftest.py", "conftest.py"),
        ("prompts/tone.md", "prompts/tone.md"),
        ("results.json", ""),
        ("__personalens__/notes.md", ""),
        ("env/lib/tool.py", "env/lib/tool.py" if version_control else ""),
    ):
        before, file = sources(asked.path), asked.path / change
        file.parent.mkdir(parents=True, exist_ok=True)
        if change.startswith("env"):
            (asked.path / "env" / "pyvenv.cfg").touch()
        with file.open("a", encoding="utf-8") as opened:
            opened.write("# another bot\n")
        assert first_changed(before, sources(asked.path)) == told
    if version_control:
        before = sources(asked.path)
        git(asked, "commit", "--allow-empty", "-m", "two")
        assert first_changed(before, sources(asked.path)) == "the commit"


@pytest.mark.slow
@pytest.mark.parametrize("change", ["conftest.py", "results.json"])
def test_the_replies_of_another_assistant_are_not_counted(asked: Repository, change: str) -> None:
    calls = Calls(asked)
    killed(asked, 8, *RESUMES)
    answered = calls.of_bot("answered")
    assert answered
    calls.forget()
    with (asked.path / change).open("a", encoding="utf-8") as file:
        file.write("# another bot\n")
    out = run(asked, *RESUMES).stdout.str()
    again = calls.of_bot()
    if change == "conftest.py":
        assert f"begun 0 minutes ago ({change} has changed since): the assistant is asked anew" in out
        assert answered <= again
    else:
        assert "this run continues the interrupted run, begun 0 minutes ago, and counts its replies" in out
        assert not answered & again
