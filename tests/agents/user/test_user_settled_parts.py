"""The user asks for a deed until a reply reports it, and not again after that."""

from __future__ import annotations

import pytest

from pytest_personalens.agents.embedded_user.voice.heard import heard
from tests.agents.user.test_user_checks import scenario_of, talk

CARD = "\n- Alarm: 06:15\n- Bus: Toruń, Monday 4 May, 07:30\n- Meeting: Monday 4 May, 09:00\n- Message: to Szymon, home at 18:45"
PLAN = f"My plan for Monday:{CARD}\nShall I do all of it?"
REST = (
    "Your alarm is set for 06:15, in time for the bus. The bus to Toruń is booked for Monday 4 May at 07:30."
    " The meeting is entered in your calendar on Monday 4 May at 09:00. You'll be home at 18:45."
)


def asked(task: str, *replies: str) -> str:
    """What the user asks for after the last reply, ``book the car``, and for what occasion."""
    turn = talk(scenario_of(task), *replies)[len(replies)]
    return "; ".join(f"{bank} {values.get('p', '')}" for bank, values in heard(turn.content))


@pytest.mark.parametrize(
    ("task", "replies"),
    [
        ("multi-15", [PLAN, f"All done:{CARD}"]),
        ("multi-15", [PLAN, "All four are done."]),
        ("multi-15", [PLAN, "All booked and set, and good luck on Monday."]),
        ("multi-15", [PLAN, f"Everything for Monday is booked:{CARD}"]),
        ("multi-15", [f"{REST} Szymon has been sent a message."]),
        ("train-3", ["The 21:05 to Croydon has a seat left. Shall I exchange FG4973 for it?", "It's exchanged: 21:05, seat 12, no fee. The old ticket is void."]),
        ("shopping-4", ["Done, alert is on. It covers kitchenware and garden things, $80 at most."]),
    ],
    ids=["card", "all", "all of it", "everything", "perfect", "void", "done first"],
)  # fmt: skip
def test_a_deed_that_is_reported_is_not_asked_for_again(task: str, replies: list[str]) -> None:
    assert not any(word in asked(task, *replies) for word in ("ask_to", "chase", "insist", "what_exactly"))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I'll send Szymon the message in a minute.",
        "I can send Szymon a message too.",
        "Please send Szymon the message yourself. A message takes a minute.",
        "I couldn't send Szymon the message.",
        "The message to Szymon isn't sent yet.",
        "You could write: “Dear Szymon, I have sent you this message so that you know when I'm home.”",
    ],
    ids=["left out", "promise", "offer", "handed back", "refusal", "not yet", "draft"],
)
def test_what_is_not_reported_is_asked_for(reply: str) -> None:
    assert asked("multi-15", f"{REST} {reply}") == "ask_to send the message"


@pytest.mark.parametrize(
    "reply",
    [f"Nothing is done yet:{CARD}", f"I'd do this:{CARD}", f"Done as soon as you say yes:{CARD}"],
    ids=["nothing", "proposal", "condition"],
)
def test_a_card_of_what_is_not_done_reports_nothing(reply: str) -> None:
    assert "thanks" not in asked("multi-15", PLAN, reply)


def test_a_wrong_value_to_which_the_user_has_objected_stays_wrong() -> None:
    reply = f"{REST} I've sent Szymon a message.".replace("Toruń", "Gdańsk")
    turns = talk(scenario_of("multi-15"), *[f"{reply} Note {i}." for i in range(6)])
    assert "Toruń" in turns[1].content
    assert heard(turns[-1].content)[0][0] == "give_up"
