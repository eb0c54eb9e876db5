"""What is known of the items of a run before it: by their records, or by a baseline."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_personalens.core.dialogue.message import number_call_ids
from pytest_personalens.core.text.node_ids import within_file
from pytest_personalens.results.values.earlier import Earlier, codes_in, scores_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.results.comparison.baseline import Baseline, Entry
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


def earlier_of(item: Item) -> Earlier | None:
    """Return what is known of the item before this run; that of a replayed record is what it is now."""
    if item.earlier is None and item.record == "replayed" and item.evaluation.scored:
        verdicts = item.evaluation.verdicts
        return Earlier(source="record", scores=scores_in(verdicts), reasons=codes_in(verdicts))
    return item.earlier


def score_before(item: Item, measure: Measure) -> Score | None:
    """Return the item's score before this run, if it is known."""
    earlier = earlier_of(item)
    return None if earlier is None else earlier.scores.get(measure)


def follow_moved_tests(baseline: Baseline, results: Results) -> Baseline:
    """Return the baseline with tests that moved or were renamed under their names of this run.

    A test moved if it is gone, one new test of the run has its name in another file, and the two have a
    scenario in common. It was renamed if no new test has its name, and one that did not move has such a
    scenario. Where several might be meant, none is.
    """
    then, now = _scenarios_by_test(baseline.entries), _scenarios_by_test(results.own)
    gone, new, found = then.keys() - now.keys(), now.keys() - then.keys(), dict[str, str]()
    for named_alike in (True, False):
        pairs = [
            (test, other)
            for test in gone - found.keys()
            for other in new - {*found.values()}
            if then[test] & now[other] and (not named_alike or within_file(other) == within_file(test))
        ]
        meant = Counter(test for pair in pairs for test in pair)
        found |= {test: other for test, other in pairs if meant[test] == meant[other] == 1}
    if not found:
        return baseline
    entries = (e.model_copy(update={"test": found.get(e.test, e.test)}) for e in baseline.entries)
    return baseline.model_copy(update={"entries": tuple(entries)})


def _scenarios_by_test(asked: Iterable[Entry | Item]) -> dict[str, set[tuple[str, ...]]]:
    scenarios: dict[str, set[tuple[str, ...]]] = {}
    for one in asked:
        *scenario, test = one.key
        scenarios.setdefault(test, set()).add(tuple(scenario))
    return scenarios


def attach_earlier(results: Results, baseline: Baseline) -> Results:
    """Return the results with what a baseline knows of their items.

    What was said is a record's, where the baseline has scores alone.
    """
    then = {(*entry.key, entry.trial): entry for entry in baseline.entries if entry.scores}

    def attached(item: Item) -> Item:
        entry = then.get((*item.key, item.trial))
        messages = () if item.earlier is None else item.earlier.messages
        if entry is not None and entry.messages:
            messages = _other_messages(item, entry.messages)
        known = {} if entry is None else {"scores": entry.scores, "reasons": entry.reasons}
        earlier = Earlier(source="baseline", messages=messages, **known)
        return item.model_copy(update={"earlier": earlier})

    return _with_items(results, lambda item: item if item.arm else attached(item))


def attach_messages(results: Results, before: Results) -> Results:
    """Return the results with what was said in an earlier run, where nothing else is known of before.

    For runs that cannot be compared: of the old scores and reasons nothing is kept.
    """
    then = {(*item.key, item.trial): item.evaluation.dialogue.messages for item in before.own}

    def attached(item: Item) -> Item:
        messages = _other_messages(item, then.get((*item.key, item.trial), ()))
        if not messages or item.arm or item.earlier:
            return item
        return item.model_copy(update={"earlier": Earlier(source="baseline", messages=messages)})

    return _with_items(results, attached)


def _with_items(results: Results, change: Callable[[Item], Item]) -> Results:
    return results.model_copy(update={"items": tuple(map(change, results.items))})


def _other_messages(item: Item, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages, or none if they are what is said now."""
    return () if number_call_ids(messages) == number_call_ids(item.evaluation.dialogue.messages) else messages
