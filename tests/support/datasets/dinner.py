"""Small scenarios of one user, one of them in a restaurant, and dialogues for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.scenario import Scenario, Situation, Task


def small_scenario(
    task: str,
    name: str,
    preferences: Mapping[str, Mapping[str, tuple[str, ...]]],
    summaries: Mapping[str, str],
    situation: tuple[str, str, str, str, str],
    **words: str,
) -> Scenario:
    """A scenario of a user for whom all preferences are relevant; `words` describe the task."""
    place, device, time, day, environment = situation
    return Scenario(
        id=f"{task}-{name.lower()}", user=name.lower(), name=name, dataset="test 1", domains=tuple(preferences),
        kind="single" if len(preferences) == 1 else "multi", demographics={"age": "35-44"},
        preferences=preferences, summaries=summaries,
        situation=Situation(location=place, device=device, time_of_day=time, day_of_week=day, environment=environment),
        task=Task(id=task, relevant=tuple((domain, kind) for domain, kinds in preferences.items() for kind in kinds), **words),
    )  # fmt: skip


TASTES: Final = {
    "Favorite Cuisine": ("Lebanese",),
    "Dietary Restriction": ("vegetarian",),
    "Seating": ("outdoor terrace",),
    "Price Range": ("moderate",),
}
DINNER = small_scenario(
    "restaurants-1",
    "Nadia",
    {"Restaurants": TASTES},
    {
        "Restaurants": (
            "Nadia eats out with her sister, who uses a wheelchair, and has turned away from places with"
            " steps. She likes to be home before ten because of the babysitter. Loud music made her leave a"
            " place once, and she always asks for the mint tea."
        )
    },
    ("Lyon", "Smartphone", "Afternoon", "Friday", "Noisy"),
    description="The user wants a table for dinner.",
    intent="You want to book a table for two for this evening.",
    goal="A table for two is booked for this evening and the time and the place are stated.",
)


def dialogue(*turns: str) -> Dialogue:
    """A dialogue that the user begins."""
    return Dialogue(
        messages=tuple(Message(role="assistant" if i % 2 else "user", content=t) for i, t in enumerate(turns))
    )
