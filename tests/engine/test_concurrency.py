"""Dialogues side by side: the same outcome, pytest's order, whose user answered whom, and a provider's rate limit."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from pytest_personalens.engine.assistant.side_by_side import Refusal, refusal_in
from pytest_personalens.plugin.reporting import terminal_summary as summary
from tests.support.processes.runs import assert_ended, without_times
from tests.support.repository import Repository
from tests.support.scripted_agents import TEST
from tests.support.servers.endpoint import Call, Endpoint, Reply, play

#: An async assistant that counts how many of its replies are under way at once, and notes whom it answered.
BOT = """
    import asyncio, os, threading, time
    import pytest

    lock, now, most = threading.Lock(), 0, 0

    class RateLimitError(Exception):
        status_code = 429

    @pytest.fixture(scope="session")
    def personalens_assistant():
        begun = {}

        async def bot(messages, context):
            global now, most
            with lock:
                now, most = now + 1, max(most, now + 1)
            try:
                if now > int(os.environ.get("MOST", 99)):
                    raise RateLimitError("slow down")
                begun[context.dialogue] = context
                await asyncio.sleep(float(os.environ.get("SLEEP", 0.05)))
            finally:
                with lock:
                    now -= 1
            with open("said.log", "a") as log:
                log.write(f"{context.user}\\n")
            who = list(begun.values())[-1] if "MIXED" in os.environ else context
            return f"I've booked it for 19:30, reference QX77. Right, {'; '.join(who.interactions.values())}"

        return bot

    def pytest_sessionfinish(session):
        with open(f"most-{os.getpid()}", "w") as file:
            file.write(str(most))
"""
SYNC = BOT.replace("async def bot", "def bot").replace("await asyncio.sleep", "time.sleep")
LENIENT = ("-opersonalens_threshold=p>=1,tc>=0",)


EVERYWHERE = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
RUN = (
    "--personalens-sample=8", "--personalens-user-model=openai:small", "--personalens-judge-model=openai:small",
    "--personalens-record=live", "--personalens-gate=valid >= 1",
)  # fmt: skip


@pytest.fixture
def slow(empty_repo: Repository) -> Repository:
    """A repository whose assistant is sync, has session scope and answers after 50 ms."""
    empty_repo.write(conftest=SYNC, test_bot=TEST)
    return empty_repo


@pytest.fixture
def bot(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    """A repository whose assistant is async, and models in the other roles."""
    empty_repo.write(conftest=BOT)
    return empty_repo


def results(repo: Repository) -> dict[str, Any]:
    return without_times(repo.results("r.json"), "parallel")


def at_once(repo: Repository) -> list[int]:
    return sorted(int(path.read_text()) for path in repo.path.glob("most-*"))


def users(repo: Repository) -> set[str]:
    """The users who were answered."""
    return {*(repo.path / "said.log").read_text().split()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers", [(), ("-n", "2"), ("-n", "2", "--dist", "worksteal")], ids=["alone", "workers", "worksteal"]
)
def test_side_by_side_gives_what_one_by_one_gives(slow: Repository, workers: tuple[str, ...]) -> None:
    args = (
        "--personalens-sample=12",
        "--personalens-report=r.json",
        "--personalens-dimensions=all",
        *LENIENT,
        "-v",
    )
    first = slow.run(*args)
    first.assert_outcomes(passed=12)
    one_by_one = results(slow)
    assert at_once(slow) == [1]
    (said := slow.path / "said.log").unlink()
    result = slow.run(*args, *workers, "-opersonalens_parallel=6")
    result.assert_outcomes(passed=12)
    assert results(slow) == one_by_one
    if not workers:
        plain, side = (re.findall(r"(?m)^test_bot\S+(?= PASSED)", str(r.stdout)) for r in (first, result))
        assert len(side) == 12 and side == plain, "in pytest's order"
    # A controller runs nothing; each worker ran several at once, and nothing was said twice.
    assert max(at_once(slow)) >= 4
    replies = (len(i["evaluation"]["dialogue"]["messages"]) // 2 for i in one_by_one["items"])
    assert len(said.read_text().splitlines()) == sum(replies)


def test_a_duration_is_that_of_the_evaluation(slow: Repository) -> None:
    run = ("--personalens-sample=6", "-opersonalens_parallel=6", *LENIENT, "--junitxml", "j.xml")
    slow.run(*run).assert_outcomes(passed=6)
    written = (slow.path / "j.xml").read_text()
    found = re.findall(r'<testcase [^>]*name="test_bot[^>]* time="([\d.]+)"', written)
    times = [float(time) for time in found]
    assert len(times) == 6
    # Two replies of 50 ms at least; without the correction the later ones would wait no time at all.
    assert all(t > 0.09 for t in times), times


def test_after_the_first_failure_nothing_more_is_asked(slow: Repository) -> None:
    run = ("--personalens-sample=40", "-opersonalens_parallel=2", "-x", "-opersonalens_threshold=p>=4")
    result = slow.run(*run)
    assert result.parseoutcomes()["failed"] == 1
    # The failing one, those under way beside it, and those begun while it was reported.
    assert len(users(slow)) <= 8


def test_only_chosen_items_are_evaluated(slow: Repository) -> None:
    run = ("--personalens-sample=10", "-opersonalens_parallel=4", "-k", "books or movies", *LENIENT)
    outcomes = slow.run(*run).parseoutcomes()
    assert outcomes["passed"] + outcomes["deselected"] == 10
    assert len(users(slow)) == outcomes["passed"]


def test_the_last_failed_run_alone(slow: Repository) -> None:
    slow.write(test_bot="def test_bot(personalens):\n    assert 'books' not in personalens.evaluate().task\n")
    args = ("-p", "cacheprovider", "--personalens-sample=8", "-opersonalens_parallel=4")
    first = slow.run_with_cache(*args).parseoutcomes()
    assert first["failed"]
    assert first["passed"]
    again = slow.run_with_cache(*args, "--lf").parseoutcomes()
    assert again["failed"] == first["failed"]
    assert "passed" not in again


#: An assistant of a module, for each of some words; nobody goes on before four dialogues are here.
OWN = """
    import threading
    import pytest

    @pytest.fixture(scope="module", params={words})
    def word(request):
        return request.param

    @pytest.fixture(scope="module")
    def personalens_assistant(word):
        together = threading.Barrier(4, timeout=5)

        def bot(messages):
            if len(messages) == 1:
                together.wait()
            return f"I've booked it for 19:30, {{word}} says so."

        return bot

    def test_it(personalens, word):
        assert all(word in m.content for m in personalens.evaluate().dialogue.messages[1::2])
