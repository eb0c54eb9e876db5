"""The smallest drop that a gate can find, given how much scores differ between two runs without a change."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor, lcm, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.stats.intervals import check_level
from pytest_personalens.results.stats.paired import flip_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: The step between the drops that are tried: a percentage point of a rate, or a hundredth of a score.
STEP: Final = Fraction(1, 100)
#: The number of simulated pairs of runs, and of scenarios in all of them. The standard error of the power is
#: 0.013, and 0.02 for 1,000 scenarios.
_RUNS, _SCENARIOS = 1000, 400_000
#: The exact test is simulated up to this limit (the number of differences times their sum). Beyond it, a
#: normal distribution approximates the test. With more than a few scenarios, the approximation also decides
#: the cases that are not close to the level.
_EXACT, _FEW, _CLEAR = 10_000, 10, 0.5


class Noise(NamedTuple):
    """The random difference of a scenario's score, in either direction, between two runs without a change.

    `sizes` are the sizes of the differences, above 0. `shares` are their shares of all scenarios, 0 to 1; the
    other scenarios have no difference. If users have several scenarios, the noise is that of each user's sum.
    """

    sizes: tuple[Fraction, ...]
    shares: tuple[float, ...]

    @classmethod
    def seen(cls, differences: Sequence[Fraction | int], *, sums: bool = False) -> Noise:
        """Return the noise in `differences`, at least one, enlarged by one standard error of its mean square.

        The noise grows because more scenarios differ. If all differ already and the differences are `sums`
        over a user's scenarios, the sizes grow instead. Without this, two runs that happen to differ little
        would promise a detectable drop that is then missed more often than stated. If nothing differs at all,
        the noise is that of one scenario with a difference of a whole step, because equal runs do not prove
        that no run will ever differ.
        """
        counts = Counter(abs(Fraction(difference)) for difference in differences if difference)
        if not counts:
            return cls((Fraction(1),), (1 / len(differences),))
        error = sqrt(sum(count * size**4 for size, count in counts.items())) / sum(
            count * size**2 for size, count in counts.items()
        )
        larger, room = 1 + error, len(differences) / counts.total()
        sizes = sorted(counts)
        shares = tuple(min(larger, room) * counts[size] / len(differences) for size in sizes)
        if sums and larger > room:
            sizes = [_widened(size, sqrt(larger / room)) for size in sizes]
        return cls(tuple(sizes), shares)

    @classmethod
    def deviation(cls, sd: float) -> Noise:
        """Return noise of one step with the standard deviation `sd`, 0 to 1: sd^2 of all scenarios flip."""
        if not 0 <= sd <= 1:
            raise ValueError(f"expected a standard deviation from 0 to 1, found {sd}")
        return cls((Fraction(1),), (sd * sd,))


def detectable(
    by_user: Sequence[Sequence[Fraction | int]],
    *,
    level: float,
    margin: float = 0.0,
    power: float = 0.8,
    most: float = 1.0,
    step: Fraction | int = 1,
) -> float | None:
    """Return the smallest true drop that a gate on these scenarios would find.

    This is `smallest_drop` for the `Noise.seen` in the differences of each user's scenarios. A score drops by
    one `step` of its scale (1: whole scores). If the assistant did change between the two runs, its change
    counts as noise: the result is then too large, and never too small. Raise ValueError without a difference,
    and as `smallest_drop` does.
    """
    if not by_user or not all(by_user):
        raise ValueError("expected at least one difference")
    scenarios, one = list(map(len, by_user)), Fraction(step)
    sums = [sum(differences, Fraction()) / one for differences in by_user]
    noise, size = Noise.seen(sums, sums=max(scenarios) > 1), float(one)
    drop = smallest_drop(noise, scenarios, level=level, margin=margin / size, power=power, most=most / size)
    return None if drop is None else round(drop * size, 9)


def step_of(grid: Fraction) -> Fraction:
    """Return the step by which `detectable` lets scores drop, 100 times the distance between its drops.

    That distance is a hundredth of a whole score, or the grid if the grid is finer.
    """
    return 100 * min(grid, STEP)


def smallest_drop(
    noise: Noise,
    scenarios: Sequence[int],
    *,
    level: float,
    margin: float = 0.0,
    power: float = 0.8,
    most: float = 1.0,
) -> float | None:
    """Return the smallest true drop of the mean, a multiple of 0.01, that is found with probability `power`.

    `scenarios` holds the number of scenarios of each user. A drop is found if it fails a gate: `sign_flip` of
    the users' sums has p <= `level`, and the mean dropped by more than `margin`. Return None if not even a
    drop of `most` is found: the mean before, minus the low end of the scale.

    In the simulation, a score drops by one step in a random share of the scenarios, in addition to the
    `noise` of each user. A drop of 1.25 is one step in all scenarios and one more in a quarter of them. The
    same mean drop is harder to find if fewer scenarios drop further, or if the scenarios of one user drop
    together. It is easier to find in means over trials that drop one by one. The seed is fixed, so equal
    input gives an equal result.

    Raise ValueError for a level or power that is not between 0 and 1, for no user, and for a user without a
    scenario.
    """
    check_level(level)
    check_level(power)
    if not scenarios or min(scenarios) < 1:
        raise ValueError(f"expected at least one scenario, found {min(scenarios, default=0)}")
    one = lcm(*(size.denominator for size in noise.sizes))
    chance = random.Random(0)
    kind = _Pair if max(scenarios) == 1 else _PairOfUsers
    pairs = [
        kind(noise, scenarios, one, chance) for _ in range(max(100, min(_RUNS, _SCENARIOS // sum(scenarios))))
    ]

    def power_at(steps: int) -> float:
        drop = float(steps * STEP)
        return sum(pair.found(drop, level, margin) for pair in pairs) / len(pairs)

    last = floor(Fraction(most).limit_denominator(10**6) / STEP)
    first = bisect_left(range(last + 1), power, key=power_at)
    return float(first * STEP) if first <= last else None


class _Changes(NamedTuple):
    """The users' changes in a simulated pair of runs: their sum, the sum of squares, and each of them."""

    total: int
    squares: int
    each: Callable[[], list[int]]


