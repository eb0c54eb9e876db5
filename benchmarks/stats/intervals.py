"""How often the intervals of means and rates hold what they should, and how wide they are beside other
methods.

Every sample that can come about is counted with its probability, so the figures are exact and not simulated;
where there are too many samples, and for methods that depend on an order or on chance, 2,000 are drawn with a
fixed seed.

    python benchmarks/stats/intervals.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import combinations, pairwise
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pytest_personalens.results.stats.intervals import interval, mean_interval, rate_interval

Floats = NDArray[np.float64]
#: How scores may be spread: the share of each point of the scale, from the lowest.
PERSONALIZATION: dict[str, tuple[float, ...]] = {
    "even": (0.25, 0.25, 0.25, 0.25),
    "good": (0.05, 0.1, 0.25, 0.6),
    "mixed": (0.1, 0.35, 0.35, 0.2),
    "poor": (0.5, 0.3, 0.15, 0.05),
    "very poor": (0.85, 0.1, 0.03, 0.02),
    "very good": (0.02, 0.03, 0.05, 0.9),
    "nearly all 4": (0.01, 0.01, 0.03, 0.95),
    "4, now and then 3": (0, 0, 0.1, 0.9),
    "3, few others": (0.05, 0.05, 0.85, 0.05),
    "2 and 3": (0, 0.5, 0.5, 0),
    "around 3": (0, 0.1, 0.8, 0.1),
    "both ends": (0.4, 0.1, 0.1, 0.4),
    "1 or 4": (0.5, 0, 0, 0.5),
    "4, one in five 1": (0.2, 0, 0, 0.8),
    "4, one in ten 1": (0.1, 0, 0, 0.9),
    "4, one in twenty 1": (0.05, 0, 0, 0.95),
    "3, one in ten 1": (0.1, 0, 0.9, 0),
}
NATURALNESS: dict[str, tuple[float, ...]] = {
    "even": (0.2, 0.2, 0.2, 0.2, 0.2),
    "good": (0.02, 0.03, 0.05, 0.2, 0.7),
    "natural": (0, 0.05, 0.1, 0.35, 0.5),
    "very good": (0.01, 0.02, 0.02, 0.05, 0.9),
    "around 4": (0, 0, 0.1, 0.8, 0.1),
    "mixed": (0.1, 0.2, 0.4, 0.2, 0.1),
    "both ends": (0.4, 0.1, 0, 0.1, 0.4),
    "5, one in ten 1": (0.1, 0, 0, 0, 0.9),
}
#: Differences between two runs, from -3 to 3: most scenarios stay, as with records, or few fall far.
DIFFERENCES: dict[str, tuple[float, ...]] = {
    "as noisy as judges": (0.01, 0.04, 0.2, 0.5, 0.2, 0.04, 0.01),
    "one in twenty -1": (0, 0, 0.05, 0.95, 0, 0, 0),
    "one in ten -3": (0.1, 0, 0, 0.9, 0, 0, 0),
    "one in fifteen -3": (1 / 15, 0, 0, 14 / 15, 0, 0, 0),
    "a lift": (0, 0, 0, 0.2, 0.3, 0.35, 0.15),
}
SIZES = (3, 5, 10, 20, 30, 50, 100, 300)
RATES = tuple(rate / 100 for rate in range(50, 100))
_MOST, _DRAWN = 20_000, 2000
_LEVEL = 0.95

Method = Callable[[Floats, Floats], tuple[float, float]]


def ours(counts: Floats, scale: Floats) -> tuple[float, float]:
    """The interval that the package gives."""
    found = interval(
        [[score] for score, count in zip(scale, counts, strict=True) for _ in range(int(count))],
        scale[0],
        scale[-1],
    )
    assert found is not None
    return found


def students_t(counts: Floats, scale: Floats) -> tuple[float, float]:
    """Student's t interval of the scores alone."""
    total = counts.sum()
    mean = (counts * scale).sum() / total
    error = sqrt((counts * (scale - mean) ** 2).sum() / (total - 1) / total)
    reach = float(stats.t.ppf((1 + _LEVEL) / 2, total - 1)) * error
    return max(scale[0], mean - reach), min(scale[-1], mean + reach)


