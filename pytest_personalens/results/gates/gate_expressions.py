"""Checks that a run measures what its gates need, and that their groups exist."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.gate_expression import is_metric

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.suite.suite import Suite


def check_expressions(settings: Settings) -> None:
    """Raise `SpecError` for two gates on the same thing.

    Raise it also for a gate or a margin on a value that the run does not measure.
    """
    names, suite = set[str](), settings.of_suite
    for gate in settings.gate:
        where = f"--personalens-gate: {gate.name}"
        if gate.name.lower() in names:
            raise SpecError(f"{where} has two floors; give one")
        names.add(gate.name.lower())
        if not is_metric(gate.metric, suite):  # can only come from a results file that was edited by hand
            raise SpecError(f"{where}: unknown metric {gate.metric!r}")
        measure = measure_of(gate, suite)
        if measure is not None and measure.value not in settings.dimensions:
            advice = suite.not_scored(settings._asdict()).get(measure)
            raise SpecError(
                f"{where}: {advice}"
                if advice
                else f"{where} is not judged in this run; add {measure.short} with --personalens-dimensions"
            )
        if gate.metric == "drop" and settings.baseline is None:
            raise SpecError(f"{where}: there is nothing to compare with; add --personalens-baseline PATH")
        if gate.metric == "lift" and control_of(gate, suite, settings.control) is None:
            _, arms = suite.lift or (None, ())
            words = [gate.arm] if gate.arm else [arm.word for arm in suite.arms if arm.name in arms]
            raise SpecError(
                f"{where}: there is nothing to compare with; add --personalens-control {' or '.join(words)}"
            )
        if gate.metric.startswith("pass^") and int(gate.metric[5:]) > settings.trials:
            raise SpecError(
                f"{where}: needs at least as many runs of each {suite.item}; add --personalens-trials"
                f" {gate.metric[5:]}"
            )
    for name, _ in settings.margin if settings.baseline else ():
        if name not in suite.gated or name not in settings.dimensions:
            problem = (
                "is not compared"
                if name not in suite.gated
                else "is not judged in this run; add it with --personalens-dimensions"
            )
            raise SpecError(f"personalens_margin: {suite.measure(name).short} {problem}")


def measure_of(gate: GateExpression, suite: Suite) -> Measure | None:
    """Return the measure whose mean a gate uses.

    Return None for a gate on something else.
    """
    if gate.metric == "lift" and not gate.of:
        return suite.lift[0] if suite.lift is not None else None
    metric = suite.metric(gate.of or gate.metric)
    return metric.measure if metric is not None else None


def control_of(gate: GateExpression, suite: Suite, controls: Collection[str]) -> str | None:
    """Return the control of a lift, if the run has it, else None."""
    named = [arm.name for arm in suite.arms if arm.word == gate.arm]
    _, arms = suite.lift or (None, ())
    return next((name for name in (named if gate.arm else arms) if name in controls), None)


def with_groups(
    gates: Sequence[GateExpression], domains: Collection[str], kinds: Sequence[str]
) -> tuple[GateExpression, ...]:
    """Return the gates with their groups in the spelling of the dataset.

    Raise `SpecError` for a group that the dataset does not have.
    """
    known = {name.lower(): name for name in (*kinds, *domains)}
    for gate in gates:
        if gate.group and gate.group.lower() not in known:
            near = difflib.get_close_matches(gate.group.lower(), known, n=1)
            hint = f" (did you mean {known[near[0]]}?)" if near else ""
            raise SpecError(
                f"--personalens-gate: unknown group {gate.group!r}{hint}; known: {', '.join(known.values())}"
            )
    return tuple(gate._replace(group=known.get(gate.group.lower(), "")) for gate in gates)
