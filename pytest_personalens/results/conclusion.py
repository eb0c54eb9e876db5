"""What a run comes to: its trials, controls, comparison and gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.options.gate import GateExpression
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.gates.gate_expressions import check_expressions, measure_of
from pytest_personalens.results.reasons.before_run import following, with_earlier

if TYPE_CHECKING:
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.results import Results


class Requirements(NamedTuple):
    """What a run must reach: its gates, and a baseline.

    The `settings` hold the level and the margins of the comparison with the baseline.
    """

    gates: tuple[GateExpression, ...]
    baseline: Baseline | None
    settings: Settings

    @classmethod
    def of(cls, settings: Settings, baseline: Baseline | None) -> Requirements:
        """Return the requirements in `settings`.

        Raise `SpecError` for gates that the run cannot decide.
        """
        check_expressions(settings)
        return cls(settings.gate, baseline, settings)


def conclude(results: Results, demands: Requirements) -> Results:
    """Return the results with trials, controls, comparison and gates.

    An incomplete run gets neither a comparison nor gates.
    """
    # Modules are imported only if the run needs them, because the import would slow down a replay.
    s, update = demands.settings, dict[str, object]()
    if s.trials > 1:
        from pytest_personalens.results.comparison.controls import trials_of

        update["trials"] = trials_of(results.own, s.trials, results.of_suite)
    if s.control:
        from pytest_personalens.results.comparison.controls import controls_of

        update["arms"] = controls_of(results.items, results.of_suite)
    results = results.model_copy(update=update)
    # A cap ends a run in order, and its items are skipped. Items that could not be scored are skipped too if
    # nothing may fail the run. If no item is left, the run must not count as a success.
    nothing = not results.overall.scored and (
        "budget" in results.uncounted or (s.report_only and results.expected > 0)
    )
    if not results.complete or not (s.asks_for_gates or nothing):
        return results

    if demands.baseline is not None:
        from pytest_personalens.results.comparison.with_baseline import compare_with_baseline

        margins = {get_measure(name): margin for name, margin in s.margin}
        baseline = following(demands.baseline, results)
        results = with_earlier(results, baseline)
        bounded = {measure_of(gate, results.of_suite) for gate in demands.gates if gate.metric == "drop"}
        comparison = compare_with_baseline(
            baseline,
            results,
            name=str(s.baseline),
            level=s.level,
            margins=margins,
            bounded=[measure for measure in bounded if measure is not None],
        )
        results = results.model_copy(update={"comparison": comparison})
    measured = nothing or s.save_baseline is not None
    return results.model_copy(update={"gates": check_gates(results, demands.gates, measured=measured)})
