"""Computes scores from the numbers of a dialogue.

Rules override them: for empty replies, other values than were asked for, promises, deeds taken back, and a user
who says at the end that it is not done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.weights import table
from pytest_personalens.core.judging.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.agents.embedded_judge.features import Features


#: The least personalization of an assistant whose calls hold a value that was known and not told.
_APPLIES: Final = 3


def score(features: Features, dimension: Dimension) -> int:
    """Return the score of a dialogue on a dimension that the judge gives, by its words."""
    steps = table(dimension.value).steps(numbers(features, dimension))
    raw_score = dimension.scale.low + steps
    if dimension is Dimension.PERSONALIZATION and features.applied_by_call:
        raw_score = max(raw_score, _APPLIES)
    return capped(features, dimension, raw_score)


def numbers(features: Features, dimension: Dimension) -> Mapping[str, float]:
    """Return the numbers from which the score is computed."""
    if dimension is Dimension.TASK_COMPLETION:
        return features.task_completion
    return features.personalization if dimension is Dimension.PERSONALIZATION else features.style


def capped(features: Features, dimension: Dimension, raw_score: int) -> int:
    """Return the score, or the lowest score if a rule says so.

    Empty replies are all the same, or say nothing of their own: they cap task completion and personalization.
    Task completion is also capped if a deed has another value than the user asked for, is only promised, or
    is taken back at the end, and if the user's last word is that it is not done.
    """
    if dimension is Dimension.PERSONALIZATION and features.broken:
        return dimension.scale.low
    if dimension is Dimension.TASK_COMPLETION and (
        features.conflicts or features.undone or features.promised or features.objection
    ):
        return dimension.scale.low
    of_content = dimension in (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
    return dimension.scale.low if of_content and features.empty else raw_score
