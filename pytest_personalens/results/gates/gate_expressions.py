"""Checks that a run measures what its gates need."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.measure import ALL_CRITERIA, NEEDS_MODEL
from pytest_personalens.core.options.gate import (
    CRITERION_GATE,
    LATENCY_P95,
    LIMITS_BROKEN,
    control_of,
    is_metric,
    measure_of,
)
from pytest_personalens.core.options.option_table import judge_specs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.suite import Suite


def check_expressions(settings: Settings) -> None:
    """Raise `SpecError` for two gates on the same thing, and for a gate or margin on what is not measured."""
    names, suite = set[str](), settings.of_suite
    for gate in settings.gate:
        where = f"--personalens-gate: {gate.name}"
        if gate.name.lower() in names:
            raise SpecError(f"{where} has two floors; give one", code="PL108")
        names.add(gate.name.lower())
        if not is_metric(gate.metric, suite):  # can only come from a results file that was edited by hand
            raise SpecError(f"{where}: unknown metric {gate.metric!r}")
        if problem := _not_measured(gate, settings, suite):
            raise SpecError(f"{where}{problem}", code="PL108")
    for name, _ in settings.margin if settings.baseline else ():
        where = f"personalens_margin: {suite.measure(name).short}"
        if name not in suite.gated:
            raise SpecError(f"{where} is not compared", code="PL108")
        if name not in settings.readings:
            problem = f"{where} is not judged in this run; add it with --personalens-dimensions"
            raise SpecError(problem, code="PL108")


def _not_measured(gate: GateExpression, settings: Settings, suite: Suite) -> str:
    """Return why the run does not measure what the gate is on, with its punctuation, or ""."""
    measure, nothing = measure_of(gate, suite), ": there is nothing to compare with; add"
    if gate.metric == CRITERION_GATE:
        specs = judge_specs(settings.judge_model)
        spec = specs.get(ALL_CRITERIA, specs[""])
        if spec == "embedded" or settings.protocol_in_force != "default":
            return f": {NEEDS_MODEL}"
    if measure is not None and measure.value not in settings.readings:
        if advice := suite.not_scored(settings._asdict()).get(measure):
            return f": {advice}"
        return f" is not judged in this run; add {measure.short} with --personalens-dimensions"
    if gate.metric == LIMITS_BROKEN and Dimension.PERSONALIZATION not in settings.dimensions:
        return ": personalization is not judged in this run; add p with --personalens-dimensions"
    if gate.metric == LATENCY_P95 and settings.dialogues:
        return ": stored dialogues have no times"
    if gate.metric == "drop" and settings.baseline is None:
        return f"{nothing} --personalens-baseline PATH"
    if gate.metric == "gap" and not settings.slice:
        return ": there are no groups to compare; add -o personalens_slice=DEMOGRAPHIC"
    if gate.metric == "lift" and control_of(gate, suite, settings.control) is None:
        _, controls = suite.lift or (None, ())
        words = [gate.control] if gate.control else [c.word for c in suite.controls if c.name in controls]
        return f"{nothing} --personalens-control {' or '.join(words)}"
    k = gate.metric.removeprefix("pass^")
    if k != gate.metric and int(k) > settings.trials:
        return f": needs at least as many runs of each {suite.item}; add --personalens-trials {k}"
    return ""


def with_groups(
    gates: Sequence[GateExpression], domains: Collection[str], kinds: Sequence[str]
) -> tuple[GateExpression, ...]:
    """Return the gates with their groups in the dataset's spelling; raise `SpecError` for any other group."""
    known = {name.lower(): name for name in (*kinds, *domains)}
    for gate in gates:
        if gate.group and gate.group.lower() not in known:
            near = difflib.get_close_matches(gate.group.lower(), known, n=1)
            unknown = f"unknown group {gate.group!r}" + (f" (did you mean {known[near[0]]}?)" if near else "")
            raise SpecError(f"--personalens-gate: {unknown}; known: {', '.join(known.values())}")
    return tuple(gate._replace(group=known.get(gate.group.lower(), "")) for gate in gates)
