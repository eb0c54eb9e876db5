"""What the embedded user says to questions: facts, preferences, a choice, a yes, or that it does not mind."""

from __future__ import annotations

import re

import pytest

from pytest_personalens.agents.embedded.user.answers import alternatives, questions
from pytest_personalens.core.scenario import Scenario
from tests.support.datasets.embedded import any_with, drawn, next_turn, of_task

SCENARIOS = drawn(24, "consent")

#: Ways to ask for consent; the last eight were measured against an earlier user, of whom few said yes.
CONSENT = [
    "Do I have your permission to go on?", "Just give me the nod and it's yours.", "Type OK to finish.",
    "One tap on yes and we are done, deal?", "I only need a yes from you.", "Are you happy for me to place the order?",
    "To complete the booking, answer 'yes'.", "Can you approve this?", "May I put it on your usual card?",
    "It's all prepared; I'm holding it until I hear from you.", "Would that be all right?", "Let me know and I'll finalize it.",
    "Is it a go?", "Please authorize the purchase.", "Should this be booked now?", "Want it?",
    "Everything is lined up and only awaits your approval.", "Ready when you are - confirm to proceed.",
    "Mind if I go through with it?", "Say yes, and I'll take care of the rest.",
    "Shall I go ahead?", "Please confirm.", "Please confirm so I can proceed.",
    "Just to be sure: do you confirm that I should finalize this booking?", "Please reply YES to confirm.",
    "Let me know if I should go ahead.", "Ready to book. Just say the word.", "Reply with yes and I will book it.",
    "Waiting for your go-ahead.",
]  # fmt: skip
_YES = re.compile(r"\b(?:yes|yep|yeah|sure|ok|okay)\b", re.IGNORECASE)


def said(scenario: Scenario, reply: str) -> str:
    turn = next_turn(scenario, reply)
    return "(leaves)" if turn.done else turn.content


@pytest.mark.parametrize("wording", CONSENT)
def test_every_user_says_yes_to_a_question_for_its_consent(wording: str) -> None:
    for person in SCENARIOS:
        assert _YES.search(said(person, wording)), person.id


def test_a_question_that_is_not_for_consent_gets_no_yes() -> None:
    for person in SCENARIOS:
        for reply in ("Which of these would you like?\n1. Blue Door\n2. Red Lion", "On what day?"):
            assert not _YES.search(said(person, reply)), (person.id, reply)


@pytest.mark.parametrize(
    ("task", "reply", "tells"),
    [
        ("hotels-1", "Which day do you arrive?", ["<arrive>"]),
        ("hotels-1", "For how many people?", [r"\bone\b|\bjust me\b|\bonly me\b"]),
        ("hotels-1", "Which city is it?", ["said|mentioned|like"]),  # not told as new
        ("flights-1", "On which days do you fly out and back, and which seat do you like?", ["<out>", "<back>", "<Seat Preference>"]),
        ("flights-1", "Would you like <Seat Preference> or the middle seat?", ["<Seat Preference>"]),
        ("flights-1", "The middle seat or <Seat Preference>?", ["<Seat Preference>"]),
        ("flights-1", "Which one do you prefer?\n1. Nowhere Air, $200\n2. <Preferred Airline>, $210", ["<Preferred Airline>|second"]),
        ("restaurants-1", "What kind of food do you like?", ["<Cuisine Preference>"]),
        ("restaurants-1", "Do you have a favourite cuisine?", ["<Cuisine Preference>"]),
    ],
)  # fmt: skip
def test_a_question_is_answered_by_what_the_user_knows(task: str, reply: str, tells: list[str]) -> None:
    person = any_with(task)
    known: dict[str, tuple[str, ...]] = {fact.name: (fact.says,) for fact in person.task.facts}
    for types in person.preferences.values():
        known |= types
    for name, ways in known.items():
        reply = reply.replace(f"<{name}>", ways[0] if ways else "")
        tells = [t.replace(f"<{name}>", "|".join(map(re.escape, ways))) for t in tells]
    text = said(person, reply)
    assert all(re.search(told, text, re.IGNORECASE) for told in tells), (text, tells)


def test_two_facts_with_one_value_are_told_once() -> None:
    person = next(s for s in of_task("hotels-3") if s.user == "aroha")
    days = [fact.says for fact in person.task.facts if fact.kind == "date" and fact.known != "open"]
    text = said(person, "Which dates are we talking about?")
    assert len(days) > len({*days}) and text.count(days[0]) == 1


def test_an_either_or_question_is_answered_by_one_of_the_two() -> None:
    for person in SCENARIOS:
        text = said(person, "Shall I send it by courier or by post?").lower()
        assert ("courier" in text) != ("post" in text), (person.id, text)


def test_who_has_no_allergy_has_nothing_to_tell_and_who_has_one_tells_it() -> None:
    for person in of_task("restaurants-1")[:40]:
        text = said(person, "Is there anything you cannot eat?").lower()
        diet = [v.lower() for v in person.preferences["Restaurants"].get("Dietary Restrictions", ())]
        assert any(v in text for v in diet) == bool(diet) or person.limits, (person.id, text)


def test_a_question_in_quoted_words_is_no_question() -> None:
    assert not questions('I have sent this to Ana: "Shall we meet on Friday at seven at my place?" Done.')


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("would you like a window seat, an aisle seat or the exit row?", ["a window seat", "an aisle seat", "the exit row"]),
        ("do you read on paper or on a screen?", ["paper", "a screen"]),
        ("shall i book it, or would you rather wait?", []),
        ("would you rather have a man or a woman, or don't you mind?", ["a man", "a woman"]),
    ],
)  # fmt: skip
def test_alternatives(question: str, choices: list[str]) -> None:
    assert alternatives(question) == choices
