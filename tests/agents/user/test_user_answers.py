"""What the embedded user answers never contradicts its own profile: numbers, hours, sums and days are values
too.
"""

from __future__ import annotations

import json
import re

import pytest

from pytest_personalens.core.scenario import Scenario
from tests.agents.user.test_user_objections import EVENTS, MOVIES, PHARMACY, after
from tests.support.repository import Repository


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
)  # fmt: skip
def test_an_answer_keeps_to_the_profile(
    scenario: Scenario, question: str, wanted: str, unwanted: str
) -> None:
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


#: A dataset of somebody's own: three tasks of two people at a pharmacy.
PHARMACY_CONFTEST = """
    import json, pathlib, pytest
    from pytest_personalens.core.scenario import Scenario, ScenarioRef, Situation, Task

    PEOPLE = {
        "ruth": {"Inhaler": ("Ventolin",), "Supply Length": ("30 days",), "Collection Method": ("pick-up",)},
        "omar": {"Inhaler": ("Symbicort",), "Supply Length": ("90 days",), "Collection Method": ("delivery",)},
    }

    class Pharmacy:
        name, version = "pharmacy", "1"
        def domains(self): return ("Prescriptions",)
        def users(self): return tuple(PEOPLE)
        def refs(self, user): return [ScenarioRef(user, f"refill-{n}", "single", ("Prescriptions",)) for n in (1, 2, 3)]
        def load(self, ref):
            return Scenario(
                id=ref.id, user=ref.user, name=ref.user.title(), dataset="pharmacy 1", kind="single", domains=ref.domains, demographics={"age": "35-44"},
                preferences={"Prescriptions": PEOPLE[ref.user]}, summaries={"Prescriptions": "A customer for years."},
                situation=Situation(location="home", device="Laptop", time_of_day="Morning", day_of_week="Monday", environment="Quiet"),
                task=Task(id=ref.task, description="d", intent="You want to have your inhaler refilled.", goal="The inhaler is refilled."),
            )

    def pytest_personalens_dataset(spec, config):
        return Pharmacy() if spec == "pharmacy" else None

    @pytest.fixture
    def personalens_assistant(personalens_scenario):
        def bot(messages):
            said = [m["content"] for m in messages if m["role"] == "user"]
            pathlib.Path(f"said-{personalens_scenario.id}.json").write_text(json.dumps(said))
            if len(said) == 1:
                return "For 30 or 90 days?"
            return "I've refilled it: the Corvex inhaler for the days you said."
        return bot
"""


def test_people_of_an_own_dataset_keep_to_their_profile_and_object_to_a_strangers_inhaler(
    empty_repo: Repository,
) -> None:
    empty_repo.write(conftest=PHARMACY_CONFTEST)
    empty_repo.inline("--personalens-sample=6", "--personalens-data=pharmacy", "--personalens-gate=none")
    files = sorted(empty_repo.path.glob("said-*.json"))
    assert len(files) == 6
    for file in files:
        said = json.loads(file.read_text())
        inhaler, own, other = ("Ventolin", "30", "90") if "ruth" in file.name else ("Symbicort", "90", "30")
        assert f"{own} days" in said[1], said
        assert other not in said[1], said
        assert inhaler in said[2], said
        assert "Corvex" in said[2], said
        assert len(said) <= 4, said
