"""Figures that are no mean of scenarios: their intervals, and whether they differ between two arms."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, TypeVar

from pytest_personalens.results.stats.intervals import LEAST, Interval
from pytest_personalens.results.stats.paired import Test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Value = TypeVar("_Value")
_SAMPLES: Final = 2_000
_SWAPS: Final = 20_000
#: Below so many pairs all ways to swap them are counted: no more than `_SWAPS`.
_FEW: Final = 14


def bootstrap_interval(
    by_user: Sequence[Sequence[_Value]], figure: Callable[[Sequence[_Value]], float | None]
) -> Interval | None:
    """The 95 % interval of a `figure` of all values: percentiles over 2,000 samples of the users, with
    replacement (Efron 1979).

    Drawn with a fixed seed. None for fewer than three users, where most samples do not decide the figure, and
    where nearly all of them have the same: so few alike do not make it certain.
    """
    if len(by_user) < LEAST:
        return None
    chance, found = random.Random(0), list[float]()
    for _ in range(_SAMPLES):
        sample = [value for values in chance.choices(by_user, k=len(by_user)) for value in values]
        if (value := figure(sample)) is not None:
            found.append(value)
    if len(found) < _SAMPLES / 2:
        return None
    found.sort()
    outside = len(found) // 40
    low, high = found[outside], found[-1 - outside]
    return (low, high) if low < high else None


def swap_test(
    by_user: Sequence[Sequence[tuple[_Value, _Value]]],
    gain: Callable[[Sequence[tuple[_Value, _Value]]], float],
) -> Test:
    """The paired randomization test of a `gain` that is no mean: how likely one as large is by chance.

    `by_user` holds the (before, after) of each user's scenarios. Had the two arms been alike, those of each
    user could as well have stood the other way round: p is the share of the ways to swap them whose gain is
    no smaller. All ways are counted for up to 14 users, else 20,000 are drawn with a fixed seed.
    """
    users, swapped = list(by_user), [[(after, before) for before, after in pairs] for pairs in by_user]
    seen = gain([pair for pairs in users for pair in pairs])

    def hit(mask: int) -> bool:
        sides = (swapped[n] if mask >> n & 1 else users[n] for n in range(len(users)))
        return gain([pair for pairs in sides for pair in pairs]) >= seen

    if len(users) <= _FEW:
        ways = 1 << len(users)
        return Test(sum(map(hit, range(ways))) / ways, exact=True)
    chance = random.Random(0)
    hits = sum(hit(chance.getrandbits(len(users))) for _ in range(_SWAPS))
    return Test((hits + 1) / (_SWAPS + 1), exact=False)
