"""The embedded user reads today's assistants: markup, courtesies, cards and steps; and thanks only for what
serves its task.
"""

from __future__ import annotations

import pytest

from pytest_personalens.agents import EmbeddedUserAgent
from pytest_personalens.core.dialogue.dialogue import Message, UserTurn, converse
from pytest_personalens.core.scenario import Scenario, Situation, Task
from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.agents.user.test_user_objections import MOVIES, PHARMACY, after

OPENING = "I need a ticket to York."
SCENARIOS = [EmbeddedDataset().load(ref) for ref in draw(EmbeddedDataset(), 60, seed="user reading").refs]
GRATEFUL = ("thank", "perfect", "great", "cheers")


def reply(scenario: Scenario, text: str, opening: str = OPENING) -> UserTurn:
    return EmbeddedUserAgent().turn(
        scenario, (Message(role="user", content=opening), Message(role="assistant", content=text))
    )


def grateful(turn: UserTurn) -> bool:
    return (
        turn.done and any(word in turn.content.lower() for word in GRATEFUL) and "myself" not in turn.content
    )


@pytest.mark.parametrize(
    "text",
    [
        (
            "### You're all set! 🎉\n\nYour train is booked:\n\n- **Route:** Leeds to York\n- **Departs:**"
            " 9:12\n- **Seat:** Window\n- **Class:** Second\n\nEnjoy your trip!"
        ),
        "| Detail | Info |\n|---|---|\n| Train | 9:12 to York |\n| Seat | window, second class |\n| Status | Confirmed |",
        "Status: Confirmed\nTrain: 9:12 Leeds to York\nSeat: window\nClass: second\nRef: QX77",
        "Checking three trains...\nFound 2 that fit.\nBooked ✓ 9:12 to York, second class, window seat",
        "Great choice! I'm happy to confirm that your ticket to York has been booked: 9:12, second class, window. Have a wonderful trip!",
        "- [x] Ticket to York: 9:12\n- [x] Seat: window\n- [x] Class: second\n\nThat's everything ticked.",
        "Dear Ada, we are pleased to confirm your second-class window seat on the 9:12 to York.\n\nKind regards,\nRailBot",
        "Your request has been processed. A window seat in second class was reserved on the 9:12 train to York.",
        "You're booked on the 9:12 to York, window seat, second class! 🚆 Reply 1️⃣ for the receipt.",
    ],
    ids=["markdown", "table", "card", "steps", "courtesies", "checklist", "letter", "passive", "menu"],
)
@pytest.mark.parametrize(
    "more",
    [
        "",
        "\n\nIs there anything else I can help you with?",
        "\n\nDoes that work for you?",
        "\n\nWould you like me to do anything else?",
        "\n\nHow does that sound?",
        "\n\nLet me know if you'd like to change anything!",
    ],
)
def test_a_deed_is_seen_in_every_voice_and_a_courtesy_keeps_nobody(
    scenario: Scenario, text: str, more: str
) -> None:
    turn = reply(scenario, text + more)
    assert grateful(turn), turn


@pytest.mark.parametrize(
    "text",
    [
        "I can book the 9:12 to York once you've told me more.",
        "**Next step:** I'll book the 9:12 to York, window seat.",
        "Checking trains to York...",
        "I couldn't book the 9:12 to York, it is sold out.",
        "Your ticket to York will be booked once the payment has gone through.",
        "Kindly indicate which class is desired for York, and the seat.",
    ],
)
def test_what_is_not_done_yet_is_not_thanked_for(scenario: Scenario, text: str) -> None:
    turn = reply(scenario, text)
    assert not turn.done, turn


def test_a_question_asked_formally_is_answered(scenario: Scenario) -> None:
    assert (
        "second class"
        in reply(scenario, "**Please state** the class in which you wish to travel.").content.lower()
    )


def test_a_question_that_the_reply_answers_itself_gets_no_answer(scenario: Scenario) -> None:
    turn = reply(
        scenario,
        "Did the booking go through? It did! You're on the 9:12 to York, second class, window seat 14.",
    )
    assert grateful(turn), turn


@pytest.mark.parametrize(
    "text",
    [
        "I've booked it for 19:30, reference QX77.",
        "All done.",
        "Your request has been completed successfully!",
    ],
)
def test_a_constant_sentence_is_never_thanked_for(text: str) -> None:
    for scenario in SCENARIOS:
        dialogue = converse(scenario, lambda _: text, EmbeddedUserAgent()).dialogue
        said = [m.content for m in dialogue.messages if m.role == "user"]
        assert dialogue.end == "user"
        assert len(said) > 2, (scenario.id, said)
        assert not any(
            word in said[-1].lower()
            for word in ("perfect", "great", "lovely", "just right", "brilliant", "all i needed")
        ), said


@pytest.mark.parametrize("form", ["{}", "Done! {}", "I've booked it: {}"])
def test_an_echo_of_the_user_is_never_thanked_for(form: str) -> None:
    for scenario in SCENARIOS:
        dialogue = converse(
            scenario, lambda messages: form.format(messages[-1]["content"]), EmbeddedUserAgent()
        ).dialogue
        said = [m.content for m in dialogue.messages if m.role == "user"]
        assert len(said) > 2, (scenario.id, said)
        assert dialogue.end == "user"


def test_the_perfect_reply_of_another_domain_is_not_what_was_asked_for() -> None:
    for scenario, text in (
        (MOVIES, "I've booked you a room at the Linden Hotel for two nights, breakfast included, £140."),
        (PHARMACY, "I've booked your flight to Oslo: 9:40, seat 12A, £88 with the airline."),
        (MOVIES, "Your alarm is set for 6:30 on weekdays, with birdsong."),
    ):
        first, second = after(scenario, text, text)
        assert not first.done, first
        assert second.done, second
        assert (
            not grateful(second)
            or second.content.startswith(("All right", "Okay", "Well", "Fine"))
            or "anyway" in second.content
        ), second


def test_a_reply_of_a_word_is_asked_about_once_and_its_answer_thanked_for() -> None:
    first, second = after(MOVIES, "Done!", "I booked the film 'Glass Orbit' at 14:30, on the aisle.")
    assert first.content.endswith("?")
    assert grateful(second), second


def test_a_dataset_of_ones_own_needs_no_words_of_ours() -> None:
    scenario = Scenario(
        id="billing-1-acme", user="acme", dataset="support 3", kind="single", domains=("Billing",), demographics={},
        preferences={"Billing": {"Invoice Format": ("PDF by mail",)}}, summaries={"Billing": "They asked twice for the invoice by mail."},
        situation=Situation(location="office", device="Laptop", time_of_day="Morning", day_of_week="Monday", environment="Quiet"),
        task=Task(id="billing-1", description="d", intent="You want to have last month's invoice.", goal="The invoice is sent."),
    )  # fmt: skip
    assert after(scenario, "I've sent last month's invoice, 420 euros, as a PDF by mail to your bookkeeper.")[
        0
    ].done


@pytest.mark.parametrize(
    "text", ["9" * 20_000, " " * 20_000 + "x", "Booked! " + "*" * 20_000], ids=["digits", "blanks", "stars"]
)
def test_a_reply_of_one_long_run_ends_no_dialogue_in_a_wait(scenario: Scenario, text: str) -> None:
    assert reply(scenario, text).content
