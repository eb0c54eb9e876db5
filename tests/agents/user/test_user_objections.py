"""The embedded user objects once to what goes against a preference that its task needs, in any domain, and to
nothing else.
"""

from __future__ import annotations

from typing import Any

import pytest

from pytest_personalens.agents import EmbeddedUserAgent
from pytest_personalens.agents.language.text import fold, sentences
from pytest_personalens.core.dialogue.dialogue import Message, UserTurn, converse
from pytest_personalens.core.scenario import Scenario, Situation, Task
from pytest_personalens.datasets import EmbeddedDataset, draw

EMBEDDED = EmbeddedDataset()


def person(
    domain: str,
    preferences: dict[str, tuple[str, ...]],
    intent: str,
    goal: str,
    relevant: tuple[str, ...] = (),
    age: str = "35-44",
) -> Scenario:
    return Scenario(
        id=f"{domain.lower()}-1-ruth", user="ruth", name="Ruth", dataset="test 1", kind="single", domains=(domain,), demographics={"age": age},
        preferences={domain: preferences}, summaries={domain: "She has been here before."},
        situation=Situation(location="Leeds", device="Laptop", time_of_day="Evening", day_of_week="Monday", environment="Quiet"),
        task=Task(id=f"{domain.lower()}-1", description="d", intent=intent, goal=goal, relevant=tuple((domain, name) for name in relevant)),
    )  # fmt: skip


MOVIES = person(
    "Movies",
    {
        "Viewing Time Preference": ("matinee",),
        "Seat Type Preference": ("aisle",),
        "Preferred Genres": ("comedy",),
    },
    "You want to see a film in town.",
    "A ticket for a film is booked.",
)
EVENTS = person(
    "Events",
    {
        "Price Range": ("under $20",),
        "Days of Week Preference": ("weekday evenings",),
        "Group Size Preference": ("solo",),
        "Event Type Preference": ("lectures",),
    },
    "You want a ticket to something near home.",
    "A ticket is booked.",
)
#: A dataset of somebody's own, with types that have no list of values.
PHARMACY = person(
    "Prescriptions",
    {
        "Inhaler": ("Ventolin",),
        "Brand": ("Nurofen",),
        "Supply Length": ("30 days",),
        "Collection Time": ("after work",),
        "Collection Method": ("pick-up",),
        "Seat": ("window",),
        "Ingredients": ("no lactose",),
    },
    "You want to have your medicine refilled.",
    "The medicine is refilled.",
)


def after(scenario: Scenario, *replies: str) -> list[UserTurn]:
    """What the user says to each of the replies."""
    user = EmbeddedUserAgent()
    messages = [Message(role="user", content=user.turn(scenario, ()).content)]
    turns = []
    for text in replies:
        messages.append(Message(role="assistant", content=text))
        turns.append(user.turn(scenario, tuple(messages)))
        messages.append(Message(role="user", content=turns[-1].content))
    return turns


@pytest.mark.parametrize(
    ("scenario", "reply", "wanted", "unwanted"),
    [
        (MOVIES, "I've booked 'Glass Orbit' at 20:15, on the aisle.", "matinee", "20:15"),
        (MOVIES, "I have booked 'Glass Orbit' for this evening, 8:15 pm, on the aisle.", "matinee", "8:15 pm"),
        (MOVIES, "### Booked ✅\n- **Film:** Glass Orbit\n- **Time:** 20:15\n- **Seat:** Aisle F1", "matinee", "20:15"),
        (MOVIES, "Glass Orbit at 21:40, row F on the aisle, £12. Shall I book it?", "matinee", "21:40"),
        (MOVIES, "I'd suggest 'Glass Orbit', a horror film at 14:30.", "comedy", "horror"),
        (EVENTS, "I've booked you a ticket for the lecture on Thursday at 19:00, $45.", "under $20", "$45"),
        (EVENTS, "I've booked you a ticket for the lecture on Saturday at 19:00, $15.", "weekday", "Saturday"),
        (EVENTS, "I've booked two tickets for the lecture on Thursday at 19:00, $15 each.", "solo", "2 people"),
        (PHARMACY, "I've refilled it: the Symbicort inhaler, ready for pick-up at 17:30.", "Ventolin", "Symbicort"),
        (PHARMACY, "Your refill is ordered.\n\n- **Brand:** Panadol\n- **Ready:** 17:30", "Nurofen", "Panadol"),
        (PHARMACY, "I've refilled your Ventolin: a 90-day supply, ready at 17:30.", "30 days", "90 days"),
        (PHARMACY, "I've refilled your Ventolin for 30 days, ready to collect at 9:00 AM.", "after work", "9:00 am"),
        (PHARMACY, "I've refilled your Ventolin and it will be delivered to your door.", "pick-up", "delivered"),
        (PHARMACY, "Your refill is booked with a seat in the waiting room: an aisle seat.", "window", "aisle"),
        (PHARMACY, "I have refilled it with tablets with lactose, 30 days.", "", "lactose"),
    ],
)  # fmt: skip
def test_a_contradiction_is_objected_to(scenario: Scenario, reply: str, wanted: str, unwanted: str) -> None:
    (turn,) = after(scenario, reply)
    assert not turn.done, turn
    assert wanted.lower() in turn.content.lower(), turn
    assert unwanted.lower() in turn.content.lower(), turn


