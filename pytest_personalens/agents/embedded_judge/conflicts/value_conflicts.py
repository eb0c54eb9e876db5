"""Finds deeds with another day, date, time, count or length than the user asked for.

A conflict needs three things: somebody asked for just this value, no reply says it, and a deed has another value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.conflicts import count_conflicts, day_conflicts, time_conflicts
from pytest_personalens.agents.embedded_judge.conflicts.compared import Compared, Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

_KINDS: Final = (
    day_conflicts.days,
    day_conflicts.deadlines,
    day_conflicts.dates,
    day_conflicts.dated_days,
    count_conflicts.things,
    count_conflicts.persons,
    count_conflicts.lengths,
    time_conflicts.times,
)


def conflicts(
    scenario: Scenario, messages: Sequence[Message], statements: Sequence[Spoken]
) -> tuple[Conflict, ...]:
    """Return the conflicts of a dialogue, at most one of each kind."""
    compared = Compared(scenario, messages, statements)
    return tuple(found for kind in _KINDS for found in [next(kind(compared), None)] if found is not None)
