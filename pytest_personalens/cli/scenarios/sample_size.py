"""The command ``sample-size``: how many scenarios a comparison needs to find a drop."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import argument_type, command
from pytest_personalens.results.stats.paired import smallest_drop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SCENARIOS: Final = (10, 20, 30, 50, 100, 200, 500, 1000)
#: Task completion: the share of scenarios that flip between identical runs.
FLIPS: Final = (0.0, 0.1, 0.2)
#: Personalization: the standard deviation of the difference between identical runs.
DEVIATIONS: Final = (0.0, 0.5, 0.8)


def _share(text: str) -> float:
    number = 0.0
    with suppress(ValueError):
        number = float(text)
    if not 0 < number < 1:
        raise ValueError("expected a number between 0 and 1")
    return number


@command("sample-size", {"share": argument_type(_share, "found")})
def main(options: argparse.Namespace) -> int:
    """Print the table, and return 0."""
    print(*sample_size_table(level=options.level / options.tests, power=options.power), sep="\n")
    return 0


def sample_size_table(*, level: float, power: float) -> Iterator[str]:
    """Yield the lines of a Markdown table of the smallest drop by number of scenarios.

    The smallest drop is the one that a comparison finds with a probability of `power`, tested at `level`. A
    drop of task completion is in percentage points, a drop of personalization in points of its scale. A dash
    means that no drop would be found.
    """
    columns = [(f"TCR, {flips:.0%} flip", flips, 1, 100, 0) for flips in FLIPS]
    columns += [(f"P, sd {sd:g}", sd * sd, 3, 1, 2) for sd in DEVIATIONS]
    yield f"| scenarios | {' | '.join(head for head, *_ in columns)} |"
    yield "| ---: |" + " ---: |" * len(columns)
    for scenarios in SCENARIOS:
        cells = []
        for _, noise, most, times, digits in columns:
            drop = smallest_drop(noise, [1] * scenarios, level=level, power=power, most=most)
            cells.append("-" if drop is None else f"{times * drop:.{digits}f}")
        yield f"| {scenarios} | {' | '.join(cells)} |"