"""


def test_the_items_of_every_module_run_side_by_side_with_the_assistant_of_their_own(slow: Repository) -> None:
    one, two = (OWN.format(words=words) for words in (["Alpha"], ["Beta", "Gamma"]))
    slow.write(conftest="", test_one=one, test_two=two)
    args = ("--personalens-sample=8", "-opersonalens_parallel=4", "test_one.py", "test_two.py")
    slow.run(*args).assert_outcomes(passed=24)


FLAKY = """
    import collections
    from pytest_personalens import DataError
    from pytest_personalens.datasets import EmbeddedDataset

    class Flaky(EmbeddedDataset):
        loaded = collections.Counter()

        def load(self, ref):
            self.loaded[ref] += 1
            if self.loaded[ref] > 1 and ref.task.startswith("shopping"):
                raise DataError("profile.toml", "the file is gone")
            return super().load(ref)

    def pytest_personalens_dataset(spec, config):
        return Flaky()
"""


def test_a_scenario_that_cannot_be_loaded_is_the_error_of_its_own_item(slow: Repository) -> None:
    slow.write(conftest=SYNC + FLAKY)
    result = slow.run("--personalens-sample=6", "-opersonalens_parallel=3", *LENIENT)
    outcomes = result.parseoutcomes()
    assert outcomes["errors"] >= 1
    assert outcomes["passed"] == 6 - outcomes["errors"]
    assert all("shopping" in line for line in result.outlines if line.startswith("ERROR "))


@EVERYWHERE
def test_an_async_assistant_serves_several_users_at_once(bot: Repository, workers: tuple[str, ...]) -> None:
    result = bot.run(*RUN, *workers)
    result.stdout.fnmatch_lines(["gate valid: passed*"])
    assert at_once(bot)[-1] >= 2
    result.stdout.no_fnmatch_line("*personalens_parallel*")


OWN_FIXTURE = BOT.replace('(scope="session")', "")


@pytest.mark.parametrize(
    ("conftest", "words", "advice"),
    [
        (SYNC, (), "personalens_parallel = true runs them side by side*"),
        (OWN_FIXTURE, (), "if the fixture personalens_assistant has scope 'session' and*"),
        (OWN_FIXTURE, ("-opersonalens_parallel=2",), ""),
        (BOT, ("-opersonalens_parallel=false",), ""),
    ],
    ids=["a sync callable", "a function-scoped fixture", "one whatever is asked", "the team says so"],
)
def test_others_run_one_after_the_other_and_say_what_would_spare_it(
    bot: Repository, monkeypatch: pytest.MonkeyPatch, conftest: str, words: tuple[str, ...], advice: str
) -> None:
    monkeypatch.setattr(summary, "_LONG", 0.0)
    bot.write(conftest=conftest)
    told = [f"personalens: one dialogue ran after the other, *{advice}"] if advice else []
    bot.inline(*RUN, *words).stdout.fnmatch_lines(["gate valid: passed*", *told])
    assert at_once(bot) == [1]


@EVERYWHERE
def test_a_reply_with_what_only_another_user_has_stops_the_run(
    bot: Repository, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MIXED", "1")
    bot.with_codes = True
    told = "*the assistant answered * with what only * has, whose dialogue ran beside*"
    result = assert_ended(bot.run(*RUN, *workers), 1, told)
    assert "(PL404)" in result.stdout.str()
    result.stdout.no_fnmatch_line("gate * passed*")
    if not workers:
        one_by_one = bot.run(*RUN, "-opersonalens_parallel=false")
        one_by_one.stdout.no_fnmatch_line("*PL404*")


def test_calls_that_a_limit_refuses_are_made_again(bot: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOST", "4")
    monkeypatch.setenv("SLEEP", "0.3")
    result = bot.run(*RUN)
    result.stdout.fnmatch_lines(["personalens: a rate limit refused * of your assistant*"])
    result.stdout.fnmatch_lines(["gate valid: passed*"])
    # One dialogue after the other, it is the error of the assistant that it was.
    monkeypatch.setenv("MOST", "0")
    for how, count in (("-opersonalens_parallel=false", 8), ("--personalens-sample=1", 1)):
        result = bot.run(*RUN, how)
        result.stdout.fnmatch_lines([f"not scored: {count}, the assistant failed*"])
        result.stdout.no_fnmatch_line("*a rate limit refused*")


class Failed(Exception):
    """An error of a client, with the attributes that its library gives it."""

    def __init__(self, text: str = "", **attributes: object) -> None:
        super().__init__(text)
        self.__dict__.update(attributes)


ANSWER = {"HTTPStatusCode": 400, "HTTPHeaders": {"retry-after": "2"}}
AWS = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": ANSWER}


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (Failed(status_code=429), Refusal()),
        (Failed(status_code=429, response=Failed(headers={"retry-after": "3"})), Refusal(3.0)),
        (Failed(response=Failed(status_code=429)), Refusal()),
        (Failed(status=429, headers={}), Refusal()),
        (Failed(code=429), Refusal()),
        (Failed(response=AWS), Refusal(2.0)),
        (Failed("insufficient_quota", status_code=429), None),
        (Failed(status_code=500), None),
        (Failed(response=None, code="429"), None),
        (ValueError("429 Too Many Requests"), None),
    ],
)
def test_what_is_known_of_a_rate_limit(error: Exception, refusal: Refusal | None) -> None:
    assert refusal_in(error) == refusal
    try:
        raise RuntimeError("the bot failed") from error
    except RuntimeError as raised:
        assert refusal_in(raised) == refusal


@pytest.mark.slow
def test_ctrl_c_ends_at_once_and_keeps_what_was_bought(slow: Repository, endpoint: Endpoint) -> None:
    """Calls take an hour here: who waited for those in flight would be seen, however busy this machine is."""
    hang = False

    def reads(call: Call) -> bool:
        return "Give this reading" in call.prompt

    def answer(call: Call) -> Reply:
        reply = play(call)
        reply.delay = 3600.0 if hang and reads(call) else 0.0
        return reply

    endpoint.answer, hang = answer, True
    # What a shell starts in the background ignores Ctrl-C, and so would its children.
    heeds = "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(pytest.main())"
    command = [
        sys.executable, "-c", heeds, "--personalens-sample=6", "-opersonalens_parallel=6", "--personalens-record=live", *LENIENT,
        "--personalens-user-model=openai:small", "--personalens-judge-model=openai:small",
    ]  # fmt: skip
    how: Any = {"cwd": slow.path, "env": {**os.environ, **endpoint.environment()}, "text": True}
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
    deadline = time.monotonic() + 300
    while sum(map(reads, endpoint.calls)) < 12 and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=300)
    assert run.returncode == 2, out
    before, hang = len(endpoint.calls), False
    again = subprocess.run(command, capture_output=True, check=False, **how)
    assert "6 passed" in again.stdout
    assert all(map(reads, endpoint.calls[before:])), "the dialogues were paid for before"
