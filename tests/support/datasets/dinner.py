"""A small scenario of a restaurant, and dialogues for it."""

from __future__ import annotations

from typing import Final

from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.scenario import Scenario, Situation, Task

TASTES: Final = {
    "Favorite Cuisine": ("Lebanese",),
    "Dietary Restriction": ("vegetarian",),
    "Seating": ("outdoor terrace",),
    "Price Range": ("moderate",),
}
DINNER = Scenario(
    id="restaurants-1-nadia",
    user="nadia",
    name="Nadia",
    dataset="test 1",
    kind="single",
    domains=("Restaurants",),
    demographics={"age": "35-44"},
    preferences={"Restaurants": TASTES},
    summaries={
        "Restaurants": (
            "Nadia eats out with her sister, who uses a wheelchair, and has turned away from places with"
            " steps. She likes to be home before ten because of the babysitter. Loud music made her leave a"
            " place once, and she always asks for the mint tea."
        )
    },
    situation=Situation(
        location="Lyon",
        device="Smartphone",
        time_of_day="Afternoon",
        day_of_week="Friday",
        environment="Noisy",
    ),
    task=Task(
        id="restaurants-1",
        description="The user wants a table for dinner.",
        intent="You want to book a table for two for this evening.",
        goal="A table for two is booked for this evening and the time and the place are stated.",
        relevant=tuple(("Restaurants", taste) for taste in TASTES),
    ),
)


def dialogue(*turns: str) -> Dialogue:
    """A dialogue that the user begins."""
    return Dialogue(
        messages=tuple(Message(role="assistant" if i % 2 else "user", content=t) for i, t in enumerate(turns))
    )
