"""Gates on the comparison with a baseline: what fell, and the largest drop that is not excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.results.gates.drop_gate import drop_gate, undecided_drop
from pytest_personalens.results.gates.floor_gates import closed
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.wording import count, sentence, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.values.changes import Comparison
    from pytest_personalens.results.values.results import Results


def regression_gates(results: Results, min_valid: float) -> Iterator[Gate]:
    """Yield a gate for each dimension that is tested for a drop since the baseline."""
    comparison, suite = results.comparison, results.of_suite
    assert comparison is not None
    if problem := _nothing_to_compare(comparison, min_valid, suite):
        yield _incomparable("regression", problem)
    for dimension, when in comparison.one_sided.items():
        message = (
            f"{dimension.short} was judged {'then and not now' if when == 'then' else 'now and not then'}:"
            " nothing to compare"
        )
        yield _incomparable(f"regression: {suite.metric_of(dimension)}", message)
    for d in comparison.differences:
        if d.gated and d.pairs < min_valid * d.judged:
            judged = count(d.judged, suite.item)
            some = f"{d.dimension.short} was judged in both runs in {d.pairs} of {judged} only"
            name = f"regression: {suite.metric_of(d.dimension)}"
            yield _incomparable(name, f"{some}; {share_text(min_valid)}")
        elif d.gated:
            yield Gate(
                name=f"regression: {suite.metric_of(d.dimension)}",
                kind="regression",
                value=d.change,
                limit=0.0 - d.dimension.sign * d.margin,
                direction=">=" if d.dimension.better == "high" else "<=",
                passed=d.decidable and not d.regressed,  # a gate that no drop can fail protects nothing
                message=sentence(d, suite.item),
                low=d.low,
                high=d.high,
            )


def bounded_drop_gate(results: Results, floor: GateExpression, least: float) -> Gate:
    """Return the gate on the largest drop since the baseline that is not excluded."""
    assert results.comparison is not None
    problem = _nothing_to_compare(results.comparison, least, results.of_suite)
    if not problem:
        problem = undecided_drop(results.comparison, floor, least, results.of_suite)
    return (
        closed(floor, problem, "drop") if problem else drop_gate(results.comparison, floor, results.of_suite)
    )


def _nothing_to_compare(comparison: Comparison, min_valid: float, suite: Suite) -> str:
    """Return why the comparison is too small to pass.

    The text is empty if it is large enough.
    """
    if not comparison.compared:
        why = ", ".join(f"{len(ids)} {reason}" for reason, ids in comparison.left_out.items())
        hint = (
            " (another sample, seed or name of a test?)"
            if not comparison.shared or "run by other tests" in comparison.left_out
            else ""
        )
        return f"no {suite.item} of this run could be compared with {comparison.baseline}: {why}{hint}"
    if comparison.compared < min_valid * comparison.shared:
        message = (
            f"{comparison.compared} of the {count(comparison.shared, suite.item)} that are also in"
            f" {comparison.baseline} could be compared"
        )
        return f"{message}; {share_text(min_valid)}"
    if comparison.compared_by_test < min_valid * comparison.shared_by_test:
        message = f"a test of {comparison.baseline} that is gone or was renamed may be the one that got worse"
        some = (
            f"{comparison.compared_by_test} of {comparison.shared_by_test} {suite.item}s were run by the same"
            " tests as then"
        )
        return f"only {some}: {message}; {share_text(min_valid)}"
    if not comparison.one_sided and not any(d.gated for d in comparison.differences):
        main = " nor ".join(measure.names.title.lower() for measure in suite.main)
        return (
            f"{'neither' if len(suite.main) > 1 else 'no'} {main} is judged; give a dimension that is a"
            " margin (personalens_margin)"
        )
    return ""


def _incomparable(name: str, message: str) -> Gate:
    return Gate(name=name, kind="regression", value=None, limit=0.0, passed=False, message=message)
