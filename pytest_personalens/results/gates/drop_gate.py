"""The gate that passes only if a drop from the baseline larger than its limit is excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.wording import count, over, share_text, signed

if TYPE_CHECKING:
    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.values.changes import Comparison, Difference


def undecided_drop(comparison: Comparison, floor: GateExpression, least: float, suite: Suite) -> str:
    """Why the gate is not decided: too little was judged in both runs. Empty where it is enough."""
    d = _difference(comparison, floor, suite)
    if d is None:
        return f"{floor.of} was not judged in both runs"
    if d.pairs < least * d.judged:
        some = f"{d.pairs} of {count(d.judged, suite.item)} only"
        return f"{floor.of} was judged in both runs in {some}; {share_text(least)}"
    return ""


def drop_gate(comparison: Comparison, floor: GateExpression, suite: Suite) -> Gate:
    """The verdict on the measure of the gate, which was judged in both runs.

    A drop larger than the limit passes with a probability of the comparison's level at most, whatever the
    number of scenarios: a test of non-inferiority. Several such gates need no correction, because a run
    passes only if all of them do (Berger 1982).
    """
    d = _difference(comparison, floor, suite)
    assert d is not None
    passed = d.largest_drop is not None and floor.passes(d.largest_drop)
    return Gate(
        name=floor.name,
        kind="drop",
        value=d.largest_drop,
        limit=floor.limit,
        direction=floor.direction,
        passed=passed,
        message=_sentence(d, floor.limit, comparison.level, suite.item),
    )


def _difference(comparison: Comparison, floor: GateExpression, suite: Suite) -> Difference | None:
    metric = suite.metric(floor.of)
    measure = metric.measure if metric is not None else None
    return next((d for d in comparison.differences if d.dimension == measure), None)


def _sentence(d: Difference, limit: float, level: float, item: str) -> str:
    text = (
        f"{d.dimension.names.mean} {d.before:.2f} -> {d.after:.2f} ({signed(d.change)})"
        f" {over(d.pairs, d.users, item)}"
    )
    if d.largest_drop is None:
        return f"{text}: too few users to exclude any drop"
    sure = f"{100 * (1 - level):g} % sure"
    # The drop is rounded up: what is said to be excluded is.
    largest = f"{-(-d.largest_drop * 100 // 1) / 100:.2f}"
    if d.largest_drop <= limit:
        return f"{text}: no drop larger than {largest} ({sure}); the gate allows {limit:g}"
    return f"{text}: a drop of up to {largest} is not excluded ({sure}); the gate allows {limit:g}"
