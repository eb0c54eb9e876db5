"""What is known of the items of a run before it: by their records, or by a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.message import numbered
from pytest_personalens.results.earlier import Earlier, codes_in, scores_in

if TYPE_CHECKING:
    from pytest_personalens.core.message import Message
    from pytest_personalens.results.baseline import Baseline, Entry
    from pytest_personalens.results.item import Item
    from pytest_personalens.results.values import Results


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


def with_messages(results: Results, before: Results) -> Results:
    """The results with what was said in an earlier run, where nothing else is known of before.

    For runs that cannot be compared: of the old scores and reasons nothing is kept.
    """
    then = {(*item.key, item.trial): item.evaluation.dialogue.messages for item in before.own}
    items = tuple(
        item if item.arm or item.earlier else _said_before(item, then.get((*item.key, item.trial), ()))
        for item in results.items
    )
    return results.model_copy(update={"items": items})


def _said_before(item: Item, messages: tuple[Message, ...]) -> Item:
    if not messages or numbered(messages) == numbered(item.evaluation.dialogue.messages):
        return item
    return item.model_copy(update={"earlier": Earlier(source="baseline", messages=messages)})


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
