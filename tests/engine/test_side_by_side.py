"""What runs side by side without an option, whose user answered whom, and a provider with a rate limit."""

from __future__ import annotations

import pytest

from pytest_personalens.engine.assistant.side_by_side import Refusal, refusal_in
from pytest_personalens.plugin.reporting import terminal_summary as summary
from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint

#: An async assistant that counts how many of its replies are under way at once.
BOT = """
    import asyncio, os, pytest

    now = most = 0
    answers = "its own user"

    class RateLimitError(Exception):
        status_code = 429

    @pytest.fixture(scope="session")
    def personalens_assistant():
        begun = {}

        async def bot(messages, context):
            global now, most
            now += 1
            most = max(most, now)
            try:
                if now > int(os.environ.get("MOST", 99)):
                    raise RateLimitError("slow down")
                begun[context.dialogue] = context
                await asyncio.sleep(float(os.environ.get("SLEEP", 0.03)))
            finally:
                now -= 1
            who = list(begun.values())[-1] if "MIXED" in os.environ else context
            return f"Right, {'; '.join(who.interactions.values())}"

        return bot

    def pytest_sessionfinish(session):
        with open(f"most-{os.getpid()}", "w") as file:
            file.write(str(most))
"""
RUN = (
    "--personalens-sample=8", "--personalens-user-model=openai:small", "--personalens-judge-model=openai:small",
    "--personalens-record=live", "--personalens-gate=valid >= 1",
)  # fmt: skip
EVERYWHERE = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])


@pytest.fixture
def bot(empty_repo: Repository, endpoint: Endpoint) -> Repository:
    empty_repo.write(conftest=BOT)
    return empty_repo


def at_once(repo: Repository) -> list[int]:
    return sorted(int(path.read_text()) for path in repo.path.glob("most-*"))


@EVERYWHERE
def test_an_async_assistant_serves_several_users_at_once(bot: Repository, workers: tuple[str, ...]) -> None:
    result = bot.run(*RUN, *workers)
    result.stdout.fnmatch_lines(["gate valid: passed*"])
    assert at_once(bot)[-1] >= 2
    result.stdout.no_fnmatch_line("*personalens_parallel*")


SYNC = BOT.replace("async def bot", "def bot").replace("await asyncio.sleep", "float")
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
    result = bot.run(*RUN, "-opersonalens_parallel=false")
    result.stdout.fnmatch_lines(["not scored: 8, the assistant failed*"])
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
