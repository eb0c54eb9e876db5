"""The protocol of a dialogue: its ends, its limits, and what an assistant may do wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_personalens import AssistantFault, Message, Scenario, UserAgentFault, UserTurn
from pytest_personalens.core.dialogue.dialogue import converse
from tests.support.repository import ScriptedUser

ON = UserTurn("go on")
BYE = UserTurn("thanks, bye", done=True)


def reply(messages: list[dict[str, str]]) -> str:
    return f"reply {len(messages)}"


def roles(messages: tuple[Message, ...]) -> str:
    return "".join(m.role[0] for m in messages)


@pytest.mark.parametrize(
    ("turns", "kind", "how", "said", "end"),
    [
        ((ON, ON, BYE), "single", {}, "uauaua", "user"),
        (
            (ON, UserTurn(" ", done=True)),
            "single",
            {},
            "ua",
            "silence",
        ),  # no empty message, and no reply to it
        ((ON,), "single", {}, "ua" * 20 + "u", "limit"),  # the limits are the official ones
        ((ON,), "multi", {}, "ua" * 30 + "u", "limit"),
        ((ON,), "single", {"max_turns": 2}, "uauau", "limit"),
    ],
)
def test_how_it_ends(
    scenario: Scenario, turns: tuple[UserTurn, ...], kind: str, how: Any, said: str, end: str
) -> None:
    user = ScriptedUser(*turns)
    dialogue = converse(scenario.model_copy(update={"kind": kind}), reply, user, **how).dialogue
    assert (roles(dialogue.messages), dialogue.end, dialogue.truncated) == (said, end, end == "limit")


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


def test_a_fault_in_a_later_turn_keeps_the_transcript_so_far(scenario: Scenario) -> None:
    outcome = converse(scenario, lambda messages: "fine" if len(messages) == 1 else None, ScriptedUser(ON))
    assert isinstance(outcome.fault, AssistantFault)
    assert (roles(outcome.dialogue.messages), outcome.dialogue.end) == ("uau", "fault")


def test_an_assistant_that_raises_is_named(scenario: Scenario) -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise ZeroDivisionError("division by zero")

    outcome = converse(scenario, broken, ScriptedUser(ON))
    place = r"tests/engine/assistant/test_dialogue\.py, line \d+"
    told = rf"the assistant raised ZeroDivisionError: division by zero \({place}\)"
    assert re.fullmatch(told, str(outcome.fault))


def test_a_user_agent_that_says_nothing_is_not_the_assistants_fault(scenario: Scenario) -> None:
    outcome = converse(scenario, reply, ScriptedUser(ON, UserTurn("")))
    assert isinstance(outcome.fault, UserAgentFault)


def test_lone_surrogates_are_replaced(scenario: Scenario) -> None:
    dialogue = converse(scenario, lambda messages: "a\ud800b", ScriptedUser(ON, BYE)).dialogue
    assert dialogue.messages[1].content == "a?b"
