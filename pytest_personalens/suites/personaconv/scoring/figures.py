"""Errors of numbers, and what is told of many values beside their mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

POSITIVE: Final = "positive"
NEGATIVE: Final = "negative"
#: Class -> the other class.
OTHER: Final = {POSITIVE: NEGATIVE, NEGATIVE: POSITIVE}


def log_error(truth: float, answer: float) -> float:
    """Return the distance, 0 or more, of two numbers on a logarithmic scale that keeps their signs."""
    return abs(_signed_log(answer) - _signed_log(truth))


def largest_share(truths: Sequence[float], answers: Sequence[float]) -> tuple[int, float] | None:
    """Return the place of the largest squared error and its share of the total, or None without errors."""
    errors = [float(answer) - float(truth) for truth, answer in zip(truths, answers, strict=True)]
    most = max(map(abs, errors), default=0.0)
    if not most:
        return None
    squares = [(error / most) ** 2 for error in errors]  # so that none overflows
    place = max(range(len(squares)), key=squares.__getitem__)
    return place, squares[place] / sum(squares)


def best_of(candidates: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Return the mean of each item's best value, with zeros and, as the scripts of GPT do, without them."""
    best = [max(values) for values in candidates if values]
    return mean(best), mean([value for value in best if value])


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return math.fsum(values) / len(values) if values else None


def _signed_log(number: float) -> float:
    return math.copysign(math.log1p(abs(number)), number)
