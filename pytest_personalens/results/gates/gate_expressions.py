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
from pytest_personalens.core.text.parse import judge_specs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings


def check_expressions(settings: Settings) -> None:
    """Raise `SpecError` for two gates on the same thing, and for a gate or margin on what is not measured."""
    names, suite = set[str](), settings.of_suite
    nothing = "there is nothing to compare with; add"
    for gate in settings.gate:
        where = f"--personalens-gate: {gate.name}"
        if gate.name.lower() in names:
            raise SpecError(f"{where} has two floors; give one", code="PL108")
        names.add(gate.name.lower())
        if not is_metric(gate.metric, suite):  # can only come from a results file that was edited by hand
            raise SpecError(f"{where}: unknown metric {gate.metric!r}")
        measure = measure_of(gate, suite)
        if gate.metric == CRITERION_GATE and not _reads_criteria(settings):
            raise SpecError(f"{where}: {NEEDS_MODEL}", code="PL108")
        if measure is not None and measure.value not in settings.readings:
            if advice := suite.not_scored(settings._asdict()).get(measure):
                raise SpecError(f"{where}: {advice}", code="PL108")
            add = f"add {measure.short} with --personalens-dimensions"
            raise SpecError(f"{where} is not judged in this run; {add}", code="PL108")
        if gate.metric == LIMITS_BROKEN and Dimension.PERSONALIZATION not in settings.dimensions:
            raise SpecError(
                f"{where}: personalization is not judged in this run; add p with --personalens-dimensions",
                code="PL108",
            )
        if gate.metric == LATENCY_P95 and settings.dialogues:
            raise SpecError(f"{where}: stored dialogues have no times", code="PL108")
        if gate.metric == "drop" and settings.baseline is None:
            raise SpecError(f"{where}: {nothing} --personalens-baseline PATH", code="PL108")
        if gate.metric == "gap" and not settings.slice:
            raise SpecError(
                f"{where}: there are no groups to compare; add -o personalens_slice=DEMOGRAPHIC", code="PL108"
            )
        if gate.metric == "lift" and control_of(gate, suite, settings.control) is None:
            _, controls = suite.lift or (None, ())
            words = " or ".join(
                [gate.control] if gate.control else [a.word for a in suite.controls if a.name in controls]
            )
            raise SpecError(f"{where}: {nothing} --personalens-control {words}", code="PL108")
        k = gate.metric.removeprefix("pass^")
        if k != gate.metric and int(k) > settings.trials:
            needs = f"needs at least as many runs of each {suite.item}"
            raise SpecError(f"{where}: {needs}; add --personalens-trials {k}", code="PL108")
    for name, _ in settings.margin if settings.baseline else ():
        where = f"personalens_margin: {suite.measure(name).short}"
        if name not in suite.gated:
            raise SpecError(f"{where} is not compared", code="PL108")
        if name not in settings.readings:
            raise SpecError(
                f"{where} is not judged in this run; add it with --personalens-dimensions", code="PL108"
            )


def _reads_criteria(settings: Settings) -> bool:
    specs = judge_specs(settings.judge_model)
    spec = specs.get(ALL_CRITERIA, specs[""])
    return spec != "embedded" and settings.protocol_in_force == "default"


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
