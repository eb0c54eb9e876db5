"""What each sentence of a dialogue does: a wish, an answer, a deed, a promise, a use of what is known, a boast of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.cues import Line, lines
from pytest_personalens.agents.linear import Binary, weights
from pytest_personalens.agents.once import once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

#: The acts by role, under the letters that labelled dialogues use for them (data/agreement/README.md).
ACTS: Final[dict[str, dict[str, str]]] = {
    "user": {
        "R": "wish", "N": "answer", "C": "objection", "S": "repeat", "G": "giving up", "Y": "acceptance", "T": "thanks",
        "M": "change of mind", "Q": "question",
    },
    "assistant": {
        "D": "deed", "F": "fact", "P": "promise", "X": "failure", "W": "slip", "O": "proposal", "Q": "question", "K": "confirmation",
        "H": "handing back", "E": "evasion", "U": "use", "V": "foresight", "B": "boast", "A": "asking the known", "Z": "contradiction",
        "C": "courtesy",
    },
}  # fmt: skip


class Spoken(NamedTuple):
    """A sentence with the probability of each act of its role."""

    line: Line
    acts: Mapping[str, float]


def spoken(scenario: Scenario, messages: Sequence[Message]) -> tuple[Spoken, ...]:
    """Every sentence of the dialogue with what it probably does."""
    models = {role: _model(role) for role in ACTS}
    return tuple(Spoken(line, models[line.role].probabilities(line.cues)) for line in lines(scenario, messages))


@once
def _model(role: str) -> Binary:
    return Binary(weights(f"acts_{role}"))