@pytest.mark.parametrize(
    ("scenario", "reply"),
    [
        (MOVIES, "I've booked 'Glass Orbit' at 14:30, a comedy, on the aisle. It ends at 16:45."),
        (MOVIES, "I've booked 'Glass Orbit' at 2:30, a comedy, on the aisle. The evening shows at 20:15 cost £3 more."),
        (MOVIES, "I've booked 'Glass Orbit' at 14:30, on the aisle, rather than the horror film at 21:00."),
        (MOVIES, "I've cancelled the 20:15 for you and booked 'Glass Orbit' at 14:30, on the aisle."),
        (MOVIES, "I've booked the film: seat F1 by the window of the bar for the 14:30 of 'Glass Orbit'."),
        (EVENTS, "I've booked you a ticket for Thursday's lecture at 19:00, $18. A taxi would be about $30."),
        (EVENTS, "I've booked one ticket for the lecture on Thursday at 19:00, £25."),
        (PHARMACY, "I've refilled your Ventolin: 30 days, ready for pick-up at 17:30 within 2 days. Seat: 14C."),
        (PHARMACY, "I've refilled your Ventolin inhaler, lactose-free, ready for pick-up at 6 pm."),
        (PHARMACY, "I've refilled your usual inhaler and the right brand, ready for pick-up at 6 pm."),
    ],
)  # fmt: skip
def test_what_fits_or_is_only_told_is_thanked_for(scenario: Scenario, reply: str) -> None:
    (turn,) = after(scenario, reply)
    assert turn.done, turn
    assert "thank" in turn.content.lower() or "perfect" in turn.content.lower(), turn


def test_what_the_task_or_the_user_asked_for_itself_is_not_objected_to() -> None:
    tonight = MOVIES.model_copy(
        update={"task": MOVIES.task.model_copy(update={"intent": "You want to see a film tonight."})}
    )
    assert after(tonight, "I've booked the film 'Glass Orbit' at 20:15, on the aisle.")[0].done
    friends = EVENTS.model_copy(
        update={
            "task": EVENTS.task.model_copy(update={"intent": "You want to go to a lecture with two friends."})
        }
    )
    assert after(friends, "I've booked three tickets for Thursday's lecture at 19:00, $15 each.")[0].done


def test_a_list_to_choose_from_is_not_objected_to() -> None:
    for listed in (
        "I found three:\n1. Glass Orbit, 20:15\n2. Tap City, 14:30\n3. The Goat, 21:00\n\nWhich one would you like?",
        "Here you go:\n1️⃣ Glass Orbit, 20:15\n2️⃣ Tap City, 14:30\n\nReply 1 or 2.",
    ):
        (turn,) = after(MOVIES, listed)
        assert "tap city" in turn.content.lower(), turn


def test_only_what_the_task_needs_is_objected_to() -> None:
    scenario = MOVIES.model_copy(
        update={"task": MOVIES.task.model_copy(update={"relevant": (("Movies", "Seat Type Preference"),)})}
    )
    assert after(scenario, "I've booked the film 'Glass Orbit' at 20:15, on the aisle.")[0].done
    assert (
        not after(scenario, "I've booked the film 'Glass Orbit' at 14:30, by the window.")[0]
        .content.lower()
        .count("matinee")
    )


@pytest.mark.parametrize("age", ["18-24", "35-44", "65+"])
@pytest.mark.parametrize("scenario", [MOVIES, EVENTS, PHARMACY], ids=["movies", "events", "pharmacy"])
def test_an_objection_is_made_once_and_the_dialogue_ends(scenario: Scenario, age: str) -> None:
    wrong = {
        "Movies": "I've booked 'Glass Orbit' at 20:15, on the aisle.",
        "Events": "I've booked you a ticket for the lecture on Thursday at 19:00, $45.",
        "Prescriptions": "I've refilled it: the Symbicort inhaler, 30 days, ready for pick-up at 17:30.",
    }[scenario.domains[0]]
    scenario = scenario.model_copy(update={"demographics": {"age": age}})
    outcome = converse(scenario, lambda _: wrong, EmbeddedUserAgent())
    said = [m.content for m in outcome.dialogue.messages if m.role == "user"]
    assert outcome.dialogue.end == "user"
    assert len(said) == 3, said
    assert not any(
        word in said[-1].lower() for word in ("perfect", "great", "lovely", "just right", "brilliant")
    ), said


@pytest.mark.parametrize(
    "right",
    [
        "I've changed that: 'Glass Orbit' is now at 14:30, on the aisle.",
        "Sorry about that! It's now the 14:30, same row.",
        "Now 2:30 PM ✅",
    ],
)
def test_what_is_put_right_is_thanked_for(right: str) -> None:
    first, second = after(MOVIES, "I've booked 'Glass Orbit' at 20:15, on the aisle.", right)
    assert "matinee" in first.content
    assert second.done, second
    assert "thank" in second.content.lower() or "perfect" in second.content.lower(), second


def test_the_bot_that_contradicts_is_objected_to_and_the_one_that_remembers_only_where_it_errs(
    bots: Any,
) -> None:
    def objected(name: str) -> float:
        found = 0
        scenarios = [EMBEDDED.load(ref) for ref in draw(EMBEDDED, 60, seed="objections").refs]
        for scenario in scenarios:
            memory = bots.Memory()
            for topic, summary in scenario.summaries.items():
                memory.remember(scenario.user, topic, summary)
            messages = converse(
                scenario, bots.BOTS[name](scenario.user, memory), EmbeddedUserAgent()
            ).dialogue.messages
            said = [fold(s) for m in messages[1:] if m.role == "user" for s in sentences(m.content)]
            found += any(
                s.startswith(
                    ("no,", "not that", "hm, not", "hold on", "that's not", "wait", "i'm sorry, but")
                )
                for s in said
            )
        return found / len(scenarios)

    assert objected("remembers") <= 0.15
    assert objected("contradicts") >= 0.6
