"""How far a rate or a mean of scores can be trusted: Wilson's interval, and the bootstrap without its randomness."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import gcd, lcm, sqrt
from statistics import NormalDist, fmean, pstdev
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Operations on long numbers, times their length, for which the bootstrap is worked out exactly: some 20 ms.
_WORK: Final = 12_000_000
#: A mean over trials is a fraction of whole scores; what a float adds to it by rounding is nobody's score.
_TRIALS: Final = 1000


def wilson(successes: float, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """The score interval of a rate (Wilson 1927), both ends in 0..1; (0.0, 1.0) where `total` is 0.

    `successes`, in 0..`total`, need not be whole: a scenario with several trials counts by its share of successes, and the
    interval is then wider than it need be. Raises ValueError for anything out of range.

    >>> [round(end, 3) for end in wilson(27, 30)]
    [0.744, 0.965]
    """
    check_level(level)
    if not 0 <= successes <= total:
        raise ValueError(f"expected 0 to {total} successes, found {successes}")
    if not total:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate, square = successes / total, z * z / total
    middle = (rate + square / 2) / (1 + square)
    reach = z * sqrt(rate * (1 - rate) / total + square / (4 * total)) / (1 + square)
    # At the ends of the range the bound is the end itself, and not what rounding makes of it.
    return (max(0.0, middle - reach) if successes else 0.0), (min(1.0, middle + reach) if successes < total else 1.0)


def bootstrap(values: Sequence[float | Fraction], low: float, high: float, *, level: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap interval (Efron 1979) of the mean of `values`, all on the scale `low`..`high`, ends within it.

    Nothing is drawn: the distribution of all resamples is worked out exactly, or, where it has too many steps, taken as the
    normal distribution with its mean and standard deviation. Without a value the interval is the scale.

    Equal values have equal resamples, an interval of no width that claims to be certain. They get another: had more than
    a share u of all scenarios another score, n of them would all have missed it with a probability below 1 - `level` only,
    for u = 1 - (1 - level)^(1/n), about 3/n at 95 % (the rule of three, Hanley and Lippman-Hand 1983); and the worst score that
    this share can have is an end of the scale.

    Raises ValueError for a value off the scale, a scale without width and a level not between 0 and 1.

    >>> bootstrap([4] * 30, 1, 4)[0] < bootstrap([4] * 300, 1, 4)[0] < 4
    True
    """
    check_level(level)
    if not low < high:
        raise ValueError(f"expected a scale, found {low} to {high}")
    if not all(low <= value <= high for value in values):  # also what is no number at all
        raise ValueError(f"expected values from {low} to {high}, found {next(v for v in values if not low <= v <= high)}")
    if not values:
        return float(low), float(high)
    counts: Counter[Fraction] = Counter()
    for value, count in Counter(values).items():
        counts[Fraction(value).limit_denominator(_TRIALS)] += count
    if len(counts) == 1:
        mean, unseen = float(values[0]), 1 - (1 - level) ** (1 / len(values))
        return mean - unseen * (mean - low), mean + unseen * (high - mean)
    bottom, unit = min(counts), Fraction(gcd(*(f.numerator for f in _steps(counts))), lcm(*(f.denominator for f in _steps(counts))))
    steps = {int((value - bottom) / unit): count for value, count in counts.items()}
    if len(values) ** 2 * max(steps) * len(steps) > _WORK:
        mean, error = fmean(values), pstdev(map(float, values)) / sqrt(len(values))
        reach = NormalDist().inv_cdf((1 + level) / 2) * error
        return max(float(low), mean - reach), min(float(high), mean + reach)
    ways = _sums(steps, len(values))
    first, last = _quantile(ways, level), len(ways) - 1 - _quantile(ways[::-1], level)
    return float(bottom + first * unit / len(values)), float(bottom + last * unit / len(values))


def check_level(level: float) -> None:
    """Raise ValueError unless `level` lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"expected a level between 0 and 1, found {level}")


def _steps(counts: Mapping[Fraction, int]) -> list[Fraction]:
    bottom = min(counts)
    return [value - bottom for value in counts if value != bottom]


def _sums(steps: Mapping[int, int], draws: int) -> list[int]:
    """In how many ways `draws` draws with replacement, from `steps` (value: how often it is there), sum to 0, 1, 2...

    These are the coefficients of a polynomial's power, by Euler's recurrence (Knuth, The Art of Computer Programming 2, 4.7).
    """
    lowest = steps[0]
    rest = sorted((step, count) for step, count in steps.items() if step)
    ways = [lowest**draws]
    for k in range(1, draws * max(steps) + 1):
        ways.append(sum((step * (draws + 1) - k) * count * ways[k - step] for step, count in rest if step <= k) // (k * lowest))
    return ways


def _quantile(ways: Sequence[int], level: float) -> int:
    """The first step at which what lies outside the interval on one side, (1 - level) / 2, is reached."""
    outside = (1 - Fraction(level).limit_denominator(10**9)) / 2
    wanted, seen = sum(ways) * outside.numerator, 0
    for step, count in enumerate(ways):
        seen += count
        if seen * outside.denominator >= wanted:
            return step
    raise AssertionError("all ways together are all ways")
