"""The gates on how long a reply takes, and what reports say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import members
from pytest_personalens.results.values.latency import MARGIN, SHORTEST, quantile, times_of
from pytest_personalens.results.wording import count, p_text

if TYPE_CHECKING:
    from pytest_personalens.core.options.gate import GateExpression
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
