"""Whether a run measures what its gates ask for, and the dataset has their groups."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.gate_expression import SCALES, is_metric
from pytest_personalens.core.verdict import READINGS, Dimension

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.gate import GateExpression
    from pytest_personalens.core.settings import Settings

KINDS: Final = ("single", "multi")


def check_expressions(settings: Settings) -> None:
    """Raise `SpecError` for two gates on one thing, and for one on what the run does not measure."""
    names = set[str]()
    for gate in settings.gate:
        where = f"--personalens-gate: {gate.name}"
        if gate.name.lower() in names:
            raise SpecError(f"{where} has two floors; give one")
        names.add(gate.name.lower())
        if not is_metric(gate.metric):  # of a results file that somebody edited
            raise SpecError(f"{where}: unknown metric {gate.metric!r}")
        dimension = Dimension.PERSONALIZATION if gate.metric == "lift" else SCALES.get(gate.metric)
        if dimension is not None and dimension.value not in settings.dimensions:
            raise SpecError(
                f"{where} is not judged in this run; add {dimension.short} with --personalens-dimensions"
            )
        if gate.metric == "lift" and not {"none", "swapped"}.intersection(settings.control):
            raise SpecError(
                f"{where}: there is nothing to compare with; add --personalens-control no-context or"
                " other-user"
            )
        if gate.metric.startswith("pass^") and int(gate.metric[5:]) > settings.trials:
            raise SpecError(
                f"{where}: needs at least as many runs of each scenario; add --personalens-trials"
                f" {gate.metric[5:]}"
            )
    for name, _ in settings.margin if settings.baseline else ():
        if Dimension(name) not in READINGS or name not in settings.dimensions:
            problem = (
                "is not compared"
                if Dimension(name) not in READINGS
                else "is not judged in this run; add it with --personalens-dimensions"
            )
            raise SpecError(f"personalens_margin: {Dimension(name).short} {problem}")


def with_groups(gates: Sequence[GateExpression], domains: Collection[str]) -> tuple[GateExpression, ...]:
    """The gates with their groups as the dataset spells them.

    Raises `SpecError` for a group that it does not have.
    """
    known = {name.lower(): name for name in (*KINDS, *domains)}
    for gate in gates:
        if gate.group and gate.group.lower() not in known:
            near = difflib.get_close_matches(gate.group.lower(), known, n=1)
            hint = f" (did you mean {known[near[0]]}?)" if near else ""
            raise SpecError(
                f"--personalens-gate: unknown group {gate.group!r}{hint}; known: {', '.join(known.values())}"
            )
    return tuple(gate._replace(group=known.get(gate.group.lower(), "")) for gate in gates)
