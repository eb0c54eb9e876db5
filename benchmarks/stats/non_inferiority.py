"""What the gate drop(...) promises: how often it passes a run whose true drop is its limit.

python benchmarks/stats/non_inferiority.py
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from pytest_personalens.results.stats.intervals import mean_interval
from pytest_personalens.results.stats.paired import least_change, sign_flip

Changes = list[list[int]]
_LEVEL = 0.05
#: Pairs of runs for each figure: its standard error is 0.5 points at 5 %.
RUNS = 2000


class Kind(NamedTuple):
    """How scores change between two runs: the true drop, the span of the scale, and how one scenario changes.

    `by_user`: all scenarios of a user change alike.
    """

    name: str
    drop: float
    span: int
    draw: Callable[[random.Random], int]
    by_user: bool = False

    def changes(self, chance: random.Random, scenarios: Sequence[int]) -> Changes:
        """The changes of the scenarios of each user."""
        if self.by_user:
            return [[self.draw(chance)] * number for number in scenarios]
        return [[self.draw(chance) for _ in range(number)] for number in scenarios]


def _either(*shares: tuple[int, float]) -> Callable[[random.Random], int]:
    changes, weights = [change for change, _ in shares], [share for _, share in shares]
    rest = 1 - sum(weights)
    return lambda chance: chance.choices([0, *changes], [rest, *weights])[0]


KINDS = (
    Kind("TCR 0.10: one in ten breaks", 0.1, 1, _either((-1, 0.1))),
    Kind("TCR 0.10, and one in five flips", 0.1, 1, _either((-1, 0.2), (1, 0.1))),
    Kind("P 0.30: three in ten fall by 1", 0.3, 3, _either((-1, 0.3))),
    Kind("P 0.30: one in ten falls by 3", 0.3, 3, _either((-3, 0.1))),
    Kind("P 0.30, with noise", 0.3, 3, _either((-1, 0.4), (1, 0.2), (-2, 0.05))),
)
TOGETHER = (
    Kind("P 0.30: one user in ten falls by 3", 0.3, 3, _either((-3, 0.1)), by_user=True),
    Kind("P 0.30: three users in ten fall by 1", 0.3, 3, _either((-1, 0.3)), by_user=True),
)
SAMPLES: dict[str, tuple[int, ...]] = {
    "10 users, 1 each": (1,) * 10,
    "30 users, 1 each": (1,) * 30,
    "100 users, 1 each": (1,) * 100,
    "20 users, 3 each": (3,) * 20,
    "10 users, 10 each": (10,) * 10,
    "12 users, 1 to 30 each": (1, 1, 1, 2, 2, 3, 4, 6, 8, 12, 20, 30),
}


def ours(changes: Changes, kind: Kind, limit: float) -> bool:
    """Whether the gate passes."""
    least = least_change(changes, kind.span, level=_LEVEL)
    return least is not None and least >= -limit


def by_interval(changes: Changes, kind: Kind, limit: float) -> bool:
    """Whether the package's interval of the mean, at twice the level, lies above the drop."""
    found = mean_interval(changes, -kind.span, kind.span, level=1 - 2 * _LEVEL)
    return found is not None and found[0] >= -limit


def by_sign_flip(changes: Changes, kind: Kind, limit: float) -> bool:
    """Whether the sign-flip test finds that the changes lie above the drop."""
    shift = Fraction(limit).limit_denominator(100)
    return sign_flip([-(sum(c) + shift * len(c)) for c in changes]) <= _LEVEL


def passes(
    method: Callable[[Changes, Kind, float], bool], kind: Kind, scenarios: Sequence[int], limit: float,
    *, runs: int = RUNS, seed: int = 1,
) -> float:  # fmt: skip
    """Percent of simulated pairs of runs in which the gate passes."""
    chance = random.Random(seed)
    found = sum(method(kind.changes(chance, scenarios), kind, limit) for _ in range(runs))
    return 100 * found / runs


def false_passes(runs: int = RUNS) -> Iterator[str]:
    """The lines of the table of gates that pass a drop as large as their limit."""
    yield f"| sample | {' | '.join(kind.name for kind in (*KINDS, *TOGETHER))} |"
    yield "| --- |" + " ---: |" * (len(KINDS) + len(TOGETHER))
    for name, scenarios in SAMPLES.items():
        cells = []
        for kind in (*KINDS, *TOGETHER):
            found = [
                passes(method, kind, scenarios, kind.drop, runs=runs)
                for method in (ours, by_interval, by_sign_flip)
            ]
            cells.append("{:.1f} ({:.1f}, {:.1f})".format(*found))
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="pairs of runs for each figure")
    options = parser.parse_args()
    for line in false_passes(options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
