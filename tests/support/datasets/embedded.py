"""Scenarios of the embedded data, and what the embedded user says to replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedUserAgent
from pytest_personalens.core.dialogue.dialogue import Message
from pytest_personalens.datasets import EmbeddedDataset, draw

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue.dialogue import UserTurn
    from pytest_personalens.core.scenario import Scenario

EMBEDDED: Final = EmbeddedDataset()


def drawn(count: int, seed: str) -> list[Scenario]:
    return [EMBEDDED.load(ref) for ref in draw(EMBEDDED, count, seed=seed).refs]


def of_task(task: str) -> list[Scenario]:
    """The scenarios of all users with a task."""
    return [EMBEDDED.load(r) for user in EMBEDDED.users() for r in EMBEDDED.refs(user) if r.task == task]


def any_with(task: str) -> Scenario:
    """The scenario of the first user with a task."""
    return EMBEDDED.load(next(r for u in EMBEDDED.users() for r in EMBEDDED.refs(u) if r.task == task))


def next_turn(scenario: Scenario, *replies: str) -> UserTurn:
    """What the embedded user says after some replies."""
    user, messages = EmbeddedUserAgent(), list[Message]()
    for reply in replies:
        messages.append(Message(role="user", content=user.turn(scenario, messages).content))
        messages.append(Message(role="assistant", content=reply))
    return user.turn(scenario, messages)
