"""The command ``python -m pytest_personalens sample-size``.

It shows how many scenarios a comparison needs to find a drop of a given size, or to exclude one.
"""

from __future__ import annotations

import argparse
from math import sqrt
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, at_least
from pytest_personalens.results.stats.non_inferiority import smallest_limit
from pytest_personalens.results.stats.power import Noise, smallest_drop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SCENARIOS: Final = (10, 20, 30, 50, 100, 200, 500, 1000)
#: Task completion: the share of scenarios that flip between identical runs.
FLIPS: Final = (0.0, 0.1, 0.2)
#: Personalization: the standard deviation of the difference between identical runs.
DEVIATIONS: Final = (0.0, 0.5, 0.8)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: print the table, and return 0."""
    options = _parser().parse_args(arguments)
    if options.gate == "drop":
        lines = drop_gate_table(level=options.level, power=options.power)
    else:
        lines = sample_size_table(level=options.level / options.tests, power=options.power)
    for line in lines:
        print(line, flush=True)  # a row takes up to ten seconds
    return 0


def sample_size_table(*, level: float, power: float) -> Iterator[str]:
    """Yield the lines of a Markdown table of the smallest drop by number of scenarios.

    The smallest drop is the one that a comparison finds with a probability of `power`, tested at `level`. A
    drop of task completion is in percentage points, a drop of personalization in points of its scale. A dash
    means that no drop would be found.
    """
    return _table(
        lambda noise, scenarios, span: smallest_drop(
            noise, [1] * scenarios, level=level, power=power, most=float(span)
        )
    )


def drop_gate_table(*, level: float, power: float) -> Iterator[str]:
    """Yield the lines of a table of the smallest value of a drop gate by number of scenarios.

    A run without a change keeps it with a probability of `power`. The units are those of `sample_size_table`.
    A dash means that no value would be kept.
    """
    return _table(
        lambda noise, scenarios, span: smallest_limit(noise, scenarios, span=span, level=level, power=power)
    )


def _table(smallest: Callable[[Noise, int, int], float | None]) -> Iterator[str]:
    heads = [*(f"TCR, {flips:.0%} flip" for flips in FLIPS), *(f"P, sd {sd:g}" for sd in DEVIATIONS)]
    yield f"| scenarios | {' | '.join(heads)} |"
    yield "| ---: |" + " ---: |" * len(heads)
    for scenarios in SCENARIOS:
        rates = [smallest(Noise.deviation(sqrt(flips)), scenarios, 1) for flips in FLIPS]
        means = [smallest(Noise.deviation(sd), scenarios, 3) for sd in DEVIATIONS]
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
            " number of scenarios and by how much the scores of identical runs differ. With --gate drop: the"
            " smallest VALUE of a gate drop(METRIC) <= VALUE that a run without a change passes."
        ),
        example="personalens sample-size --gate drop",
    )
    parser.add_argument(
        "--gate",
        choices=("regression", "drop"),
        default="regression",
        help="which gate: the one against a baseline, or drop(METRIC) <= VALUE (default: regression)",
    )
    parser.add_argument(
        "--level",
        type=_share,
        default=0.05,
        help="the gate's error: false alarms in all comparisons, or of a drop gate, passes (default: 0.05)",
    )
    parser.add_argument(
        "--power",
        type=_share,
        default=0.8,
        help="the probability to find the drop, or to pass (default: 0.8)",
    )
    parser.add_argument(
        "--tests",
        type=at_least(1),
        default=2,
        metavar="N",
        help="scores compared, which share the level; drop gates do not (default: 2)",
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
