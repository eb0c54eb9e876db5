"""What a dialogue was before: its scores, its reasons and what was said, by a record or a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pytest_personalens.core.measure import Measure, Score
from pytest_personalens.core.message import Message, numbered
from pytest_personalens.core.scenario import Frozen
from pytest_personalens.core.verdict import MeasureField, ReasonCode, ScoreField

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.verdict import Verdict
    from pytest_personalens.results.baseline import Baseline, Entry
    from pytest_personalens.results.item import Item
    from pytest_personalens.results.values import Results


class Earlier(Frozen):
    """What an item came to before this run, as far as it is known."""

    source: Literal["record", "baseline"] = Field(description="What the scores and the reasons are from.")
    scores: dict[MeasureField, ScoreField] = Field(default_factory=dict)
    reasons: dict[MeasureField, tuple[ReasonCode, ...]] = Field(
        default_factory=dict, description="The codes of the reasons that the judge gave, each once."
    )
    messages: tuple[Message, ...] = Field(
        default=(), description="What was said then; empty where it is not known, or the same as now."
    )


def scores_in(verdicts: Iterable[Verdict]) -> dict[Measure, Score]:
    """The score of each reading."""
    return {verdict.dimension: verdict.score for verdict in verdicts}


def codes_in(verdicts: Iterable[Verdict]) -> dict[Measure, tuple[ReasonCode, ...]]:
    """The codes of the reasons of each reading that has any, each once, in the order of the alphabet."""
    found = {verdict.dimension: {reason.code for reason in verdict.reasons} for verdict in verdicts}
    return {dimension: tuple(sorted(codes)) for dimension, codes in found.items() if codes}


def earlier_of(item: Item) -> Earlier | None:
    """What is known of the item before this run; that of a replayed record is what it is now."""
    if item.earlier is None and item.record == "replayed" and item.evaluation.scored:
        verdicts = item.evaluation.verdicts
        return Earlier(source="record", scores=scores_in(verdicts), reasons=codes_in(verdicts))
    return item.earlier


def with_earlier(results: Results, baseline: Baseline) -> Results:
    """The results with what a baseline knows of their items; what was said is a record's, where the baseline
    has scores alone.
    """
    then = {(*entry.key, entry.trial): entry for entry in baseline.entries if entry.scores}
    items = tuple(
        item if item.arm else _joined(item, then.get((*item.key, item.trial))) for item in results.items
    )
    return results.model_copy(update={"items": items})


def _joined(item: Item, entry: Entry | None) -> Item:
    recorded = () if item.earlier is None else item.earlier.messages
    earlier = Earlier(source="baseline", messages=recorded)
    if entry is not None:
        same = numbered(entry.messages) == numbered(item.evaluation.dialogue.messages)
        said = () if same else entry.messages
        earlier = Earlier(
            source="baseline",
            scores=entry.scores,
            reasons=entry.reasons,
            messages=said if entry.messages else recorded,
        )
    return item.model_copy(update={"earlier": earlier})
