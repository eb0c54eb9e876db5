"""The command ``sample-size``: how many scenarios a comparison needs to find a drop, or to exclude one."""

from __future__ import annotations

from contextlib import suppress
from math import sqrt
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import argument_type, command
from pytest_personalens.results.stats.non_inferiority import smallest_limit
from pytest_personalens.results.stats.power import Noise, smallest_drop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

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
