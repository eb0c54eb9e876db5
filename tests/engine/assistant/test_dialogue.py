"""The protocol of a dialogue: its ends, its limits, and what an assistant may do wrong."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_personalens import (
    AssistantFault,
    Dimension,
    Message,
    Scenario,
    UserAgentFault,
    UserTurn,
    Verdict,
    evaluate,
)
from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.errors import BudgetSpent, JudgeFault
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


def fails(messages: list[dict[str, str]]) -> str:
    return "fine" if len(messages) == 1 else [][9]


RAISED = (
    "the assistant raised IndexError: list index out of range (tests/engine/assistant/test_dialogue.py, line "
)


@pytest.mark.parametrize(
    ("assistant", "turns", "kind", "told"),
    [
        (fails, (ON,), AssistantFault, RAISED),
        (lambda messages: "fine" if len(messages) == 1 else None, (ON,), AssistantFault, "the assistant returned NoneType"),
        (reply, (ON, UserTurn("")), UserAgentFault, ""),
    ],
    ids=["raises", "returns nothing", "the user says nothing"],
)  # fmt: skip
def test_a_fault_has_its_party_and_keeps_what_was_said(
    scenario: Scenario, assistant: Any, turns: tuple[UserTurn, ...], kind: type[Exception], told: str
) -> None:
    outcome = converse(scenario, assistant, ScriptedUser(*turns))
    assert isinstance(outcome.fault, kind) and str(outcome.fault).startswith(told)
    assert roles(outcome.dialogue.messages) == ("uau" if kind is AssistantFault else "ua")
    assert outcome.dialogue.end == "fault"


def test_lone_surrogates_are_replaced(scenario: Scenario) -> None:
    dialogue = converse(scenario, lambda messages: "a\ud800b", ScriptedUser(ON, BYE)).dialogue
    assert dialogue.messages[1].content == "a?b"


@pytest.mark.parametrize("side_by_side", [False, True])
@pytest.mark.parametrize(("fault", "cause", "verdicts"), [(JudgeFault, "", 1), (BudgetSpent, "budget", 0)])
def test_a_cap_costs_an_item_its_verdicts_and_a_fault_of_the_judge_one_reading(
    scenario: Scenario, fault: type[JudgeFault | BudgetSpent], cause: str, verdicts: int, side_by_side: bool
) -> None:
    class Half:
        identity, paid, parallel = "half", True, side_by_side

        def verdict(self, scenario: Scenario, dialogue: object, dimension: Dimension) -> Verdict:
            if dimension == Dimension.PERSONALIZATION:
                raise fault("no more")
            return Verdict(dimension=dimension, score=1, justification="so")

    found = evaluate(scenario, reply, ScriptedUser(ON, BYE), Half())
    assert (found.cause, len(found.verdicts), found.task_completed) == (
        cause,
        verdicts,
        True if verdicts else None,
    )