def bootstrap(counts: Floats, scale: Floats) -> tuple[float, float]:
    """The percentile bootstrap (Efron 1979), with the rule of three where all scores are equal."""
    total = int(counts.sum())
    if counts.max() == total:
        score, unseen = scale[counts.argmax()], 1 - (1 - _LEVEL) ** (1 / total)
        return score - unseen * (score - scale[0]), score + unseen * (scale[-1] - score)
    means = np.random.default_rng(0).multinomial(total, counts / total, size=1000) @ scale / total
    low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def dirichlet(counts: Floats, scale: Floats) -> tuple[float, float]:
    """The middle of the posterior of the mean, the points of the scale having a Dirichlet prior of 1 each."""
    means = np.random.default_rng(0).dirichlet(counts + 1, size=1000) @ scale
    low, high = np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def anderson(counts: Floats, scale: Floats) -> tuple[float, float]:
    """Anderson (1969): the means of all distributions in the band of Dvoretzky, Kiefer, Wolfowitz and
    Massart.
    """
    total, steps = counts.sum(), np.diff(scale)
    below = counts.cumsum()[:-1] / total
    band = sqrt(log(2 / (1 - _LEVEL)) / (2 * total))
    low = scale[-1] - (steps * np.minimum(1, below + band)).sum()
    return float(low), float(scale[-1] - (steps * np.maximum(0, below - band)).sum())


def betting(counts: Floats, scale: Floats) -> tuple[float, float]:
    """The hedged capital interval of Waudby-Smith and Ramdas (2024),
    with their bets for a fixed sample size.
    """
    span = scale[-1] - scale[0]
    values = np.random.default_rng(int(counts @ np.arange(1, len(counts) + 1) ** 3)).permutation(
        np.repeat(scale, counts.astype(int))
    )
    values = (values - scale[0]) / span
    total, grid = len(values), np.linspace(0.001, 0.999, 400)
    numbers = np.arange(1, total + 1)
    means = (0.5 + values.cumsum()) / (numbers + 1)
    variances = np.concatenate([[0.25], ((0.25 + ((values - means) ** 2).cumsum()) / (numbers + 1))[:-1]])
    bets = np.sqrt(2 * log(2 / (1 - _LEVEL)) / (total * variances))
    up = np.log1p(np.minimum(bets[:, None], 0.5 / grid) * (values[:, None] - grid)).cumsum(0)
    down = np.log1p(-np.minimum(bets[:, None], 0.5 / (1 - grid)) * (values[:, None] - grid)).cumsum(0)
    capital = np.maximum(up, down).max(0) + log(0.5)
    inside = grid[capital < -log(1 - _LEVEL)]
    return float(scale[0] + span * inside.min()), float(scale[0] + span * inside.max())


METHODS: dict[str, Method] = {
    "this package's": ours,
    "Student's t": students_t,
    "percentile bootstrap": bootstrap,
    "Dirichlet posterior": dirichlet,
    "Anderson": anderson,
    "betting": betting,
}


@cache
def samples(scores: int, points: int) -> Floats:
    """How often each point of a scale can be there among so many scores, a row a sample; empty where these
    are too many.
    """
    if _ways(scores, points) > _MOST:
        return np.empty((0, points))
    bars = combinations(range(scores + points - 1), points - 1)
    return np.array(
        [[b - a - 1 for a, b in pairwise((-1, *cut, scores + points - 1))] for cut in bars], dtype=float
    )


def _ways(scores: int, points: int) -> int:
    ways = 1
    for k in range(1, points):
        ways = ways * (scores + k) // k
    return ways


def coverage(
    method: Method, spreads: Iterable[Sequence[float]], scores: int, scale: Floats, *, drawn: bool = False
) -> list[tuple[float, float]]:
    """For each way to spread scores: how often the interval holds the true mean, and its mean width."""
    found = []
    every = samples(scores, len(scale))
    known: dict[bytes, tuple[float, float]] = {}
    for spread in spreads:
        shares = np.array(spread) / sum(spread)
        if drawn or not len(every):
            drawn_rows = np.random.default_rng(1).multinomial(scores, shares, size=_DRAWN).astype(float)
            rows, times = np.unique(drawn_rows, axis=0, return_counts=True)
            chances = times / _DRAWN
        else:
            rows, chances = every, stats.multinomial.pmf(every, scores, shares)
            rows, chances = rows[chances > 1e-12], chances[chances > 1e-12]
        for row in rows:
            if row.tobytes() not in known:
                known[row.tobytes()] = method(row, scale)
        ends = np.array([known[row.tobytes()] for row in rows])
        mean = float(shares @ scale)
        holds = (ends[:, 0] <= mean + 1e-9) & (mean <= ends[:, 1] + 1e-9)
        found.append((float(chances @ holds), float(chances @ (ends[:, 1] - ends[:, 0]))))
    return found


