"""The command ``python -m pytest_personalens sample-size``.

It shows how many scenarios a comparison needs to find a drop of a given size.
"""

from __future__ import annotations

import argparse
from math import sqrt
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, at_least
from pytest_personalens.results.stats.power import Noise, smallest_drop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCENARIOS: Final = (10, 20, 30, 50, 100, 200, 500, 1000)
#: Task completion: the share of scenarios that flip between identical runs.
FLIPS: Final = (0.0, 0.1, 0.2)
#: Personalization: the standard deviation of the difference between identical runs.
DEVIATIONS: Final = (0.0, 0.5, 0.8)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: print the table, and return 0."""
    options = _parser().parse_args(arguments)
    for line in sample_size_table(level=options.level / options.tests, power=options.power):
        print(line, flush=True)  # a row takes up to two seconds
    return 0


def sample_size_table(*, level: float, power: float) -> Iterator[str]:
    """Yield the lines of a Markdown table of the smallest drop by number of scenarios.

    The smallest drop is the one that a comparison finds with a probability of `power`, tested at `level`. A
    drop of task completion is in percentage points, a drop of personalization in points of its scale. A dash
    means that no drop would be found.
    """
    heads = [*(f"TCR, {flips:.0%} flip" for flips in FLIPS), *(f"P, sd {sd:g}" for sd in DEVIATIONS)]
    yield f"| scenarios | {' | '.join(heads)} |"
    yield "| ---: |" + " ---: |" * len(heads)
    for scenarios in SCENARIOS:
        rates = [
            smallest_drop(Noise.deviation(sqrt(flips)), [1] * scenarios, level=level, power=power)
            for flips in FLIPS
        ]
        means = [
            smallest_drop(Noise.deviation(sd), [1] * scenarios, level=level, power=power, most=3.0)
            for sd in DEVIATIONS
        ]
        cells = [*(_cell(drop, 100, 0) for drop in rates), *(_cell(drop, 1, 2) for drop in means)]
        yield f"| {scenarios} | {' | '.join(cells)} |"


def _cell(drop: float | None, times: int, digits: int) -> str:
    return "-" if drop is None else f"{times * drop:.{digits}f}"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens sample-size",
        description=(
            "Print, as Markdown, the smallest drop of the task completion rate (TCR, in percentage points)"
            " and of the mean personalization (P, in points) that a comparison of two runs finds, by the"
            " number of scenarios and by how much the scores of identical runs differ."
        ),
        example="personalens sample-size --power 0.9",
    )
    parser.add_argument(
        "--level",
        type=_share,
        default=0.05,
        help="false alarms in all comparisons without a change (default: 0.05)",
    )
    parser.add_argument(
        "--power", type=_share, default=0.8, help="the probability to find the drop (default: 0.8)"
    )
    parser.add_argument(
        "--tests",
        type=at_least(1),
        default=2,
        metavar="N",
        help="scores compared, which share the level (default: 2)",
    )
    return parser


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, found {text!r}")
    return number
