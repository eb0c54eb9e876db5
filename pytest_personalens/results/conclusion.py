"""What a run comes to: its trials, controls, comparison and gates, and what is known of its items before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.dialogue.message import number_call_ids
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.options.gate import measure_of
from pytest_personalens.results.comparison.pairs import controls_of, trials_of
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.values.item import Earlier, codes_in, scores_in

if TYPE_CHECKING:
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


def conclude(results: Results, s: Settings, baseline: Baseline | None) -> Results:
    """Return the results with trials, controls, comparison and gates; the last two of a complete run only.

    The settings `s` hold the gates, the level and the margins.
    """
    update = dict[str, object]()
    if s.trials > 1:
        update["trials"] = trials_of(results.own, s.trials, results.of_suite)
    if s.control:
        update["controls"] = controls_of(results.items, results.of_suite)
    results = attach_replayed(results.model_copy(update=update))
    # A cap ends a run in order, and its items are skipped. Items that could not be scored are skipped too if
    # nothing may fail the run. If no item is left, the run must not count as a success.
    nothing = not results.overall.scored and (
        "budget" in results.uncounted or (s.report_only and results.expected > 0)
    )
    if not results.complete or not (s.asks_for_gates or nothing):
        return results
    if baseline is not None:
        # Imported only if the run needs it, because the import would slow down a replay.
        from pytest_personalens.results.comparison.compare import compare_latency, compare_with_baseline

        margins = {get_measure(name): margin for name, margin in s.margin}
        results = attach_earlier(results, baseline)
        drops = (gate for gate in s.gate if gate.metric == "drop")
        bounded = [measure for gate in drops if (measure := measure_of(gate, results.of_suite)) is not None]
        comparison = compare_with_baseline(
            baseline, results, name=str(s.baseline), level=s.level, margins=margins, bounded=bounded
        )
        # One more test beside those of the scores, at its share of the level.
        level = s.level / (1 + sum(d.gated for d in comparison.differences))
        latency = compare_latency(baseline, results, level=level)
        comparison = comparison.model_copy(update={"latency": latency})
        results = results.model_copy(update={"comparison": comparison})
    measured = nothing or s.save_baseline is not None
    return results.model_copy(update={"gates": check_gates(results, s.gate, measured=measured)})


def attach_replayed(results: Results) -> Results:
    """Return the results, where records hold other dialogues, with what the replayed ones were: as now.

    Where all records are replayed, nothing is known of before.
    """
    if all(item.earlier is None for item in results.own):
        return results

    def attached(item: Item) -> Item:
        if item.earlier is not None or item.record != "replayed" or not item.evaluation.scored:
            return item
        verdicts = item.evaluation.verdicts
        earlier = Earlier(source="record", scores=scores_in(verdicts), reasons=codes_in(verdicts))
        return item.model_copy(update={"earlier": earlier})

    return results.model_copy(update={"items": tuple(map(attached, results.items))})


def attach_earlier(results: Results, baseline: Baseline, *, scores: bool = True) -> Results:
    """Return the results with what a baseline knows of their items.

    What was said is a record's, where the baseline does not hold it, and left out where it is what is said
    now. Runs that cannot be compared keep nothing of the old `scores` and reasons.
    """
    then = {(*entry.key, entry.trial): entry for entry in baseline.entries if entry.scores}

    def attached(item: Item) -> Item:
        entry = then.get((*item.key, item.trial))
        messages = () if item.earlier is None else item.earlier.messages
        if entry is not None and entry.name in baseline.dialogues:
            messages = baseline.dialogues[entry.name]
            if number_call_ids(messages) == number_call_ids(item.evaluation.dialogue.messages):
                messages = ()
        known = {} if entry is None or not scores else {"scores": entry.scores, "reasons": entry.reasons}
        earlier = Earlier(source="baseline", messages=messages, **known)
        return item.model_copy(update={"earlier": earlier})

    items = tuple(item if item.control else attached(item) for item in results.items)
    return results.model_copy(update={"items": items})
