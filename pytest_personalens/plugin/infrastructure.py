"""Failures that say nothing about the assistant under test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.text.node_ids import gate_id

if TYPE_CHECKING:
    from collections.abc import Set

    from pytest_personalens.results.values.results import Results

#: Causes of a missing score that say nothing about the assistant under test.
_INFRASTRUCTURE: Final = ("user-agent", "judge", "budget")


def only_infrastructure(results: Results | None, failed: Set[str]) -> bool:
    """True if all that `failed`, by node id, has causes outside the assistant under test."""
    if results is None or not failed:
        return False
    items = {
        i.nodeid
        for i in results.items
        if i.evaluation.cause in _INFRASTRUCTURE or (i.status == "uncounted" and i.evaluation.unread)
    }
    if any(cause not in _INFRASTRUCTURE for cause in results.uncounted):
        return False
    few = any(g.kind == "valid" and not g.passed for g in results.gates) or not results.overall.scored
    gates = {gate_id(g.name) for g in results.gates if g.kind == "valid" or (few and g.value is None)}
    return failed <= items | gates
