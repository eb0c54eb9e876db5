"""The measures of PersonaLens: the dimensions of its judge, with names and scales."""

from __future__ import annotations

from enum import ReprEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import Better, Measure, MeasureNames, add_measures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Long name of a dimension -> its other names.
_NAMES: Final[Mapping[str, MeasureNames]] = {
    "task_completion": MeasureNames(
        "tc", "Task completion", "task completion rate", "TC", "TCR", "TCR", "TCR",
    ),
    "personalization": MeasureNames(
        "p", "Personalization", "mean personalization", "P", "P", "P", "P",
    ),
    "facts": MeasureNames(
        "facts", "Facts", "mean share of facts that stand", "facts", "Facts", "Facts", "Facts",
    ),
    "naturalness_user": MeasureNames(
        "nat-user", "Naturalness of the user", "mean naturalness of the user",
        "Nat. user", "Nat. user", "Nat.u", "Nat.u",
    ),
    "naturalness_assistant": MeasureNames(
        "nat-assistant", "Naturalness of the assistant", "mean naturalness of the assistant",
        "Nat. asst.", "Nat. asst.", "Nat.a", "Nat",
    ),
    "coherence_user": MeasureNames(
        "coh-user", "Coherence of the user", "mean coherence of the user",
        "Coh. user", "Coh. user", "Coh.u", "Coh.u",
    ),
    "coherence_assistant": MeasureNames(
        "coh-assistant", "Coherence of the assistant", "mean coherence of the assistant",
        "Coh. asst.", "Coh. asst.", "Coh.a", "Coh",
    ),
    "personalization_turns": MeasureNames(
        "p-turns", "Personalization by turn", "mean personalization after the last turn",
        "P last", "P last", "P.last", "P.last",
    ),
    "opening_leak": MeasureNames(
        "leak", "Leak in the opening", "share of leaks in the opening", "Leak", "Leak", "Leak", "Leak",
    ),
    "unbacked": MeasureNames(
        "unbacked", "Claims without a call", "share of dialogues with a claim that no call stands behind",
        "Unbacked", "Unbacked", "Unb.", "Unb.",
    ),
    "intrusions": MeasureNames(
        "intrusions", "Intrusions", "share of dialogues that say what the task does not need",
        "Intrusions", "Intrusions", "Intr.", "Intr.",
    ),
}  # fmt: skip


class Dimension(Measure, ReprEnum):
    """A dimension that the judge scores (paper, section 3.2, Figures 16 to 20), or one of our own.

    Scores are 0 or 1 for task completion (TC), the leak check, unbacked and intrusions, 1 to 4 for
    personalization (P), and 1 to 5 for naturalness and coherence.

    `FACTS`, `UNBACKED` and `INTRUSIONS` are our own. Facts is the share, 0 to 1, of the closed facts of the
    task's parts that the assistant's replies affirm in the end; typed values are compared, and no model reads
    them. Unbacked is 1 if the assistant says that it did what no tool call did. Intrusions is 1 if it says or
    acts on something of the user that the task does not need.
    """

    TASK_COMPLETION = "task_completion", 0, 1
    PERSONALIZATION = "personalization", 1, 4
    FACTS = "facts", 0, 1, "high", Fraction(1, 1000)
    NATURALNESS_USER = "naturalness_user", 1, 5
    NATURALNESS_ASSISTANT = "naturalness_assistant", 1, 5
    COHERENCE_USER = "coherence_user", 1, 5
    COHERENCE_ASSISTANT = "coherence_assistant", 1, 5
    PERSONALIZATION_TURNS = "personalization_turns", 1, 4
    OPENING_LEAK = "opening_leak", 0, 1
    UNBACKED = "unbacked", 0, 1, "low"
    INTRUSIONS = "intrusions", 0, 1, "low"

    def __new__(
        cls, name: str, low: int = 0, high: int = 1, better: Better = "high", grid: Fraction | int = 1
    ) -> Dimension:
        member = super().__new__(cls, name, _NAMES[name], low, high, grid, better)
        member._value_ = name  # type: ignore[attr-defined]
        return member  # type: ignore[return-value]


add_measures(Dimension)

#: What task completion is read from, in the words of every message about a reading without any of it.
NEEDS_FACTS: Final = "task completion needs facts, tool calls, a state or a model"
#: Why there is no share of facts.
NO_FACTS: Final = "no part of the task has a fact with a right value"
#: The six readings of a dialogue (paper, Table 3). There are four more: the share of facts that stand, P by
#: turn (Figure 5), whether the simulated user states a preference in the opening, which would make P
#: meaningless, and whether the assistant claims what no tool call did.
READINGS: Final = (
    Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.NATURALNESS_USER,
    Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_USER, Dimension.COHERENCE_ASSISTANT,
)  # fmt: skip
#: What annotators may label.
LABELLED: Final = (*READINGS, Dimension.UNBACKED)
DEFAULT_DIMENSIONS: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
#: The main readings where typed values are read without a model. Intrusions are read by default beside them.
FREE_DIMENSIONS: Final = (*DEFAULT_DIMENSIONS, Dimension.FACTS)


def dimensions(names: Iterable[str]) -> tuple[Dimension, ...]:
    """Return dimensions by long or short name, in the benchmark's order; "all" means the six `READINGS`.

    Raise `SpecError` for an unknown name; the text names the known ones.
    """
    by_name = {name: (d,) for d in Dimension for name in (d.short, d.value.replace("_", "-"))}
    chosen: set[Dimension] = set()
    for name in names:
        key = name.strip().lower().replace("_", "-")
        if key != "all" and key not in by_name:
            raise SpecError(f"unknown dimension {name!r}; known: {', '.join(d.short for d in Dimension)}")
        chosen.update(READINGS if key == "all" else by_name[key])
    return tuple(d for d in Dimension if d in chosen)