class _Pair:
    """One simulated pair of runs with one scenario for each user.

    It holds the noise, and for each scenario the drop from which on it loses a step.
    """

    def __init__(self, noise: Noise, scenarios: Sequence[int], one: int, chance: random.Random) -> None:
        self._one, self._scenarios = one, sum(scenarios)
        self._noise = draw_changes(noise, len(scenarios), one, chance)
        self._from = sorted(chance.random() for _ in scenarios)
        # These sums allow a drop to be tried without reading every scenario.
        self._sums = list(accumulate(self._noise, initial=0))
        self._squares = sum(change * change for change in self._noise)

    def found(self, drop: float, level: float, margin: float) -> bool:
        changes = self._changes(drop)
        if -changes.total <= max(0.0, margin * self._scenarios * self._one):
            return False
        # The sums of flipped signs lie two units apart. The probability of one sum is therefore that of the
        # range from half-way to the sum before to half-way to the next.
        above = (-changes.total - 1) / sqrt(changes.squares) - NormalDist().inv_cdf(1 - level)
        if changes.squares > _EXACT or (len(self._noise) > _FEW and abs(above) > _CLEAR):
            return above >= 0
        changed = [change for change in changes.each() if change]
        magnitudes = sorted(map(abs, changed))
        if len(magnitudes) * sum(magnitudes) > _EXACT:
            return above >= 0
        return flip_share(magnitudes, -sum(change for change in changed if change < 0)) <= level

    def _changes(self, drop: float) -> _Changes:
        one, noise = self._one, self._noise
        everywhere = floor(drop) * one
        some = bisect_left(self._from, drop - floor(drop))
        total = self._sums[-1] - len(noise) * everywhere - some * one
        squares = self._squares - 2 * everywhere * self._sums[-1] + len(noise) * everywhere**2
        squares += some * one * one - 2 * one * (self._sums[some] - some * everywhere)
        shift = everywhere + one
        return _Changes(
            total,
            squares,
            lambda: [n - (shift if number < some else everywhere) for number, n in enumerate(noise)],
        )


class _PairOfUsers(_Pair):
    """A simulated pair of runs with several scenarios for each user, which lose a step one by one."""

    def __init__(self, noise: Noise, scenarios: Sequence[int], one: int, chance: random.Random) -> None:
        super().__init__(noise, scenarios, one, chance)
        self._users = [sorted(chance.random() for _ in range(number)) for number in scenarios]

    def _changes(self, drop: float) -> _Changes:
        steps, share = floor(drop), drop - floor(drop)
        each = [
            noise - self._one * (steps * len(user) + bisect_left(user, share))
            for noise, user in zip(self._noise, self._users, strict=True)
        ]
        return _Changes(sum(each), sum(change * change for change in each), lambda: each)


def _widened(size: Fraction, times: float) -> Fraction:
    """Return the size times a factor, rounded up to a fraction with the same denominator."""
    return Fraction(ceil(size * size.denominator * times), size.denominator)


def draw_changes(noise: Noise, users: int, one: int, chance: random.Random) -> list[int]:
    """Return the random changes of so many users between two runs, in parts of a step (`one`: the whole)."""
    changes = [int(size * one) for size in noise.sizes]
    halves = [share / 2 for share in noise.shares]
    weights = [max(0.0, 1 - sum(noise.shares)), *halves, *halves]
    return chance.choices([0, *changes, *(-change for change in changes)], weights, k=users)
