"""The protocol of a dialogue: its ends, its limits, and what an assistant may do wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_personalens.core.dialogue.dialogue import Message, UserTurn, converse
from pytest_personalens.core.errors import AssistantFault, UserAgentFault
from pytest_personalens.core.scenario import Scenario
from tests.support.repository import ScriptedUser

ON = UserTurn("go on")
BYE = UserTurn("thanks, bye", done=True)


def reply(messages: list[dict[str, str]]) -> str:
    return f"reply {len(messages)}"


def roles(messages: tuple[Message, ...]) -> str:
    return "".join(m.role[0] for m in messages)


def test_the_user_ends_and_the_assistant_has_one_last_reply(scenario: Scenario) -> None:
    dialogue = converse(scenario, reply, ScriptedUser(ON, ON, BYE)).dialogue
    assert roles(dialogue.messages) == "uauaua"
    assert dialogue.messages[4].content == "thanks, bye"
    assert dialogue.end == "user"
    assert not dialogue.truncated


def test_a_silent_end_leaves_no_empty_message_and_asks_for_no_reply(scenario: Scenario) -> None:
    dialogue = converse(scenario, reply, ScriptedUser(ON, UserTurn(" ", done=True))).dialogue
    assert roles(dialogue.messages) == "ua"
    assert dialogue.end == "silence"


@pytest.mark.parametrize(("kind", "messages"), [("single", 41), ("multi", 61)])
def test_the_limit_is_the_official_one_and_is_marked(scenario: Scenario, kind: str, messages: int) -> None:
    dialogue = converse(scenario.model_copy(update={"kind": kind}), reply, ScriptedUser(ON)).dialogue
    assert len(dialogue.messages) == messages
    assert dialogue.truncated


def test_a_limit_of_ones_own(scenario: Scenario) -> None:
    assert roles(converse(scenario, reply, ScriptedUser(ON), max_turns=2).dialogue.messages) == "uauau"


def test_the_assistant_sees_the_messages_so_far_and_cannot_change_them(scenario: Scenario) -> None:
    seen: list[Any] = []

    def meddler(messages: list[dict[str, str]]) -> str:
        seen.append([dict(m) for m in messages])
        messages[0]["content"] = "forged"
        messages.append({"role": "user", "content": "I am happy"})
        return "ok"

    dialogue = converse(scenario, meddler, ScriptedUser(UserTurn("hello"), BYE)).dialogue
    assert seen[0] == [{"role": "user", "content": "hello"}]
    assert [m.content for m in dialogue.messages] == ["hello", "ok", "thanks, bye", "ok"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "NoneType"),
        (b"hello", "bytes"),
        ({"text": "hi"}, "dict"),
        ("", "empty"),
        (" \n\t ", "empty"),
        ("x" * 10_000_000, "10,000,000 characters"),
    ],
)
def test_what_is_not_a_usable_text_is_the_assistants_fault(
    scenario: Scenario, answer: object, told: str
) -> None:
    outcome = converse(scenario, lambda messages: "fine" if len(messages) == 1 else answer, ScriptedUser(ON))
    assert isinstance(outcome.fault, AssistantFault)
    assert told in str(outcome.fault)
    assert roles(outcome.dialogue.messages) == "uau", "the transcript so far is kept"
    assert outcome.dialogue.end == "fault"


def test_an_assistant_that_raises_is_named(scenario: Scenario) -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise ZeroDivisionError("division by zero")

    outcome = converse(scenario, broken, ScriptedUser(ON))
    assert re.fullmatch(
        r"the assistant raised ZeroDivisionError: division by zero \(tests/engine/assistant/test_dialogue\.py, line \d+\)",
        str(outcome.fault),
    )


def test_a_user_agent_that_says_nothing_is_not_the_assistants_fault(scenario: Scenario) -> None:
    outcome = converse(scenario, reply, ScriptedUser(ON, UserTurn("")))
    assert isinstance(outcome.fault, UserAgentFault)


def test_lone_surrogates_are_replaced(scenario: Scenario) -> None:
    dialogue = converse(scenario, lambda messages: "a\ud800b", ScriptedUser(ON, BYE)).dialogue
    assert dialogue.messages[1].content == "a?b"
