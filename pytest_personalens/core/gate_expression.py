"""Reads what a run must reach: ``[DOMAIN or KIND:] METRIC >= VALUE``."""

from __future__ import annotations

import difflib
import re
from typing import Final

from pytest_personalens.core.gate import GateExpression
from pytest_personalens.core.verdict import READINGS, Dimension

TCR: Final = "tcr"
SCALES: Final[dict[str, Dimension]] = {TCR: Dimension.TASK_COMPLETION, **{d.short: d for d in READINGS[1:]}}
_METRICS: Final = (*SCALES, "valid", "lift", "pass^k")
_EXPRESSION: Final = re.compile(
    r"\s*(?:(?P<group>[^:<>=]+):)?\s*(?P<metric>[\w^-]+)\s*(?:>=|≥|=)\s*(?P<value>-?[\d.]+)\s*(?P<percent>%?)\s*"
)


def read_gate(text: str) -> GateExpression:
    """The gate that ``[GROUP:] METRIC >= VALUE`` asks for. Raises ValueError saying what it expected."""
    expression = _EXPRESSION.fullmatch(text)
    if expression is None:
        raise ValueError("expected [DOMAIN or KIND:] METRIC >= VALUE, such as tcr >= 0.9 or Movies: p >= 3")
    metric = expression["metric"].lower()
    metric = {"tc": TCR, "task_completion": TCR, "personalization": "p"}.get(metric, metric)
    if not is_metric(metric):
        near = difflib.get_close_matches(metric, _METRICS, n=1)
        raise ValueError(
            f"unknown metric {metric!r}{f' (did you mean {near[0]}?)' if near else ''}; known:"
            f" {', '.join(_METRICS)}"
        )
    try:
        value = round(float(expression["value"]) / (100 if expression["percent"] else 1), 6)
    except ValueError:
        raise ValueError(f"expected a number after >=, not {expression['value']!r}") from None
    low, high = SCALES[metric].scale if metric in SCALES else (-3, 3) if metric == "lift" else (0, 1)
    if expression["percent"] and high != 1:
        raise ValueError(f"{metric} is no share: give a number from {low} to {high}")
    if not low <= value <= high:
        meant = f"; did you mean {expression['value']}%?" if high == 1 and 1 < value <= 100 else ""
        raise ValueError(f"{metric} lies from {low} to {high}{meant}")
    return GateExpression((expression["group"] or "").strip(), metric, value)


def is_metric(name: str) -> bool:
    """True for a metric that a gate may be on."""
    return name in _METRICS[:-1] or re.fullmatch(r"pass\^[1-9]\d{0,2}", name) is not None
