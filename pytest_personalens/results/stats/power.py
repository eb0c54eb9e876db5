"""How small a drop a gate can find, given how much scores differ between two runs of an assistant that did
not change.
"""

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
from pytest_personalens.results.stats.paired import flipped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Drops are looked for in steps of this size: a point of a rate, a hundredth of a score.
STEP: Final = Fraction(1, 100)
#: Simulated pairs of runs, and scenarios in all of them: the power has a standard error of 0.013, and of 0.02
#: for 1,000 scenarios.
_RUNS, _SCENARIOS = 1000, 400_000
#: The test itself is simulated for up to so many (differences times their sum), and else the normal
#: distribution that it comes close to, which also decides, for more than a few scenarios, what is not close
#: to the level.
_EXACT, _FEW, _CLEAR = 10_000, 10, 0.5


class Noise(NamedTuple):
    """How much the score of a scenario differs between two runs without a change, in either direction.

    `sizes` of differences, above 0, and their `shares` of all scenarios, 0..1, of which the rest is without a
    difference. Where users have several scenarios, it is that of each user's sum.
    """

    sizes: tuple[Fraction, ...]
    shares: tuple[float, ...]

    @classmethod
    def seen(cls, differences: Sequence[Fraction | int], *, sums: bool = False) -> Noise:
        """As in `differences`, at least one, and larger by one standard error of their mean square.

        They are so by more of them; where all differ already and they are `sums` over a user's scenarios, by
        larger ones.

        Of two pairs of runs one happens to be the quieter, and would promise to find what is then missed more
        often than it said. Where nothing differed at all, it is as if one scenario had, by a whole step: that
        does not prove that nothing ever will.
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
        """Differences of one step, with the standard deviation `sd`, 0..1: that of a rate of which sd^2 of
        all scenarios flip.
        """
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
    """The smallest true drop that a gate on these scenarios would find: see `smallest_drop`, for the
    `Noise.seen` in the differences, where a score drops by a `step` of its scale (1: that of whole scores).

    `by_user` holds those of each user's scenarios. If the assistant did change between the two runs, its
    change counts as noise, and the drop told is too large rather than too small. Raises ValueError without a
    difference, and as `smallest_drop` does.
    """
    if not by_user or not all(by_user):
        raise ValueError("expected at least one difference")
    scenarios, one = list(map(len, by_user)), Fraction(step)
    sums = [sum(differences, Fraction()) / one for differences in by_user]
    noise, size = Noise.seen(sums, sums=max(scenarios) > 1), float(one)
    found = smallest_drop(noise, scenarios, level=level, margin=margin / size, power=power, most=most / size)
    return None if found is None else round(found * size, 9)


def step_of(grid: Fraction) -> Fraction:
    """The step that `detectable` lets scores drop by: 100 of those it looks for drops in.

    These are a hundredth of a whole score, and no finer than a finer grid.
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
    """The smallest true drop of the mean, a multiple of 0.01, that is found at a probability of `power`; None
    if not even `most` is.

    `scenarios` are the numbers of them that each user has. Found is what fails a gate: `sign_flip` of the
    users' sums has p <= `level`, and the mean dropped by more than `margin`. A score drops by one step in a
    random share of the scenarios (a drop of 1.25 is one step everywhere and one more in a quarter), on top of
    the `noise` of each user. The same drop is harder to find in fewer scenarios that drop further, or where
    those of one user drop together, and easier in means over trials that drop one by one. `most` is the
    largest drop there can be: the mean before, above the low end of the scale. Worked out by simulation with
    a fixed seed: equal input gives an equal drop.

    Raises ValueError for a level or power not between 0 and 1, no user, and a user without a scenario.
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
    """The sum of the users' changes in a simulated pair of runs, that of their squares, and the changes."""

    total: int
    squares: int
    each: Callable[[], list[int]]


class _Pair:
    """One simulated pair of runs with one scenario a user: its noise, and from which size of the drop on it
    loses a step.
    """

    def __init__(self, noise: Noise, scenarios: Sequence[int], one: int, chance: random.Random) -> None:
        self._one, self._scenarios = one, sum(scenarios)
        self._noise = _drawn(noise, len(scenarios), one, chance)
        self._from = sorted(chance.random() for _ in scenarios)
        # With these sums a size of the drop is tried without a look at every scenario.
        self._sums = list(accumulate(self._noise, initial=0))
        self._squares = sum(change * change for change in self._noise)

    def found(self, drop: float, level: float, margin: float) -> bool:
        """Whether the gate fails."""
        changes = self._changes(drop)
        if -changes.total <= max(0.0, margin * self._scenarios * self._one):
            return False
        # Sums of flipped signs lie two units apart: a sum is as likely as all that is nearer to it than to
        # the next one.
        above = (-changes.total - 1) / sqrt(changes.squares) - NormalDist().inv_cdf(1 - level)
        if changes.squares > _EXACT or (len(self._noise) > _FEW and abs(above) > _CLEAR):
            return above >= 0
        changed = [change for change in changes.each() if change]
        magnitudes = sorted(map(abs, changed))
        if len(magnitudes) * sum(magnitudes) > _EXACT:
            return above >= 0
        return flipped(magnitudes, -sum(change for change in changed if change < 0)) <= level

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
    """The same with several scenarios of a user, which lose a step one by one; their noise is that of the
    user's sum.
    """

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
    """So many times the size, up to the next of the fractions with the same denominator."""
    return Fraction(ceil(size * size.denominator * times), size.denominator)


def _drawn(noise: Noise, users: int, one: int, chance: random.Random) -> list[int]:
    changes = [int(size * one) for size in noise.sizes]
    halves = [share / 2 for share in noise.shares]
    weights = [max(0.0, 1 - sum(noise.shares)), *halves, *halves]
    return chance.choices([0, *changes, *(-change for change in changes)], weights, k=users)
