"""A dialogue in numbers: how surely, how often and how late each act occurs, and how far the goal is reached."""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.acts import ACTS, Spoken, spoken
from pytest_personalens.agents.addressed import KINDS, Suspect, heard
from pytest_personalens.agents.goal import reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario


#: How the numbers of what is suspect begin; none of them has a weight above zero.
PAST_THE_USER: Final = "past the user: "


class Features:
    """What is said to the user with its acts, what is said past them, and the numbers that scores are made of."""

    def __init__(self, scenario: Scenario, messages: Sequence[Message]) -> None:
        self.heard = heard(scenario, messages)
        self.messages, self.suspects = self.heard
        self.spoken = spoken(scenario, self.messages)
        self.numbers = numbers(scenario, self.messages, self.spoken, self.suspects)


def numbers(scenario: Scenario, messages: Sequence[Message], said: Sequence[Spoken], suspects: Sequence[Suspect]) -> dict[str, float]:
    """The numbers by name, each to three decimals; a role that says nothing has none of its acts."""
    found: dict[str, float] = {}
    for role, acts in ACTS.items():
        of_role = [s for s in said if s.line.role == role]
        turns = sorted({s.line.turn for s in of_role})
        for act in acts.values():
            at = {turn: max(s.acts[act] for s in of_role if s.line.turn == turn) for turn in turns}
            every = [s.acts[act] for s in of_role]
            name = f"{role} {act}"
            found[f"{name}, surest"] = max(every, default=0.0)
            found[f"{name}, turns"] = log1p(sum(at.values()))
            found[f"{name}, last"] = at[turns[-1]] if turns else 0.0
            if role == "user":
                found[f"{name}, often"] = log1p(sum(every))
                found[f"{name}, later"] = max((p for turn, p in at.items() if turn), default=0.0)
    found |= {f"goal: {name}": value for name, value in reached(scenario, [s for s in said if s.line.role == "assistant"]).items()}
    found |= {f"{PAST_THE_USER}{kind}": log1p(sum(s.kind == kind for s in suspects)) for kind in KINDS}
    found[f"{PAST_THE_USER}whole replies"] = log1p(sum(m.role == "assistant" and not m.content for m in messages))
    found["ends with the user"] = float(bool(messages) and messages[-1].role == "user")
    found["user turns"] = log1p(sum(m.role == "user" for m in messages))
    return {name: round(value, 3) for name, value in found.items()}
