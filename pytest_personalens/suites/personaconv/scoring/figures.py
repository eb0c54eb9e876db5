"""Accuracy, F1, MCC and errors of numbers, over answers.

They are computed here, because resampling needs them thousands of times, and because the import of
scikit-learn takes seconds. Tests check that they equal those of scikit-learn.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.measure import Exact

POSITIVE: Final = "positive"
NEGATIVE: Final = "negative"
#: Class -> the other class.
OTHER: Final = {POSITIVE: NEGATIVE, NEGATIVE: POSITIVE}


class Classes(NamedTuple):
    """The counts of a prediction of two classes.

    They are true and false positives, then false and true negatives.
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def items(self) -> int:
        """Return the number of all items."""
        return self.tp + self.fp + self.fn + self.tn


def classes(truths: Sequence[str], answers: Sequence[str | None]) -> Classes:
    """Return the counts.

    An answer that was not read (None) counts as the wrong class.
    """
    read = [OTHER[t] if a is None else a for t, a in zip(truths, answers, strict=True)]
    pairs = list(zip(truths, read, strict=True))
    return Classes(
        pairs.count((POSITIVE, POSITIVE)),
        pairs.count((NEGATIVE, POSITIVE)),
        pairs.count((POSITIVE, NEGATIVE)),
        pairs.count((NEGATIVE, NEGATIVE)),
    )


def accuracy(counts: Classes) -> float | None:
    """Return the share of right answers, 0 to 1, or None without items."""
    return (counts.tp + counts.tn) / counts.items if counts.items else None


def f1(counts: Classes) -> float | None:
    """Return F1 of the class positive, or None without items.

    It is 0 if the class is neither true nor predicted.
    """
    return _f1(counts.tp, counts.fp, counts.fn) if counts.items else None


def f1_weighted(counts: Classes) -> float | None:
    """Return the mean F1 of both classes, or None without items.

    Each class has the number of its true items as its weight.
    """
    if not counts.items:
        return None
    positive = _f1(counts.tp, counts.fp, counts.fn) * (counts.tp + counts.fn)
    negative = _f1(counts.tn, counts.fn, counts.fp) * (counts.tn + counts.fp)
    return (positive + negative) / counts.items


def mcc(counts: Classes) -> float | None:
    """Return Matthews' correlation, from -1 to 1.

    It is None if only one class is true, because it has no meaning then. It is 0 if only one class is
    predicted.
    """
    tp, fp, fn, tn = counts
    if not (tp + fn and tn + fp):
        return None
    product = (tp + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(product * (tp + fn) * (tn + fp)) if product else 0.0


def rmse(truths: Sequence[float], answers: Sequence[float]) -> float | None:
    """Return the root of the mean squared error, in votes, or None without items."""
    errors = _errors(truths, answers)
    return math.hypot(*errors) / math.sqrt(len(errors)) if errors else None  # squares might overflow


def mae(truths: Sequence[float], answers: Sequence[float]) -> float | None:
    """Return the mean absolute error, in votes, or None without items."""
    return _mean([abs(d) for d in _errors(truths, answers)])


def log_error(truth: float, answer: float) -> float:
    """Return the distance of two numbers on a logarithmic scale that keeps their signs.

    It is 0 or more.
    """
    return abs(_signed_log(answer) - _signed_log(truth))


def largest_share(truths: Sequence[float], answers: Sequence[float]) -> tuple[int, float] | None:
    """Return the place of the largest squared error, and its share of the total.

    Return None if there are no errors.
    """
    errors = _errors(truths, answers)
    most = max(map(abs, errors), default=0.0)
    if not most:
        return None
    squares = [(error / most) ** 2 for error in errors]  # so that none overflows
    total = sum(squares)
    place = max(range(len(squares)), key=squares.__getitem__)
    return place, squares[place] / total


def skill(truths: Sequence[float], answers: Sequence[float]) -> float | None:
    """Return 1 minus the ratio of two mean absolute errors.

    The second error is that of a prediction by the median of the other items. 1 is perfect, 0 is no better
    than the median, and a negative value is worse. Return None for fewer than two items.
    """
    exact_truths = [exact(truth) for truth in truths]
    plain = sum(errors_of_medians(exact_truths))
    error = sum(distance(exact(answer), truth) for answer, truth in zip(answers, exact_truths, strict=True))
    return 1 - float(error / plain) if plain else None


def exact(number: float) -> Exact:
    """Return a number as it is written: 0.1 as one tenth."""
    return int(number) if float(number).is_integer() else Fraction(repr(float(number)))


def errors_of_medians(truths: Sequence[Exact]) -> list[Exact]:
    """Return the error for each number if it is predicted by the median of the others.

    It is 0 for a number without others.
    """
    ordered = sorted(truths)
    return [distance(truth, _median_without(ordered, bisect_left(ordered, truth))) for truth in truths]


def distance(one: Exact, other: Exact) -> Exact:
    """Return how far two numbers are apart."""
    return one - other if one > other else other - one


def root_mean(squares: Exact, count: Exact) -> float:
    """Return the root of a mean of squares, also where the squares are too large for a float."""
    try:
        return math.sqrt(squares / count)
    except OverflowError:
        mean = Fraction(squares) / count
        halved = (mean.numerator.bit_length() - mean.denominator.bit_length()) // 2
        return math.ldexp(math.sqrt(mean / (1 << 2 * halved)), halved)


def best_of(candidates: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Return the mean over items of the best value of each item.

    The first result includes zeros, and the second leaves them out. The official scripts of GPT leave them
    out.
    """
    best = [max(values) for values in candidates if values]
    return _mean(best), _mean([value for value in best if value])


def _f1(tp: int, fp: int, fn: int) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def _errors(truths: Sequence[float], answers: Sequence[float]) -> list[float]:
    return [float(answer) - float(truth) for truth, answer in zip(truths, answers, strict=True)]


def _signed_log(number: float) -> float:
    return math.copysign(math.log1p(abs(number)), number)


def _median_without(ordered: Sequence[Exact], place: int) -> Exact:
    """Return the median of a sorted list without the number in that place; that number if it is alone."""
    left = len(ordered) - 1
    if not left:
        return ordered[place]
    high = left // 2
    low = high if left % 2 else high - 1
    lower, upper = ordered[low + (low >= place)], ordered[high + (high >= place)]
    return lower if lower == upper else Fraction(lower + upper) / 2


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
