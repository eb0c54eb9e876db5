"""The fixture `personalens_memory`: each user's past is handed over once, before the user's dialogues."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.repository import Repository

RUN = (
    "--personalens-sample=6", "-opersonalens_users=amara,bartek", "--personalens-kind=single",
    "--personalens-gate=none", "--personalens-report=results.json", "-opersonalens_context=HS",
)  # fmt: skip
BOT = """
    import json, os, time
    import pytest

    HANDED = set()

    @pytest.fixture(scope="session")
    def personalens_assistant():
        def reply(messages, context):
            assert context.user in HANDED or not context.sessions, "the memory comes first"
            return "I've booked it for 19:30, reference QX77."
        return reply

    def note(user, sessions):
        with open("handed.log", "a") as file:
            file.write(json.dumps([user, [[s.date, s.domain, len(s.messages)] for s in sessions]]) + "\\n")
        HANDED.add(user)
"""
MEMORY = """
    @pytest.fixture({scope})
    def personalens_memory():
        {body}
"""
SESSION = 'scope="session"'


def memory(body: str, scope: str = SESSION) -> str:
    return BOT + MEMORY.format(scope=scope, body=body.replace("\n", "\n        "))


def handed(repo: Repository) -> list[tuple[str, list[list[Any]]]]:
    log = repo.path / "handed.log"
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


SLOW = "def slow(user, sessions):\n    time.sleep(0.2)\n    note(user, sessions)\nreturn slow"
ASYNC = "import asyncio\nasync def take(user, sessions):\n    await asyncio.sleep(0.2)\n    note(user, sessions)\nreturn take"


@pytest.mark.parametrize(
    ("body", "more"),
    [("return note", ()), (ASYNC, ()), (SLOW, ("-opersonalens_parallel=4",)), (ASYNC, ("-opersonalens_parallel=4",))],
)  # fmt: skip
def test_a_user_is_handed_over_once(repo: Repository, body: str, more: tuple[str, ...]) -> None:
    repo.write(conftest=memory(body))
    repo.inline(*RUN, *more).assert_outcomes(passed=6)
    found = handed(repo)
    assert sorted(user for user, _ in found) == ["amara", "bartek"]
    for _, sessions in found:
        dates = [date for date, _, _ in sessions]
        assert len(dates) > 20
        assert dates == sorted(dates)
        assert len({domain for _, domain, _ in sessions}) >= 10, "of all domains, and not of the task's"
        assert all(count > 1 for _, _, count in sessions)


def test_each_process_has_a_memory_of_its_own(repo: Repository) -> None:
    repo.write(conftest=memory("return note"))
    repo.run(*RUN, "-n", "2").assert_outcomes(passed=6)
    found = handed(repo)
    assert 2 <= len(found) <= 4
    assert dict(found).keys() == {"amara", "bartek"}


def test_in_a_control_the_memory_is_empty_or_of_one_stranger(repo: Repository) -> None:
    repo.write(conftest=memory("return note"))
    repo.inline(*RUN, "--personalens-control=no-context,other-user").assert_outcomes(passed=18)
    found = handed(repo)
    users, pasts = [user for user, _ in found], dict(found)
    assert len(users) == len(set(users)) > 2
    assert {user for user in users if "+" not in user} == {"amara", "bartek"}
    for user in users:
        own, *control = user.split("+")
        assert not control or control[0] == "swapped"
        assert not control or pasts[user] != pasts[own]


def test_what_needs_no_past_is_handed_none(repo: Repository) -> None:
    repo.write(conftest=memory("return note"))
    for context in ("none", "DS"):
        repo.inline(*RUN, f"-opersonalens_context={context}").assert_outcomes(passed=6)
    repo.inline(*RUN[:-2], "--personalens-dialogues=results.json").assert_outcomes(passed=6)
    assert not handed(repo)


@pytest.mark.parametrize(
    ("body", "more", "told"),
    [
        ("def take(user, sessions):\n    raise KeyError('gone')\nreturn take", (), "personalens_memory raised KeyError: 'gone' (conftest.py, line "),
        ("return lambda user: None", (), "personalens_memory raised TypeError"),
        ("def take(user, sessions):\n    time.sleep(9)\nreturn take", ("-o", "personalens_turn_timeout=0.01"), "personalens_memory: the assistant did not answer within 0."),
    ],
)  # fmt: skip
def test_a_memory_that_fails(repo: Repository, body: str, more: tuple[str, ...], told: str) -> None:
    repo.write(conftest=memory(body))
    repo.inline(*RUN, *more)
    for one in (item["evaluation"] for item in repo.results()["items"]):
        assert (one["cause"], told in one["detail"]) == ("assistant", True), one["detail"]


@pytest.mark.parametrize(
    ("body", "scope", "more", "told"),
    [
        ("return 5", SESSION, (), "the fixture personalens_memory returned int; it must return a callable, sync or async, that takes a user"),
        ("return note", "", (), "the fixture personalens_memory must have scope 'session' or 'module', because it is called once a user"),
        ("return note", "", ("-opersonalens_parallel=2",), "the fixture personalens_memory must have scope 'session' or 'module'"),
    ],
)  # fmt: skip
def test_what_is_no_memory(repo: Repository, body: str, scope: str, more: tuple[str, ...], told: str) -> None:
    repo.write(conftest=memory(body, scope))
    result = repo.inline(*RUN, *more)
    assert told in " ".join(result.stdout.str().split())
    assert result.ret != 0
    assert not handed(repo)


def test_past_sessions_alone_are_messages_without_a_summary(repo: Repository) -> None:
    seen = """
        import pytest

        @pytest.fixture
        def personalens_assistant(personalens_context):
            c = personalens_context
            assert c.sessions and not c.interactions and c.situation is None and not c.demographics
            assert c.sessions[0].messages[0]["content"] in c.text()
            return lambda messages: "Done."
    """
    repo.write(conftest=seen)
    repo.inline(*RUN, "-opersonalens_context=h").assert_outcomes(passed=6)
    told = "*any of the letters D (demographics), I (interactions), H (past sessions), S*"
    repo.inline(*RUN, "-opersonalens_context=x").stderr.fnmatch_lines([told])
