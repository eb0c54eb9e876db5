"""What a dialogue was before: its scores, its reasons and what was said, by a record or a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.measure import Measure, Score
from pytest_personalens.core.judging.verdict import MeasureField, ReasonCode, ScoreField

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.judging.verdict import Verdict


class Earlier(Frozen):
    """What an item came to before this run, as far as it is known.

    `reasons` are the codes of the judge's reasons, each once. `messages` are what was said then; they are
    empty where that is not known, or the same as now.
    """

    source: Literal["record", "baseline"] = Field(description="What the scores and the reasons are from.")
    scores: dict[MeasureField, ScoreField] = Field(default_factory=dict)
    reasons: dict[MeasureField, tuple[ReasonCode, ...]] = Field(default_factory=dict)
    messages: tuple[Message, ...] = ()


def scores_in(verdicts: Iterable[Verdict]) -> dict[Measure, Score]:
    return {verdict.dimension: verdict.score for verdict in verdicts}


def codes_in(verdicts: Iterable[Verdict]) -> dict[Measure, tuple[ReasonCode, ...]]:
    """Return the codes of the reasons of each reading that has any, each once, in alphabetical order."""
    by_measure = {verdict.dimension: {reason.code for reason in verdict.reasons} for verdict in verdicts}
    return {dimension: tuple(sorted(codes)) for dimension, codes in by_measure.items() if codes}
