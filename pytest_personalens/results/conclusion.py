"""What a run comes to: its trials, controls, comparison and gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.options.gate import measure_of
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.reasons.reasons import attach_earlier, attach_replayed, follow_moved_tests

if TYPE_CHECKING:
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.results import Results


def conclude(results: Results, s: Settings, baseline: Baseline | None) -> Results:
    """Return the results with trials, controls, comparison and gates; the last two of a complete run only.

    The settings `s` hold the gates, the level and the margins.
    """
    # Modules are imported only if the run needs them, because the import would slow down a replay.
    update = dict[str, object]()
    if s.trials > 1:
        from pytest_personalens.results.comparison.pairs import trials_of

        update["trials"] = trials_of(results.own, s.trials, results.of_suite)
    if s.control:
        from pytest_personalens.results.comparison.pairs import controls_of

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
        from pytest_personalens.results.comparison.compare import compare_latency, compare_with_baseline

        margins = {get_measure(name): margin for name, margin in s.margin}
        baseline = follow_moved_tests(baseline, results)
        results = attach_earlier(results, baseline)
        drops = (gate for gate in s.gate if gate.metric == "drop")
        bounded = [measure for gate in drops if (measure := measure_of(gate, results.of_suite)) is not None]
        comparison = compare_with_baseline(
            baseline, results, name=str(s.baseline), level=s.level, margins=margins, bounded=bounded
        )
        # One more test beside those of the scores, at its share of the level.
        level = s.level / (1 + sum(d.gated for d in comparison.differences))
        latency = compare_latency(baseline, results, level=level)
        results = results.model_copy(
            update={"comparison": comparison.model_copy(update={"latency": latency})}
        )
    measured = nothing or s.save_baseline is not None
    return results.model_copy(update={"gates": check_gates(results, s.gate, measured=measured)})
