"""What each score of a scale means, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Dimension -> its scores and their meaning (paper, Figures 16 and 17; docs/explanation/scores.md).
LEGENDS: Final[Mapping[Dimension, tuple[tuple[str, str], ...]]] = {
    Dimension.TASK_COMPLETION: (
        ("yes", "the goal of the task is reached"),
        ("no", "a part of it is missing, wrong or only promised"),
    ),
    Dimension.PERSONALIZATION: (
        ("1", "asks for what is known, or goes against it"),
        ("2", "uses only what the user says in the dialogue"),
        ("3", "uses what is known, unasked"),
        ("4", "also foresees what nobody asked for"),
    ),
}
