"""From one bad chat to a red test: the arc that ``from-chat`` makes fails the bot of the chat, and passes a better one."""

from __future__ import annotations

import json

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply

TOLD = "I start at 8 now, so wake me at 6:40 on workdays. Mail ada@example.com if that fails."
CHATS = [
    [TOLD, "Done, 6:40 on workdays."],
    ["Set my usual alarm for tomorrow.", "Your alarm is set for 7:30.", "No! I told you 6:40.", "Sorry."],
]
DINNER = [
    "I'm vegetarian, and Tom eats everything. Any ideas for dinner?",
    "Pasta!",
    "Good. What should I order at the Golden Lion?",
    "The beef burger.",
    "But I'm vegetarian, remember?",
]
RUN = ("--personalens-suite=memory", "--personalens-data=arcs", "--personalens-sample=all")
BOT = """
import pytest


@pytest.fixture
def personalens_assistant():
    return lambda messages, context: "Your alarm is set for {}."
"""


def write(repo: Repository, *chats: list[str]) -> None:
    roles = ("user", "assistant")
    lines = [
        json.dumps({"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(chat)]})
        for chat in chats
    ]
    (repo.path / "incident.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def made(repo: Repository) -> str:
    return (repo.path / "arcs" / "incident.toml").read_text(encoding="utf-8")


def test_the_bot_of_the_chat_fails_and_one_that_remembers_passes(empty_repo: Repository) -> None:
    write(empty_repo, *CHATS)
    result = empty_repo.command("from-chat", "incident.jsonl", "--out=arcs")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["written: arcs/incident.toml", "run: pytest --personalens-suite memory *"])
    assert 'test = { right = ["6:40"], wrong = ["7:30"] }' in made(empty_repo)
    assert "ada@example.com" not in made(empty_repo)
    for time, failed in (("6:40", 0), ("7:30", 1)):
        (empty_repo.path / "conftest.py").write_text(BOT.format(time), encoding="utf-8")
        outcome = empty_repo.inline(*RUN)
        assert outcome.ret == failed
    outcome.stdout.fnmatch_lines(["*says 7:30*", "*does not say 6:40*"], consecutive=False)


def test_what_a_person_must_decide_is_marked_and_no_run_begins_with_it(empty_repo: Repository) -> None:
    write(empty_repo, DINNER)
    (empty_repo.path / "names.txt").write_text("Tom\n", encoding="utf-8")
    result = empty_repo.command("from-chat", "incident.jsonl", "--out=arcs", "--names=names.txt")
    result.stdout.fnmatch_lines(["to do: domain: expected one of *", "then run: pytest *"])
    arc = made(empty_repo)
    assert 'right = ["vegetarian"]' in arc
    assert "[name] eats everything" in arc
    assert "remember?" not in arc
    assert_usage_error(empty_repo.inline(*RUN), "ERROR: *incident.toml: arcs.1.domain: expected one of *")
    assert_usage_error(
        empty_repo.command("from-chat", "incident.jsonl", "--out=arcs"), "error: *incident.toml: is there*"
    )


def test_a_chat_in_which_nothing_was_told_before_is_refused(empty_repo: Repository) -> None:
    write(empty_repo, ["Set my usual alarm.", "It is set for 7:30."])
    result = empty_repo.command("from-chat", "incident.jsonl", "--out=arcs")
    assert_usage_error(result, "error: incident.jsonl: nothing that the user told before the incident*")
    result = empty_repo.command("from-chat", "incident.jsonl", "--out=arcs", "--person=Ada L")
    assert_usage_error(result, "error: --person: expected small letters*")


@pytest.mark.parametrize(("kind", "test"), [("forget", "wrong"), ("recall", "right")])
def test_a_model_decides_what_is_open_and_its_faults_go_back(
    empty_repo: Repository, endpoint: Endpoint, kind: str, test: str
) -> None:
    write(empty_repo, [TOLD, "Fine."], ["What do I need tomorrow?", "An umbrella."])
    answers = [
        {"domain": "Alarms", "right": [], "wrong": []},
        {"domain": "Alarm", "right": [], "wrong": [], test: ["6:40 | 06:40"]},
    ]
    endpoint.replies = [Reply(json.dumps(answer)) for answer in answers]
    command = ("from-chat", "incident.jsonl", "--out=arcs", f"--kind={kind}", "--model=openai:x")
    empty_repo.command(*command, "--estimate").stdout.fnmatch_lines(["incident *1 *"])
    assert (empty_repo.command(*command).ret, len(endpoint.calls)) == (0, 2)
    assert f'test = {{ {test} = ["6:40 | 06:40"] }}' in made(empty_repo)
    assert "[mail]" in endpoint.calls[0].prompt
    assert "expected one of Alarm" in endpoint.calls[1].prompt
