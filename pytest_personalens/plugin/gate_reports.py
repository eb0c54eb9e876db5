"""Reports gates as tests of pytest, and items as JUnit properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.core.node_ids import gate_id
from pytest_personalens.core.safe_text import harmless

if TYPE_CHECKING:
    from pytest_personalens.results.values import Gate, Item


def report_gate(config: pytest.Config, gate: Gate) -> None:
    """Report the gate as a test.

    The summary line, JUnit and the exit status follow from this report.
    """
    nodeid = gate_id(gate.name)
    location = ("personalens", None, f"gate[{gate.name}]")
    outcome: Any = "passed" if gate.passed else "failed"
    hook = config.hook
    hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    for when, longrepr in (
        ("setup", None),
        ("call", None if gate.passed else harmless(gate.message)),
        ("teardown", None),
    ):
        report = pytest.TestReport(
            nodeid=nodeid,
            location=location,
            keywords={},
            outcome=outcome if when == "call" else "passed",
            when=when,  # type: ignore[arg-type]
            longrepr=longrepr,
        )
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)


def junit_properties(item: Item) -> list[tuple[str, str]]:
    """Return the JUnit properties of an item.

    There is one for each score. Without scores, there is one for the cause.
    """
    evaluation = item.evaluation
    properties = [
        (f"personalens_{v.dimension.value}", str(v.score)) for v in evaluation.verdicts if evaluation.scored
    ]
    properties = properties or [("personalens_cause", evaluation.cause)]
    return (
        properties
        + ([("personalens_trial", str(item.trial))] if item.trial > 1 else [])
        + ([("personalens_control", item.arm)] if item.arm else [])
    )
