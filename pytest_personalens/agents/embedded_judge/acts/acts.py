"""The acts of each statement of a dialogue.

Acts are for example a wish, an answer, a deed, a promise, a use of known facts, or a boast of known facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.acts.cues import LISTED, Line, lines
from pytest_personalens.agents.language.weights import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: The acts of each role. Labelled dialogues use the letters for them (data/agreement/README.md).
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
    """A statement with the probability of each act of its role."""

    line: Line
    acts: Mapping[str, float]


def spoken(scenario: Scenario, messages: Sequence[Message]) -> tuple[Spoken, ...]:
    """Return every statement of the dialogue with the probabilities of its acts.

    A first model reads each statement alone. A second model reads it together with its neighbours.
    """
    alone = [
        Spoken(line, table(f"acts-{line.role}").of_cues(line.cues)) for line in lines(scenario, messages)
    ]
    model = table("acts-in-context")
    return tuple(
        statement
        if statement.line.role == "user"
        else Spoken(statement.line, of_lists(statement.line, model.of_numbers(context)))
        for statement, context in zip(alone, contexts(alone), strict=True)
    )


def of_lists(line: Line, acts: Mapping[str, float]) -> Mapping[str, float]:
    """Return the acts, or only a boast for a statement that just lists known facts.

    Such a list does nothing with the facts.
    """
    return {**dict.fromkeys(acts, 0.0), "boast": 1.0} if LISTED in line.cues else acts


def contexts(alone: Sequence[Spoken]) -> list[dict[str, float]]:
    """Return the numbers of each statement for the second model.

    They are its acts as read alone, those of its neighbours, and those of the messages around it. They are
    empty for statements of the user.
    """
    turns: dict[int, list[Spoken]] = {}
    for statement in alone:
        turns.setdefault(statement.line.turn, []).append(statement)
    rows: list[dict[str, float]] = []
    deed_before = 0.0
    for turn, of_turn in turns.items():
        if of_turn[0].line.role == "user":
            rows += [{} for _ in of_turn]
            continue
        around = {
            f"user {where}: {act}": max(s.acts[act] for s in turns[at])
            for where, at in (("before", turn - 1), ("after", turn + 1))
            if at in turns
            for act in turns[at][0].acts
        }
        around["unanswered"] = float(turn + 1 not in turns)
        around["deed before"] = deed_before
        deeds = [s.acts["deed"] for s in of_turn]
        for i, statement in enumerate(of_turn):
            numbers = {**around, **{f"itself: {act}": p for act, p in statement.acts.items()}}
            for where, at in (("statement before", i - 1), ("statement after", i + 1)):
                if 0 <= at < len(of_turn):
                    numbers |= {f"{where}: {act}": p for act, p in of_turn[at].acts.items()}
            numbers["deed beside"] = max((d for j, d in enumerate(deeds) if j != i), default=0.0)
            rows.append(numbers)
        deed_before = max(deed_before, *deeds)
    return rows
