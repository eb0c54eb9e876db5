"""What users with several scenarios do to intervals and to the gate against a baseline: counted by user, and
as if independent.

python benchmarks/stats/users.py
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean
from typing import NamedTuple

from pytest_personalens.results.stats.intervals import mean_interval
from pytest_personalens.results.stats.paired import detectable, sign_flip

Scores = list[list[int]]
_LEVEL = 0.05
#: Runs or pairs of runs for each figure: its standard error is 0.7 points at 95 %, 1.3 at 80 %.
RUNS = 1000


class Assistant(NamedTuple):
    """How its personalization varies: the mean, and the standard deviations among users, and among the tasks
    of one user.

    `drift` is that of a user's scores between two runs in which the assistant did not change: what it
    remembers of a person, and what the simulated user says, touches all scenarios of that user together.
    """

    name: str
    mean: float
    among_users: float
    among_tasks: float
    drift: float = 0.3

    def users(self, chance: random.Random, scenarios: Sequence[int]) -> list[list[float]]:
        """The true level of each scenario, for users with so many scenarios."""
        levels = [chance.gauss(self.mean, self.among_users) for _ in scenarios]
        return [
            [chance.gauss(level, self.among_tasks) for _ in range(n)]
            for level, n in zip(levels, scenarios, strict=True)
        ]

    def run(self, chance: random.Random, users: list[list[float]], *, lower: float = 0.0) -> Scores:
        """The scores of a run; each is one step `lower` with that probability, unless it is the lowest."""
        found = []
        for tasks in users:
            shift = chance.gauss(0, self.drift)
            read = [min(4, max(1, round(chance.gauss(task + shift, 0.3)))) for task in tasks]
            found.append([score - (score > 1 and chance.random() < lower) for score in read])
        return found


ASSISTANTS = (
    Assistant("users differ", 3.0, 0.8, 0.2),
    Assistant("users and tasks differ", 3.0, 0.5, 0.5),
    Assistant("tasks differ", 2.5, 0.3, 0.8),
)
#: What a sample may look like: how many scenarios each of its users has.
SAMPLES: dict[str, tuple[int, ...]] = {
    "30 users, 1 each": (1,) * 30,
    "20 users, 3 each": (3,) * 20,
    "10 users, 10 each": (10,) * 10,
    "10 users, 80 each": (80,) * 10,
    "5 users, 80 each": (80,) * 5,
    "12 users, 1 to 30 each": (1, 1, 1, 2, 2, 3, 4, 6, 8, 12, 20, 30),
}


def alone(by_user: Sequence[Sequence[Fraction | int]]) -> list[list[Fraction | int]]:
    """The same, as if each scenario had a user of its own."""
    return [[value] for values in by_user for value in values]


def held(
    assistant: Assistant, scenarios: Sequence[int], *, runs: int = RUNS, seed: int = 1
) -> tuple[float, float, float]:
    """How often the interval of mean personalization holds the true mean: by user, and as if independent; and
    its mean width.
    """
    chance = random.Random(seed)
    truth = fmean(
        score for user in assistant.run(chance, assistant.users(chance, (1,) * 40_000)) for score in user
    )
    hits, widths = [0, 0], 0.0
    for _ in range(runs):
        scores = assistant.run(chance, assistant.users(chance, scenarios))
        found, naive = mean_interval(scores, 1, 4), mean_interval(alone(scores), 1, 4)
        assert found is not None
        assert naive is not None
        hits[0] += found[0] <= truth <= found[1]
        hits[1] += naive[0] <= truth <= naive[1]
        widths += found[1] - found[0]
    return hits[0] / runs, hits[1] / runs, widths / runs


def changes(before: Scores, after: Scores) -> list[list[Fraction]]:
    """After - before, by user."""
    return [
        [Fraction(b - a) for a, b in zip(old, new, strict=True)]
        for old, new in zip(before, after, strict=True)
    ]


def fails(by_user: Sequence[Sequence[Fraction | int]]) -> bool:
    """Whether the test of the gate finds a drop."""
    return sign_flip([sum(values, Fraction()) for values in by_user]) <= _LEVEL


def alarms(
    assistant: Assistant, scenarios: Sequence[int], *, pairs: int = RUNS, seed: int = 2
) -> tuple[float, float]:
    """How often the gate fails though nothing changed: by user, and as if independent."""
    chance = random.Random(seed)
    found = [0, 0]
    for _ in range(pairs):
        users = assistant.users(chance, scenarios)
        moved = changes(assistant.run(chance, users), assistant.run(chance, users))
        found[0] += fails(moved)
        found[1] += fails(alone(moved))
    return found[0] / pairs, found[1] / pairs


def power(
    assistant: Assistant, scenarios: Sequence[int], *, assistants: int = 20, pairs: int = 50, seed: int = 3
) -> float | None:
    """How often a drop is found of the size that the gate says it would have found;
    None where it finds none.
    """
    chance = random.Random(seed)
    found = tried = 0
    for _ in range(assistants):
        users = assistant.users(chance, scenarios)
        least = detectable(
            changes(assistant.run(chance, users), assistant.run(chance, users)), level=_LEVEL, most=2.0
        )
        if least is None or least > 1:
            continue
        # What is at the low end cannot fall, so the others fall more often.
        able = fmean(score > 1 for user in assistant.run(chance, users) for score in user)
        for _ in range(pairs):
            found += fails(
                changes(
                    assistant.run(chance, users), assistant.run(chance, users, lower=min(1.0, least / able))
                )
            )
            tried += 1
    return found / tried if tried else None


def main() -> None:
    """Print the tables."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    print(
        "\nThe 95 % interval of P holds, in percent of the runs: by user (as if scenarios were independent),"
        " width by user\n"
    )
    print("| sample |", " | ".join(a.name for a in ASSISTANTS), "|\n| --- |" + " ---: |" * len(ASSISTANTS))
    for name, scenarios in SAMPLES.items():
        cells = [
            f"{100 * by:.0f} ({100 * naive:.0f}), {width:.2f}"
            for by, naive, width in (held(a, scenarios) for a in ASSISTANTS)
        ]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)
    print(
        "\nFalse alarms at 5 %, in percent of the pairs of runs: by user (as if independent); and a drop of"
        " the size told is found\n"
    )
    print("| sample |", " | ".join(a.name for a in ASSISTANTS), "|\n| --- |" + " ---: |" * len(ASSISTANTS))
    for name, scenarios in SAMPLES.items():
        cells = []
        for assistant in ASSISTANTS:
            by, naive = alarms(assistant, scenarios, pairs=RUNS if sum(scenarios) < 500 else RUNS // 2)
            seen = power(assistant, scenarios)
            cells.append(
                f"{100 * by:.1f} ({100 * naive:.1f}), {'none told' if seen is None else f'{100 * seen:.0f}'}"
            )
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
