"""The task completion rate corrected for the judge's errors: its gate, and what reports say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.results.means import figure_of
from pytest_personalens.results.stats.correction import correct, labels_to_decide
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.wording import apart, count, ends_text, over

if TYPE_CHECKING:
    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.calibration import Calibration
    from pytest_personalens.results.values.results import Results

_NO_BETTER: Final = (
    "its judge tells completed tasks from failed ones no better than chance, by its labels: no rate can be"
    " corrected"
)


def corrected_note(results: Results) -> str:
    """Return the rate as read and as corrected, with the interval and what it rests on, or ""."""
    calibration = results.calibration
    metric = results.of_suite.metric_for(Dimension.TASK_COMPLETION) if calibration is not None else None
    if calibration is None or metric is None:
        return ""
    estimate = figure_of(metric, results.own)
    if estimate.value is None:
        return ""
    found = correct(estimate.value, estimate.users, calibration.sensitivity, calibration.specificity)
    read = f"TCR as read {estimate.value:.2f}"
    if found is None:
        return f"{read}: {_NO_BETTER} ({_rests_on(calibration)})"
    interval = f"95 % {ends_text(found.low, found.high)}"
    return (
        f"{read}, corrected for the judge's errors {found.value:.2f} ({interval}; {_rests_on(calibration)})"
    )


def _rests_on(calibration: Calibration) -> str:
    of_true, of_false = calibration.sensitivity, calibration.specificity
    return (
        f"sensitivity {of_true.share:.2f} over {of_true.of}, specificity {of_false.share:.2f} over"
        f" {of_false.of} labels"
    )


def corrected_gate(floor: GateExpression, estimate: Estimate, calibration: Calibration, item: str) -> Gate:
    """Return the gate on the corrected rate, which only an interval on one side of the floor decides."""
    assert estimate.value is not None
    n, found_on = estimate.users, (calibration.sensitivity, calibration.specificity)
    found = correct(estimate.value, n, *found_on)
    read = f"task completion rate as read {estimate.value:.2f}"
    gate = Gate(name=floor.name, value=None, limit=floor.limit, passed=False, message=f"{read}: {_NO_BETTER}")
    if found is None:
        return gate
    value, low, high = (round(x, 6) for x in found)
    passed, failed = low >= floor.limit, high < floor.limit
    basis = over(estimate.scenarios, estimate.users, item)
    figure, limit = apart(value, floor.limit)
    text = f"{read}, corrected {figure} ({ends_text(low, high)}) {basis}; the floor is {limit}"
    if not passed and not failed:
        more = labels_to_decide(estimate.value, n, *found_on, floor.limit)
        advice = f"about {more:,} more labels would decide" if more is not None else (
            f"no number of labels would decide over {count(estimate.scenarios, item)}: draw more"
        )  # fmt: skip
        text += f", within the interval: {advice}"
    update = {"value": value, "low": low, "high": high, "passed": passed, "message": text}
    return gate.model_copy(update={**update, "inconclusive": not passed and not failed})
