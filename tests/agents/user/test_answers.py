"""What the embedded user says to questions: facts, preferences, a choice, a yes, or that it does not mind."""

from __future__ import annotations

import re

import pytest

from pytest_personalens.agents import EmbeddedUserAgent
from pytest_personalens.agents.embedded.user.answers import alternatives, questions
from pytest_personalens.core.dialogue.dialogue import Message
from pytest_personalens.core.scenario import Scenario, ScenarioRef
from pytest_personalens.datasets import EmbeddedDataset, draw

EMBEDDED = EmbeddedDataset()
SCENARIOS = [EMBEDDED.load(ref) for ref in draw(EMBEDDED, 24, seed="consent").refs]

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


def scenario(task: str, user: str) -> Scenario:
    return EMBEDDED.load(next(ref for ref in EMBEDDED.refs(user) if ref.task == task))


def said(scenario: Scenario, reply: str) -> str:
    user = EmbeddedUserAgent()
    opening = Message(role="user", content=user.turn(scenario, ()).content)
    turn = user.turn(scenario, (opening, Message(role="assistant", content=reply)))
    return "(leaves)" if turn.done else turn.content


def any_with(task: str) -> Scenario:
    refs: list[ScenarioRef] = [
        ref for user in EMBEDDED.users() for ref in EMBEDDED.refs(user) if ref.task == task
    ]
    return EMBEDDED.load(refs[0])


@pytest.mark.parametrize("wording", CONSENT)
def test_every_user_says_yes_to_a_question_for_its_consent(wording: str) -> None:
    for person in SCENARIOS:
        assert _YES.search(said(person, wording)), person.id


def test_a_question_that_is_not_for_consent_gets_no_yes() -> None:
    for person in SCENARIOS:
        for reply in ("Which of these would you like?\n1. Blue Door\n2. Red Lion", "On what day?"):
            assert not _YES.search(said(person, reply)), (person.id, reply)


def test_a_fact_is_told_when_it_is_asked_for_and_not_told_as_new_if_it_was_said() -> None:
    person = any_with("hotels-1")
    facts = {f.name: f for f in person.task.facts}
    assert facts["arrive"].says in said(person, "Which day do you arrive?")
    assert re.search(r"\bone\b|\bjust me\b|\bonly me\b", said(person, "For how many people?").lower())
    assert re.search(r"said|mentioned|like", said(person, "Which city is it?"))


def test_several_questions_of_one_message_get_one_answer_each() -> None:
    person = any_with("flights-1")
    facts = {f.name: f for f in person.task.facts}
    text = said(person, "On which days do you fly out and back, and which seat do you like?")
    assert facts["out"].says in text
    assert facts["back"].says in text
    assert any(seat in text for seat in person.preferences["Flights"]["Seat Preference"])


def test_an_either_or_question_is_answered_by_one_of_the_two() -> None:
    for person in SCENARIOS:
        text = said(person, "Shall I send it by courier or by post?").lower()
        assert ("courier" in text) != ("post" in text), (person.id, text)


def test_an_either_or_question_about_a_preference_is_answered_by_it() -> None:
    person = any_with("flights-1")
    own = person.preferences["Flights"]["Seat Preference"][0]
    for reply in (f"Would you like {own} or the middle seat?", f"The middle seat or {own}?"):
        assert own in said(person, reply).lower()


def test_a_preference_is_told_in_answer_to_a_question_for_it() -> None:
    person = any_with("restaurants-1")
    cuisines = person.preferences["Restaurants"]["Cuisine Preference"]
    assert any(c in said(person, "What kind of food do you like?") for c in cuisines)
    assert any(c in said(person, "Do you have a favourite cuisine?") for c in cuisines)


def test_a_listed_option_is_chosen_by_what_the_user_likes() -> None:
    person = any_with("flights-1")
    own = person.preferences["Flights"]["Preferred Airline"][0]
    text = said(person, f"Which one do you prefer?\n1. Nowhere Air, $200\n2. {own}, $210")
    assert own in text or "second" in text


def test_who_has_no_allergy_has_nothing_to_tell_and_who_has_one_tells_it() -> None:
    people = [
        EMBEDDED.load(r) for u in EMBEDDED.users() for r in EMBEDDED.refs(u) if r.task == "restaurants-1"
    ]
    for person in people[:40]:
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