def rate_coverage(method: Callable[[int, int], tuple[float, float]], total: int) -> list[float]:
    """For each of `RATES`: how often the interval of a rate over `total` scenarios holds it."""
    ends = [method(successes, total) for successes in range(total + 1)]
    chances = [stats.binom.pmf(range(total + 1), total, rate) for rate in RATES]
    return [
        float(sum(c for c, (low, high) in zip(chance, ends, strict=True) if low <= rate <= high))
        for chance, rate in zip(chances, RATES, strict=True)
    ]


def wilson(successes: int, total: int) -> tuple[float, float]:
    """The score interval of a rate (Wilson 1927)."""
    found = stats.binomtest(successes, total).proportion_ci(_LEVEL, method="wilson")
    return float(found.low), float(found.high)


def _lowest(found: Sequence[tuple[float, float]], spreads: Iterable[str]) -> str:
    least, name = min((share, name) for (share, _), name in zip(found, spreads, strict=True))
    return f"{100 * least:.1f} ({name})"


def _table_of_sizes() -> None:
    scales = (
        ("P, 1 to 4", PERSONALIZATION, 1, 4),
        ("1 to 5", NATURALNESS, 1, 5),
        ("a change of P, -3 to 3", DIFFERENCES, -3, 3),
    )
    print(
        "\n95 % interval of a mean: how often it holds, in percent, least (where) and on average; its mean"
        " width beside the normal one\n"
    )
    print(
        "| scenarios |",
        " | ".join(f"{name}: least | average | width" for name, *_ in scales),
        "| beside normal theory, P |",
    )
    print("| ---: |" + " --- | ---: | ---: |" * len(scales) + " ---: |")
    for size in SIZES:
        cells = []
        ratio = 0.0
        for name, spreads, low, high in scales:
            scale = np.arange(low, high + 1, dtype=float)
            found = coverage(ours, spreads.values(), size, scale)
            width = float(np.mean([w for _, w in found]))
            cells += [
                _lowest(found, spreads),
                f"{100 * np.mean([share for share, _ in found]):.1f}",
                f"{width:.2f}",
            ]
            if name.startswith("P"):
                errors = [
                    sqrt(float(np.array(s) @ scale**2 - (np.array(s) @ scale) ** 2) / size)
                    for s in spreads.values()
                ]
                ratio = width / float(2 * stats.norm.ppf((1 + _LEVEL) / 2) * np.mean(errors))
        print(f"| {size} |", " | ".join(cells), f"| {ratio:.2f} x |", flush=True)


def _table_of_methods(sizes: Sequence[int]) -> None:
    print("\nMethods, on P: how often they hold, in percent, least and on average, and their mean width\n")
    print("| method |", " | ".join(f"{size}: least | average | width" for size in sizes), "|")
    print("| --- |" + " ---: | ---: | ---: |" * len(sizes))
    scale = np.arange(1.0, 5.0)
    for name, method in METHODS.items():
        cells = []
        for size in sizes:
            found = coverage(method, PERSONALIZATION.values(), size, scale, drawn=size > 10)
            shares = [share for share, _ in found]
            cells += [
                f"{100 * min(shares):.1f}",
                f"{100 * np.mean(shares):.1f}",
                f"{np.mean([w for _, w in found]):.2f}",
            ]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def _table_of_rates() -> None:
    print(
        "\n95 % interval of a rate, over rates of 0.50 to 0.99: how often it holds, in percent, least and on"
        " average\n"
    )
    print(
        "| scenarios | exact: least | average | Wilson: least | average |\n| ---: | ---: | ---: | ---: |"
        " ---: |"
    )
    for size in SIZES:
        cells = [
            f"{100 * f(found):.1f}"
            for m in (rate_interval, wilson)
            for found in [rate_coverage(m, size)]
            for f in (min, np.mean)
        ]
        print(f"| {size} |", " | ".join(cells), "|", flush=True)


def _seconds() -> None:
    import timeit

    for size in (30, 1000):
        scores = [[1 + number % 4] for number in range(size)]
        mean_interval(scores, 1, 4)
        took = min(timeit.repeat(lambda: mean_interval(scores, 1, 4), number=10, repeat=3)) / 10  # noqa: B023
        print(f"\none interval over {size:,} scenarios: {1000 * took:.1f} ms", end="")
    print()


def main() -> None:
    """Print the tables."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    _table_of_sizes()
    _table_of_methods((3, 5, 10, 30))
    _table_of_rates()
    _seconds()


if __name__ == "__main__":
    main()
