"""What the embedded user answers never contradicts its own profile: numbers, hours, sums and days are values too."""

from __future__ import annotations

import re

import pytest

from pytest_personalens.scenario import Scenario
from tests.test_user_objections import EVENTS, MOVIES, PHARMACY, after


@pytest.mark.parametrize(
    ("scenario", "question", "wanted", "unwanted"),
    [
        (PHARMACY, "For 30 or 90 days?", "30 days", "90"),
        (PHARMACY, "Would you like 90 or 30 days?", "30 days", "90"),
        (PHARMACY, "30 days or 90 days?", "30 days", "90"),
        (PHARMACY, "How many days' supply would you like?", "30 days", "long|choose"),
        (PHARMACY, "How long should it last?", "30 days", "choose"),
        (PHARMACY, "Shall I make it 90 days?", "30 days", "yes|yep|yeah"),
        (PHARMACY, "Shall I make it 30 days?", "yes|yep|right|30 days", "90"),
        (PHARMACY, "Which is better: at 9:00 or at 17:30?", "17:30|after work", "9:00"),
        (PHARMACY, "Pick-up or delivery?", "pick-up", "delivery"),
        (PHARMACY, "Shall I have it ready at 9:00 AM?", "after work", "yes|yep|yeah"),
        (MOVIES, "Do you want the 20:15 or the 14:30?", "14:30|matinee", "20:15"),
        (MOVIES, "What time would you like?", "matinee", "any time"),
        (MOVIES, "Which of these would you like?\n- Glass Orbit, 20:15\n- Tap City, 14:30", "tap city", "glass orbit"),
        (EVENTS, "What's your budget?", r"under \$20", "reasonable"),
        (EVENTS, "Would you take a ticket at $45 or one at $15?", r"\$15|under \$20", r"\$45"),
        (EVENTS, "Saturday or Thursday?", "thursday|weekday", "saturday"),
    ],
)
def test_an_answer_keeps_to_the_profile(scenario: Scenario, question: str, wanted: str, unwanted: str) -> None:
    (turn,) = after(scenario, question)
    assert not turn.done, turn
    assert re.search(wanted, turn.content.lower()), turn
    assert not re.search(rf"\b(?:{unwanted})", turn.content.lower()), turn


def test_no_person_contradicts_itself_whatever_the_words() -> None:
    """24 people with one preference: the wording differs from one to the next, the answer does not."""
    for number in range(24):
        scenario = PHARMACY.model_copy(update={"user": f"user{number}"})
        (turn,) = after(scenario, "For 30 or 90 days?")
        assert "30 days" in turn.content, turn
