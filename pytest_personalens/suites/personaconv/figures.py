"""Accuracy, F1, MCC and the errors of numbers, over answers.

Ours, because they are computed thousands of times when they are resampled, and because importing scikit-learn
takes seconds; the tests hold them equal to scikit-learn's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

POSITIVE: Final = "positive"
NEGATIVE: Final = "negative"
_OTHER: Final = {POSITIVE: NEGATIVE, NEGATIVE: POSITIVE}


class Classes(NamedTuple):
    """Counts of a prediction of two classes: true and false positives, false and true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def items(self) -> int:
        """All of them."""
        return self.tp + self.fp + self.fn + self.tn


def classes(truths: Sequence[str], answers: Sequence[str | None]) -> Classes:
    """The counts; what was not read (None) counts as the class that is wrong."""
    read = [_OTHER[t] if a is None else a for t, a in zip(truths, answers, strict=True)]
    pairs = list(zip(truths, read, strict=True))
    return Classes(
        pairs.count((POSITIVE, POSITIVE)),
        pairs.count((NEGATIVE, POSITIVE)),
        pairs.count((POSITIVE, NEGATIVE)),
        pairs.count((NEGATIVE, NEGATIVE)),
    )


def accuracy(found: Classes) -> float | None:
    """Share that is right, from 0 to 1; None of nothing."""
    return (found.tp + found.tn) / found.items if found.items else None


def f1(found: Classes) -> float | None:
    """F1 of the class positive, 0 where it is neither true nor told; None of nothing."""
    return _f1(found.tp, found.fp, found.fn) if found.items else None


def f1_weighted(found: Classes) -> float | None:
    """F1 of both classes, each weighted by how often it is true; None of nothing."""
    if not found.items:
        return None
    positive = _f1(found.tp, found.fp, found.fn) * (found.tp + found.fn)
    negative = _f1(found.tn, found.fn, found.fp) * (found.tn + found.fp)
    return (positive + negative) / found.items


def mcc(found: Classes) -> float | None:
    """Matthews' correlation, from -1 to 1.

    None where one class only is true: it says nothing then. 0 where one class only is told.
    """
    tp, fp, fn, tn = found
    if not (tp + fn and tn + fp):
        return None
    told = (tp + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(told * (tp + fn) * (tn + fp)) if told else 0.0


def rmse(truths: Sequence[float], answers: Sequence[float]) -> float | None:
    """The root of the mean squared error, in votes; None of nothing."""
    return math.sqrt(mean) if (mean := _mean([d * d for d in _errors(truths, answers)])) is not None else None


def mae(truths: Sequence[float], answers: Sequence[float]) -> float | None:
    """The mean error without its sign, in votes; None of nothing."""
    return _mean([abs(d) for d in _errors(truths, answers)])


def log_error(truth: float, answer: float) -> float:
    """How far two numbers are apart on a scale of logarithms that keeps their signs, from 0."""
    return abs(_signed_log(answer) - _signed_log(truth))


def largest_share(truths: Sequence[float], answers: Sequence[float]) -> tuple[int, float] | None:
    """The place of the item with the largest squared error, and its share of all; None without errors."""
    squares = [d * d for d in _errors(truths, answers)]
    total = sum(squares)
    if not total:
        return None
    place = max(range(len(squares)), key=squares.__getitem__)
    return place, squares[place] / total


def skill(truths: Sequence[float], answers: Sequence[float]) -> float | None:
    """1 - mae / the mae of telling each item the median of the others; None below two items.

    1 is perfect, 0 no better than the median, and below that worse.
    """
    error = mae(truths, answers)
    if error is None or len(truths) < 2:
        return None
    ordered = sorted(truths)
    plain = mae(truths, [_median_without(ordered, truth) for truth in truths])
    return 1 - error / plain if plain else None


def best_of(candidates: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """The mean over items of the best of each item's values, with zeros kept and with zeros left out.

    The official scripts of GPT leave them out.
    """
    best = [max(values) for values in candidates if values]
    return _mean(best), _mean([value for value in best if value])


def _f1(tp: int, fp: int, fn: int) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def _errors(truths: Sequence[float], answers: Sequence[float]) -> list[float]:
    return [float(answer) - float(truth) for truth, answer in zip(truths, answers, strict=True)]


def _signed_log(number: float) -> float:
    return math.copysign(math.log1p(abs(number)), number)


def _median_without(ordered: Sequence[float], value: float) -> float:
    """The median of a sorted list without one of that value."""
    rest = list(ordered)
    rest.remove(value)
    middle = len(rest) // 2
    return rest[middle] if len(rest) % 2 else (rest[middle - 1] + rest[middle]) / 2


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
