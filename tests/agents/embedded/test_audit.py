"""The audit of users that models play: what is plainly wrong is found, and a good user has no fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_personalens.agents.embedded.audit import user_faults
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent
from pytest_personalens.core.dialogue.dialogue import Dialogue, End, Message, converse
from tests.support.datasets.embedded import any_with, drawn

SCENARIO = any_with("flights-1")
FACTS = {fact.name: fact.says for fact in SCENARIO.task.facts}


def faults(*texts: str, end: End = "user") -> list[str]:
    messages = tuple(Message(role="assistant" if n % 2 else "user", content=t) for n, t in enumerate(texts))
    return [f.code for f in user_faults(SCENARIO, Dialogue(messages=messages, end=end))]


WISH = SCENARIO.task.intent
BOOKED = f"I've booked your flight to {FACTS['to']}: out on {FACTS['out']}, back on {FACTS['back']}, for one person."


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("contradicted", (f"I need a flight to {FACTS['to']} for three people.", BOOKED, "Thanks!", "Bye.")),
        ("ended-early", (WISH, "There are two that fit. Which of them shall I book?", "That's all, thank you.", "Bye.")),
        ("ended-early", (WISH, "I'll book the flight for you now.", "That is all, thanks.", "Bye.")),
        ("thanked-early", (WISH, "I'm sorry, I can't book the flight.", "Thanks a lot, that is everything.", "Bye.")),
        ("thanked-early", (WISH, BOOKED.replace(FACTS["out"], "Thursday 9 April"), "Great, thank you.", "Bye.")),
        ("spoke-as-assistant", (WISH, BOOKED, "I have booked it for you.", "Bye.")),
        ("repeated", (WISH, "Hm.", "I would like to hear what it costs.", "Soon.", "I would like to hear what it costs.", "Bye.")),
    ],
)  # fmt: skip
def test_each_fault_is_found(code: str, texts: tuple[str, ...]) -> None:
    assert code in faults(*texts)


@pytest.mark.parametrize(
    "texts",
    [
        (WISH, BOOKED, "Great, thank you.", "Bye."),
        (WISH, "Shall I book it?", "Great, thanks!", BOOKED),
        (WISH, "I'm sorry, I can't book the flight.", "Never mind, I'll do it myself, thanks.", "Bye."),
        (WISH, BOOKED.replace(FACTS["out"], "Thursday 9 April"), f"Not Thursday 9 April, please: {FACTS['out']}.", BOOKED),
        (WISH, "How many people fly?", "One.", "How many people fly?", "One.", BOOKED),
    ],
)  # fmt: skip
def test_a_good_user_has_no_fault(texts: tuple[str, ...]) -> None:
    assert not faults(*texts)


def _saying(text: str) -> Callable[[object], str]:
    return lambda _: text


def test_the_embedded_user_has_no_fault() -> None:
    replies = ("Done.", "Shall I go ahead?", "How many people?", "I'll do that soon.", "I can't do that.")
    for scenario in drawn(12, "audit"):
        for reply in replies:
            dialogue = converse(scenario, _saying(reply), EmbeddedUserAgent()).dialogue
            assert not user_faults(scenario, dialogue), (scenario.id, reply)
