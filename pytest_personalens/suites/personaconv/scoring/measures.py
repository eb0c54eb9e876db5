"""The figures of the suite, each with its range, its better end and its step."""

from __future__ import annotations

import math
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
