"""Gates over a whole run, which make CI fail; also if too few items could be scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.options.gate import LIMITS_BROKEN, USER_FAULTS, VALID_FLOOR, GateExpression
from pytest_personalens.core.options.gate_expression import parse_gate_name
from pytest_personalens.results.gates.baseline_gates import drop_gate, regression_gates
from pytest_personalens.results.gates.floor_gates import (
    closed_gate,
    figure_gate,
    gap_gate,
    lift_gate,
    limits_gate,
    pass_k_gate,
    too_few,
    user_faults_gate,
    valid_gate,
)
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.values.drift import Drift
    from pytest_personalens.results.values.results import Results


def check_gates(
    results: Results, floors: Sequence[GateExpression], *, measured: bool = False
) -> tuple[Gate, ...]:
    """Return the verdict of every gate of a whole run.

    A run with gates also has the gate ``valid``: the share of items that could be scored must reach 0.9, or
    the limit of a floor, because a mean over the scored items says nothing about the missing ones. So has a
    run that is `measured`: it is a baseline for others, or only reports its figures, and no item fails for
    its score.
    """
    shares = [floor for floor in floors if floor.metric == "valid"]
    least = {"": VALID_FLOOR, **{floor.group: floor.limit for floor in shares}}
    gates = [
        _gate(results, floor, least.get(floor.group, least[""]))
        for floor in floors
        # A run that replaces its baseline is compared with none.
        if floor.metric != "valid" and (floor.metric != "drop" or results.comparison is not None)
    ]
    if results.comparison is not None:
        gates += regression_gates(results, least[""])
    if (gates or shares or measured) and all(floor.group for floor in shares):
        shares.append(GateExpression("", "valid", VALID_FLOOR))
    return (*gates, *(_gate(results, floor, least[""]) for floor in shares))


def check_again(results: Results, gate: Gate) -> Gate:
    """Return the gate, decided again from `results`, or as it is if they hold nothing to decide it by."""
    if gate.kind == "judge":
        return judge_gate(results.drift) if results.drift is not None else gate
    if gate.kind in ("drop", "regression") and results.comparison is None:
        return gate
    shares = {other.name.rpartition(": ")[0]: other.limit for other in results.gates if other.kind == "valid"}
    whole = shares.get("", VALID_FLOOR)
    if gate.kind == "regression":
        return next((again for again in regression_gates(results, whole) if again.name == gate.name), gate)
    floor = parse_gate_name(gate.name, gate.limit, gate.direction)
    return _gate(results, floor, shares.get(floor.group, whole))


def judge_gate(drift: Drift) -> Gate:
    """Return the gate on the judge, whose value is the share of verdicts that stayed the same.

    It fails if the judge changed or could not be asked, because its scores then have no meaning.
    """
    return Gate(
        name="judge", kind="judge", value=drift.kept, limit=1.0, passed=drift.passed, message=drift.sentence
    )


def _gate(results: Results, floor: GateExpression, least: float) -> Gate:
    if floor.group and not members(results.own, floor.group):
        return closed_gate(floor, f"no {results.of_suite.item} of {floor.group} is in this sample")
    if floor.metric == "valid":
        return valid_gate(results, floor)
    if floor.metric == "lift":
        return lift_gate(results, floor, least)
    if floor.metric == "drop":
        return drop_gate(results, floor, least)
    if floor.metric == "gap":
        return gap_gate(results, floor)
    if few := too_few(results, floor, least):
        return closed_gate(floor, few)
    if floor.metric.startswith("pass^"):
        return pass_k_gate(results, floor, least)
    if floor.metric == USER_FAULTS:
        return user_faults_gate(results, floor)
    if floor.metric == LIMITS_BROKEN:
        return limits_gate(results, floor)
    return figure_gate(results, floor)
