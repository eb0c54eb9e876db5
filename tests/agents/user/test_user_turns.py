"""What a person says to live assistants: one turn each, for the kinds of replies at which the user once failed."""

from __future__ import annotations

import re

import pytest

from pytest_personalens.agents.embedded_user.voice.heard import heard
from tests.agents.user.test_user_checks import scenario_of, talk


def turn(task: str, reply: str) -> str:
    """The user's answer to the first reply of an assistant."""
    return talk(scenario_of(task), reply)[1].content


@pytest.mark.parametrize(
    ("task", "reply", "never"),
    [
        ("hotels-2", "Three places. All three take dogs, have parking, and are near a park. Enough to decide?", "parking"),
        ("train-2", "Two trains go at 7:10 and 14:30. Both have Wi-Fi and a table. Which one suits you?", "wi-fi"),
        ("multi-2", "Three things:\n- Wake-up at what time?\n- What music?\n- Which days?", "wake-up"),
        ("media-4", "Which series did you finish, and do you have a service, or would it be TV?", "service"),
    ],
)  # fmt: skip
def test_a_piece_of_the_reply_is_no_choice(task: str, reply: str, never: str) -> None:
    assert not re.search(
        rf"\b{never}\b (?:sounds|would|please)|(?:take|with) {never}", turn(task, reply).lower()
    )


@pytest.mark.parametrize(
    ("reply", "bank"),
    [
        ("I do not know that. Could you tell me?", "answer"),
        ("You have not told me that. What is it?", "answer"),
        ("I have no record of that. Which one is it?", "answer"),
        ("I'm not sure about that. What would you like?", "answer"),
        ("I do not know which you prefer. Please let me know.", "answer"),
        ("Which one would you like? I do not know that:\n1. Seat 4, aisle\n2. Seat 9, window", "option"),
        ("I do not know your email address. Could you tell me?", "free_name"),
        ("I do not know when you want to go. Could you tell me?", "tell_time"),
        ("I do not know your shoe size. Could you tell me?", "free_what"),
        ("Which size would you like?", "free_what"),
        ("What would you like for a seat?", "answer"),
    ],
)  # fmt: skip
def test_a_question_without_a_name_is_about_what_the_assistant_does_not_know(reply: str, bank: str) -> None:
    assert [b for b, _ in heard(turn("train-3", reply))] == [bank]


def test_a_second_question_without_a_name_gets_the_next_preference() -> None:
    asks = "I do not know that. Could you tell me?", "I do not know that yet. What is it?"
    said = [heard(t.content)[0][0] for t in talk(scenario_of("events-1"), *asks)[1:3]]
    assert said == ["answer_like", "answer_when"]


def test_a_user_asks_for_more_only_where_something_stands() -> None:
    more = re.compile(r"\b(?:also|and could|too|as well|good|thanks)\b", re.IGNORECASE)
    assert not more.search(turn("train-1", "Done, I've taken care of it. Your seat is by the window."))
    assert more.search(turn("books-1", 'I picked "Atomic Habits" by James Clear for you. It has 320 pages.'))


def test_a_question_inside_of_a_draft_is_for_somebody_else() -> None:
    reply = 'Sent to both: "Dear Yeon-hee, I am half an hour late. How is your mother these days?"'
    assert not any(bank.startswith("free_") for bank, _ in heard(turn("messaging-1", reply)))


def test_a_question_in_the_form_of_a_request_is_answered() -> None:
    series = next(f.says for f in scenario_of("media-4").task.facts if f.known == "told")
    assert series in turn("media-4", "Just tell me which series it was and I'll find something.")


def test_an_offer_is_not_accepted_together_with_an_objection() -> None:
    answer = turn("restaurants-1", "Table for two on Friday at 19:30 at Casa Verde. Shall I book it?")
    assert "three" in answer.lower()
    assert not any(bank.startswith("accept") for bank, _ in heard(answer))


@pytest.mark.parametrize("day", ["1 January 2031", "30 December 2030"])
def test_a_day_beyond_a_range_is_answered_with_a_day_and_not_with_the_range(day: str) -> None:
    answer = turn("services-4", f"I've cancelled Thursday's massage and booked a new one on {day} at 11:30.")
    assert "between" not in answer


def test_a_limit_that_is_named_is_not_broken() -> None:
    scenarios = (scenario_of("restaurants-3", number) for number in range(80))
    scenario = next(s for s in scenarios if any(limit.name == "low salt" for limit in s.limits))
    reply = "Your table is moved back by an hour, for all of you, and the kitchen cooks low salt for you."
    assert not any(bank == "limit" for bank, _ in heard(talk(scenario, reply)[1].content))


@pytest.mark.parametrize("size", ["S", "XXL"])
def test_a_wrong_size_is_named_as_the_reply_writes_it(size: str) -> None:
    scenario = scenario_of("shopping-3")
    wanted = re.search(r"in size (\w+)", scenario.task.intent)
    assert wanted is not None
    if size == wanted[1]:
        pytest.skip("the size that is wanted")
    answer = talk(
        scenario, f"It's all sorted: the return is booked and the jacket in size {size} is ordered."
    )[1].content
    assert not re.search(r"\bs\b", answer.replace("'s", ""))


def test_a_person_who_is_alone_says_so() -> None:
    scenario = scenario_of("hotels-1")
    answer = talk(scenario, "Are you travelling alone, or with somebody?")[1].content.lower()
    guests = next(f for f in scenario.task.facts if f.name == "guests" or "how many people" in f.what)
    assert "me" in answer if guests.right == ("1",) else guests.says in answer


def test_what_is_promised_is_asked_after_and_what_is_handed_back_is_insisted_on() -> None:
    assert heard(turn("music-2", "I'd be glad to! I'll create a two-hour playlist for you."))[0][0] == "chase"
    assert heard(turn("movies-3", "You can exchange the tickets on the cinema's website."))[0][0] == "insist"


def test_a_number_of_the_opening_is_defended_wherever_it_is_said() -> None:
    scenarios = (scenario_of("books-5", number) for number in range(40))
    five = [s for s in scenarios if "five of you" in s.task.intent]
    answers = [talk(s, "I've picked one. There are copies for eight people.")[1].content for s in five]
    assert answers
    assert all("eight" in answer for answer in answers)


def test_several_questions_with_commas_get_an_answer_each() -> None:
    answer = turn(
        "buses-1", "From which city do you leave, would you like a morning coach, and how many tickets?"
    )
    assert "one" in answer.lower()
    assert len(answer.split(".")) > 2


def test_the_part_that_is_left_out_is_asked_for_with_what_only_the_user_knows() -> None:
    scenario = scenario_of("multi-21")
    day, place = (next(f.says for f in scenario.task.facts if f.name == name) for name in ("day", "meeting"))
    reply = f"I've booked two seats for a film on {day} and a table for two. The last bus home is at 22:50."
    answer = talk(scenario, reply)[1].content
    assert heard(answer)[0][0] == "ask_to"
    assert "meeting point" not in answer or place in answer.lower()
