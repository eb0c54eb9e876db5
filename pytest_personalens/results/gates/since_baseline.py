"""The gates on what changed since the baseline: significant and not excluded drops, and slower replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.options.gate import measure_of
from pytest_personalens.core.safe_text import count
from pytest_personalens.results import wording
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import MARGIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.values.figures import Comparison, Difference, LatencyChange
    from pytest_personalens.results.values.results import Results

_SAVE: Final = "save a new baseline with --personalens-save-baseline"


def enough(number: int, of: int, least: float) -> bool:
    """True if the share is at least `least`; 55 of 100 are, of 0.55, which a product of floats may exceed."""
    return not of or round(number / of, 6) >= least


def regression_gates(results: Results, min_valid: float) -> Iterator[Gate]:
    """Yield a gate for each dimension that is tested for a drop since the baseline."""
    comparison, suite = results.comparison, results.of_suite
    if comparison is None:
        return

    def gate(name: str, message: str, value: float | None = None, limit: float = 0.0, **more: Any) -> Gate:
        own = {"passed": False, **more}
        name = f"regression: {name}".removesuffix(": ")
        return Gate(name=name, kind="regression", value=value, limit=limit, message=message, **own)

    if problem := _nothing_to_compare(comparison, min_valid, suite):
        yield gate("", problem)
    for dimension, when in comparison.one_sided.items():
        judged = "then and not now" if when == "then" else "now and not then"
        name = suite.metric_of(dimension)
        yield gate(name, f"{dimension.short} was judged {judged}: nothing to compare")
    for d in comparison.differences:
        if not d.gated:
            continue
        name = f"{d.kind}: " * bool(d.kind) + suite.metric_of(d.dimension)
        if few := _too_few_pairs(d, d.dimension.short, min_valid, suite):
            yield gate(name, few)
            continue
        yield gate(
            name,
            wording.sentence(d, suite.item, comparison),
            d.change,
            0.0 - d.dimension.sign * d.margin,
            direction=">=" if d.dimension.better == "high" else "<=",
            passed=d.decidable and not d.regressed,  # a gate that no drop can fail protects nothing
            low=d.low,
            high=d.high,
        )


def drop_of(results: Results, floor: GateExpression, least: float) -> tuple[float | None, str]:
    """Return the largest drop that is not excluded, or None, and a sentence on it, or on what is missing.

    A gate on it lets a larger drop pass with a probability of the comparison's level at most, whatever the
    number of scenarios: a test of non-inferiority. Several such gates need no correction, because a run
    passes only if all of them do (Berger 1982).
    """
    comparison, suite = results.comparison, results.of_suite
    assert comparison is not None
    measure = measure_of(floor, suite)
    d = next((d for d in comparison.differences if d.dimension == measure and not d.kind), None)
    problem = _nothing_to_compare(comparison, least, suite)
    if d is None:
        return None, problem or f"{floor.of} was not judged in both runs"
    if problem := problem or _too_few_pairs(d, floor.of, least, suite):
        return None, problem
    text = wording.change_text(d, wording.signed(d.change), suite.item)
    if d.largest_drop is None:
        return None, f"{text}: too few users to exclude any drop"
    # The drop is rounded up: what is said to be excluded is.
    largest = f"{-(-d.largest_drop * 100 // 1) / 100:.2f}"
    excluded = f"no drop larger than {largest}"
    if d.largest_drop > floor.limit:
        excluded = f"a drop of up to {largest} is not excluded"
    sure = f"{100 * (1 - comparison.level):g} % sure"
    return d.largest_drop, f"{text}: {excluded} ({sure}); the gate allows {floor.limit:g}"


def _too_few_pairs(d: Difference, measure: str, least: float, suite: Suite) -> str:
    if enough(d.pairs, d.judged, least):
        return ""
    some = f"{d.pairs} of {count(d.judged, suite.item)} only"
    return f"{measure} was judged in both runs in {some}; {wording.share_text(least)}"


def _nothing_to_compare(comparison: Comparison, min_valid: float, suite: Suite) -> str:
    """Return why the comparison is too small to pass, or ""."""
    floor, baseline = wording.share_text(min_valid), comparison.baseline
    if not comparison.compared:
        why = ", ".join(f"{len(ids)} {reason}" for reason, ids in comparison.left_out.items())
        other = not comparison.shared or "run by other tests" in comparison.left_out
        hint = f" (another sample or seed, or did a test move? {_SAVE})" if other else ""
        return f"no {suite.item} of this run could be compared with {baseline}: {why}{hint}"
    if not enough(comparison.compared, comparison.shared, min_valid):
        shared = count(comparison.shared, suite.item)
        return f"{comparison.compared} of the {shared} that are also in {baseline} could be compared; {floor}"
    if not enough(comparison.compared_by_test, comparison.shared_by_test, min_valid):
        some = (
            f"only {comparison.compared_by_test} of {count(comparison.shared_by_test, suite.item)} were run"
        )
        test = f"a test of {baseline} that is gone or moved may be the one that got worse"
        return f"{some} by the same tests as then: {test} ({_SAVE}); {floor}"
    if not comparison.one_sided and not any(d.gated for d in comparison.differences):
        main = " nor ".join(measure.names.title.lower() for measure in suite.main)
        none = "neither" if len(suite.main) > 1 else "no"
        return f"{none} {main} is judged; give a dimension that is a margin (personalens_margin)"
    return ""


def latency_change_text(change: LatencyChange, item: str) -> str:
    """Return how the time of a reply changed, or why it is not compared."""
    if change.before is None or change.after is None or change.p is None:
        now, then = wording.side_text(change.side_by_side), wording.side_text(change.then_side_by_side or 1)
        return f"the time of a reply is not compared: {now} now, {then} then"
    means = f"mean time of a reply {change.before:.1f} s -> {change.after:.1f} s"
    side, p = wording.side_text(change.side_by_side), wording.p_text(change.p)
    return f"{means} over {count(change.scenarios, item)}, {side}, {p}"


def latency_regression(results: Results) -> Gate | None:
    """Return the gate that fails if replies take significantly longer than in the baseline."""
    change = results.comparison.latency if results.comparison is not None else None
    if change is None or change.before is None or change.after is None:
        return None
    return Gate(
        name="regression: latency",
        kind="regression",
        value=round(change.after - change.before, 2),
        limit=MARGIN,
        direction="<=",
        passed=not change.slower,
        message=latency_change_text(change, results.of_suite.item),
    )
