"""Checks that a run measures what its gates need, and the gates on how long a reply takes."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.criteria import ALL_CRITERIA, NEEDS_MODEL
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.options.gate import (
    CRITERION_GATE,
    LATENCY_P95,
    LIMITS_BROKEN,
    control_of,
    is_metric,
    measure_of,
)
from pytest_personalens.core.text.parse import judge_specs
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import MARGIN, SHORTEST, members, quantile, times_of
from pytest_personalens.results.wording import count, p_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.results.values.figures import Latency, LatencyChange
    from pytest_personalens.results.values.results import Results


def latency_note(results: Results) -> str:
    """Return ``replies: p50 1.2 s, p95 3.4 s over 214 replies, 4 dialogues side by side``, or ""."""
    found = results.latency
    if found is None:
        return ""
    first = ""
    if found.first_p50 is not None and found.first_p95 is not None:
        first = f"; first piece p50 {found.first_p50:.1f} s, p95 {found.first_p95:.1f} s"
    none = f"; {found.replayed} replayed without a time" if found.replayed else ""
    return f"latency: p50 {found.p50:.1f} s, p95 {found.p95:.1f} s over {_basis(found)}{first}{none}"


def _basis(found: Latency) -> str:
    return f"{_replies(found.replies)}, {side_text(found.side_by_side)}"


def _replies(number: int) -> str:
    return f"{number:,} {'reply' if number == 1 else 'replies'}"


def side_text(side_by_side: int) -> str:
    """Return ``4 dialogues side by side``, or ``one dialogue at a time``."""
    return f"{side_by_side} dialogues side by side" if side_by_side > 1 else "one dialogue at a time"


def latency_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on the time that 95 % of the replies do not exceed, in seconds."""
    items = members(results.own, floor.group)
    times = times_of(items)
    p95, label = quantile(times, 0.95), "time that 95 % of the replies do not exceed"
    if p95 is None:
        message, passed = f"{label}: no reply was timed; replayed and stored ones have no time", False
    else:
        passed = floor.passes(p95)
        side = results.latency.side_by_side if results.latency is not None else 1
        value = f"{p95:.1f} s" if p95 >= SHORTEST else f"under {SHORTEST:g} s"
        over = f"over {_replies(len(times))}, {side_text(side)}"
        message = f"{label} {value} {'<=' if passed else '>'} {floor.limit:g} s {over}"
    return Gate(name=floor.name, value=p95, limit=floor.limit, passed=passed, message=message, direction="<=")


def latency_change_text(change: LatencyChange, item: str) -> str:
    """Return how the time of a reply changed, or why it is not compared."""
    if change.before is None or change.after is None or change.p is None:
        now, then = side_text(change.side_by_side), side_text(change.then_side_by_side or 1)
        return f"the time of a reply is not compared: {now} now, {then} then"
    means = f"mean time of a reply {change.before:.1f} s -> {change.after:.1f} s"
    return (
        f"{means} over {count(change.scenarios, item)}, {side_text(change.side_by_side)}, {p_text(change.p)}"
    )


def latency_regression(results: Results) -> Gate | None:
    """Return the gate that fails if replies take significantly longer than in the baseline."""
    change = results.comparison.latency if results.comparison is not None else None
    if change is None or change.before is None or change.after is None:
        return None
    value = round(change.after - change.before, 2)
    return Gate(
        name="regression: latency",
        kind="regression",
        value=value,
        limit=MARGIN,
        direction="<=",
        passed=not change.slower,
        message=latency_change_text(change, results.of_suite.item),
    )


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
            _, arms = suite.lift or (None, ())
            words = " or ".join([gate.arm] if gate.arm else [a.word for a in suite.arms if a.name in arms])
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
