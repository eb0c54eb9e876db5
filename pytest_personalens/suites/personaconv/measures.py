"""The figures of the suite with their ranges, and gates on them.

Each figure also has its better end and its step.
"""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from pytest_personalens.suites.personaconv.values import Kind


class Figure(NamedTuple):
    """A figure of a run: its kind, its range and its better end.

    `step` is the step of its tests, or None if the figure is no mean of items. `high` is None if the range
    has no upper end.
    """

    kind: Kind | None
    low: float
    high: float | None
    better: Literal["high", "low"]
    step: float | None = None


_TEXT: Final = Figure("next-text", 0, 1, "high", 0.001)
#: Name -> figure. ``parsed`` is the share of readable replies, of any kind.
FIGURES: Final[dict[str, Figure]] = {
    "accuracy": Figure("sentiment", 0, 1, "high", 1),
    "f1": Figure("sentiment", 0, 1, "high"),
    "f1-weighted": Figure("sentiment", 0, 1, "high"),
    "mcc": Figure("sentiment", -1, 1, "high"),
    "rmse": Figure("impact", 0, None, "low"),
    "mae": Figure("impact", 0, None, "low"),
    "log-error": Figure("impact", 0, None, "low", 0.01),
    "skill": Figure("impact", -math.inf, 1, "high"),
    "rouge1": _TEXT,
    "rougeL": _TEXT,
    "bleu": _TEXT,
    "meteor": _TEXT,
    "meteor-es": _TEXT,
    "sbert": _TEXT._replace(low=-1),
    "chars": _TEXT,
    "parsed": Figure(None, 0, 1, "high", 1),
}
#: The figure of each kind for the comparison of two runs, item by item.
PAIRED: Final[dict[Kind, str]] = {"sentiment": "accuracy", "impact": "log-error", "next-text": "rouge1"}
_GATE: Final = re.compile(
    r"\s*(?:(?P<group>[^:<>=]+):)?\s*(?P<metric>[\w-]+)\s*(?P<way>>=|≥|<=|≤)\s*(?P<value>-?[\d.]+)\s*(?P<percent>%?)\s*"
)


class Gate(NamedTuple):
    """A gate on a figure.

    `limit` is the lowest value that passes, or the highest one if low values are good.
    """

    group: str
    metric: str
    limit: float

    @property
    def text(self) -> str:
        """Return a text such as ``Gaming: mae <= 60``."""
        way = ">=" if FIGURES[self.metric].better == "high" else "<="
        return f"{f'{self.group}: ' if self.group else ''}{self.metric} {way} {self.limit:g}"

    def passes(self, value: float | None) -> bool:
        """True if the value reaches the limit; a missing value does not."""
        if value is None or math.isnan(value):
            return False
        return value >= self.limit if FIGURES[self.metric].better == "high" else value <= self.limit


def read_gate(text: str) -> Gate:
    """Return the gate that ``[DOMAIN:] METRIC >= VALUE`` describes.

    Errors need ``<=``. Raise ValueError for any other text; its message says what is expected.
    """
    found = _GATE.fullmatch(text)
    if found is None:
        raise ValueError(
            "expected [DOMAIN:] METRIC >= VALUE or <= VALUE, such as accuracy >= 0.7 or mae <= 60"
        )
    names = {name.lower(): name for name in FIGURES}
    metric = names.get(found["metric"].lower())
    if metric is None:
        near = difflib.get_close_matches(found["metric"].lower(), names, n=1)
        meant = f" (did you mean {names[near[0]]}?)" if near else ""
        raise ValueError(f"unknown metric {found['metric']!r}{meant}; known: {', '.join(FIGURES)}")
    figure = FIGURES[metric]
    better = ">=" if figure.better == "high" else "<="
    if (found["way"] in (">=", "≥")) != (better == ">="):
        raise ValueError(f"{metric} is better {figure.better}: write {metric} {better} {found['value']}")
    try:
        value = float(found["value"]) / (100 if found["percent"] else 1)
    except ValueError:
        raise ValueError(f"expected a number after {better}, not {found['value']!r}") from None
    if value < figure.low or (figure.high is not None and value > figure.high):
        ends = f"from {figure.low:g}" + ("" if figure.high is None else f" to {figure.high:g}")
        raise ValueError(f"{metric} lies {ends}")
    return Gate((found["group"] or "").strip(), metric, value)
