"""The smallest limit of a drop gate that two runs of an unchanged assistant mostly keep."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from pytest_personalens.results.stats.intervals import check_level
from pytest_personalens.results.stats.non_inferiority import excludes_drop
from pytest_personalens.results.stats.power import STEP, draw_changes

if TYPE_CHECKING:
    from pytest_personalens.results.stats.power import Noise

#: The number of simulated pairs of runs, and of scenarios in all of them. The standard error of the power is
#: 0.013, and 0.03 for 500 scenarios and more, where it is worth less than a step of the limit.
_RUNS, _SCENARIOS, _LEAST = 1000, 60_000, 200


def smallest_limit(
    noise: Noise, scenarios: int, *, span: int, level: float, power: float = 0.8
) -> float | None:
    """Return the smallest limit that a drop gate keeps with probability `power` if nothing changed.

    The limit is a multiple of 0.01, up to `span`, which is the largest drop on the scale. Return None if even
    that is not kept. `scenarios` are as many users with one scenario each.

    The simulation draws the `noise` as that of `smallest_drop` does, and decides by the test of the gate
    (`excludes_drop`). It has a fixed seed, so equal input gives an equal result.

    Raise ValueError for a level or power that is not between 0 and 1, and for noise that is not in whole
    steps.
    """
    check_level(level)
    check_level(power)
    if any(size.denominator > 1 or size > span for size in noise.sizes):
        raise ValueError(f"expected noise in whole steps up to {span}, found {noise.sizes}")
    chance = random.Random(0)
    # What matters of a pair is how often each change occurs, and most pairs occur more than once.
    runs = max(_LEAST, min(_RUNS, _SCENARIOS // scenarios))
    pairs = Counter(tuple(sorted(draw_changes(noise, scenarios, 1, chance))) for _ in range(runs))

    def kept(steps: int) -> bool:
        limit, passed, left = float(steps * STEP), 0, runs
        for changes, number in pairs.most_common():
            left -= number
            passed += number * excludes_drop([[change] for change in changes], span, limit, level=level)
            if passed >= power * runs or passed + left < power * runs:
                break
        return passed >= power * runs

    last = int(span / STEP)
    first = bisect_left(range(1, last + 1), True, key=kept) + 1
    return float(first * STEP) if first <= last else None
