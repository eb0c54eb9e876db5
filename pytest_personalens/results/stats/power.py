"""How small a drop a gate can find, given how much scores differ between two runs of an assistant that did not change."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import floor, lcm, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.stats.intervals import check_level
from pytest_personalens.results.stats.paired import flipped

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Drops are looked for in steps of this size: a point of a rate, a hundredth of a score.
STEP: Final = Fraction(1, 100)
#: Simulated pairs of runs, and scenarios in all of them: the power has a standard error of 0.013, and of 0.02 for 1,000 scenarios.
_RUNS, _SCENARIOS = 1000, 400_000
#: The test itself is simulated for up to so many (differences times their sum), and else the normal distribution that it comes close to,
#: which also decides, for more than a few scenarios, what is not close to the level.
_EXACT, _FEW, _CLEAR = 10_000, 10, 0.5


class Noise(NamedTuple):
    """How much the score of a scenario differs between two runs without a change, in either direction.

    `sizes` of differences, above 0, and their `shares` of all scenarios, 0..1, of which the rest is without a difference.
    """

    sizes: tuple[Fraction, ...]
    shares: tuple[float, ...]

    @classmethod
    def seen(cls, differences: Sequence[Fraction | int]) -> Noise:
        """As in `differences`, at least one, and larger by one standard error of their mean square.

        Of two pairs of runs one happens to be the quieter, and would promise to find what is then missed more often than it said.
        Where nothing differed at all, it is as if one scenario had, by a whole step: that does not prove that nothing ever will.
        """
        counts = Counter(abs(Fraction(difference)) for difference in differences if difference)
        if not counts:
            return cls((Fraction(1),), (1 / len(differences),))
        error = sqrt(sum(count * size**4 for size, count in counts.items())) / sum(count * size**2 for size, count in counts.items())
        larger = min(1 + error, len(differences) / counts.total())
        sizes = tuple(sorted(counts))
        return cls(sizes, tuple(larger * counts[size] / len(differences) for size in sizes))

    @classmethod
    def deviation(cls, sd: float) -> Noise:
        """Differences of one step, with the standard deviation `sd`, 0..1: that of a rate of which sd^2 of all scenarios flip."""
        if not 0 <= sd <= 1:
            raise ValueError(f"expected a standard deviation from 0 to 1, found {sd}")
        return cls((Fraction(1),), (sd * sd,))


def detectable(
    differences: Sequence[Fraction | int], *, level: float, margin: float = 0.0, power: float = 0.8, most: float = 1.0
) -> float | None:
    """The smallest true drop that a gate on these scenarios would find: see `smallest_drop`, for the `Noise.seen` in the differences.

    If the assistant did change between the two runs, its change counts as noise, and the drop told is too large rather than too small.
    Raises ValueError without a difference, and as `smallest_drop` does.
    """
    if not differences:
        raise ValueError("expected at least one difference")
    return smallest_drop(Noise.seen(differences), len(differences), level=level, margin=margin, power=power, most=most)


def smallest_drop(
    noise: Noise, scenarios: int, *, level: float, margin: float = 0.0, power: float = 0.8, most: float = 1.0
) -> float | None:
    """The smallest true drop of the mean, a multiple of 0.01, that is found at a probability of `power`; None if not even `most` is.

    Found is what fails a gate: `sign_flip` has p <= `level`, and the mean dropped by more than `margin`. A score drops by
    one step in a random share of the scenarios (a drop of 1.25 is one step everywhere and one more in a quarter), on top of
    the `noise`. The same drop is harder to find in fewer scenarios that drop further, and easier in means over trials that
    drop one by one. `most` is the largest drop there can be: the mean before, above the low end of the scale.
    Worked out by simulation with a fixed seed: equal input gives an equal drop.

    Raises ValueError for a level or power not between 0 and 1, or no scenario.
    """
    check_level(level)
    check_level(power)
    if scenarios < 1:
        raise ValueError(f"expected at least one scenario, found {scenarios}")
    one = lcm(*(size.denominator for size in noise.sizes))
    chance = random.Random(0)
    pairs = [_Pair(noise, scenarios, one, chance) for _ in range(max(100, min(_RUNS, _SCENARIOS // scenarios)))]

    def power_at(steps: int) -> float:
        drop = float(steps * STEP)
        return sum(pair.found(drop, level, margin) for pair in pairs) / len(pairs)

    last = floor(Fraction(most).limit_denominator(10**6) / STEP)
    first = bisect_left(range(last + 1), power, key=power_at)
    return float(first * STEP) if first <= last else None


class _Pair:
    """One simulated pair of runs: the noise of every scenario, and from which size of the drop on a scenario loses a step."""

    def __init__(self, noise: Noise, scenarios: int, one: int, chance: random.Random) -> None:
        changes = [int(size * one) for size in noise.sizes]
        halves = [share / 2 for share in noise.shares]
        weights = [max(0.0, 1 - sum(noise.shares)), *halves, *halves]
        self._one = one
        self._noise = chance.choices([0, *changes, *(-change for change in changes)], weights, k=scenarios)
        self._from = sorted(chance.random() for _ in range(scenarios))
        # With these sums a size of the drop is tried without a look at every scenario.
        self._sums = list(accumulate(self._noise, initial=0))
        self._squares = sum(change * change for change in self._noise)

    def found(self, drop: float, level: float, margin: float) -> bool:
        """Whether the gate fails."""
        one, scenarios = self._one, len(self._noise)
        everywhere = floor(drop) * one
        some = bisect_left(self._from, drop - floor(drop))
        total = self._sums[-1] - scenarios * everywhere - some * one
        if -total <= max(0.0, margin * scenarios * one):
            return False
        squares = self._squares - 2 * everywhere * self._sums[-1] + scenarios * everywhere**2
        squares += some * one * one - 2 * one * (self._sums[some] - some * everywhere)
        # Sums of flipped signs lie two units apart: a sum is as likely as all that is nearer to it than to the next one.
        above = (-total - 1) / sqrt(squares) - NormalDist().inv_cdf(1 - level)
        if squares > _EXACT or (scenarios > _FEW and abs(above) > _CLEAR):
            return above >= 0
        shift = everywhere + one
        sizes = [*(change - shift for change in self._noise[:some]), *(change - everywhere for change in self._noise[some:])]
        changed = [size for size in sizes if size]
        magnitudes = sorted(map(abs, changed))
        if len(magnitudes) * sum(magnitudes) > _EXACT:
            return above >= 0
        return flipped(magnitudes, -sum(size for size in changed if size < 0)) <= level
