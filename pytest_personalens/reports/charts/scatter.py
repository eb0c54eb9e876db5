"""Where the marks of a scatter of predicted against true numbers are; `charts.html.jinja` draws them."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.reports.charts.charts import WIDTH, Tick

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.suite.panels import ScatterPanel

_LEFT, _RIGHT, _TOP, _TALL, _FOOT = 52, WIDTH - 12, 12, 300, 40
_MOST_NAMED: Final = 3


class Dot(NamedTuple):
    """All items at one place: their number, and what a pointer reads there."""

    x: float
    y: float
    items: int
    text: str


class ScatterChart(NamedTuple):
    """Dots between a line at 0 for each axis, and the diagonal on which a prediction is exact."""

    title: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    across: list[Tick]
    up: list[Tick]
    zero: tuple[float, float]
    dots: list[Dot]
    below: str


def extent(panels: Iterable[ScatterPanel]) -> float:
    """Return the largest amount of a number in any of the panels, at least 10. Panels that stand side by side
    have one scale.
    """
    return max([10.0, *(abs(n) for panel in panels for one in panel.points for n in one[:2])])


def scatter(panel: ScatterPanel, most: float, setting: str) -> ScatterChart:
    """Place the points of a panel on axes from -`most` to `most`, on the scale sign(x) ln(1 + abs(x))."""
    bottom, end = _TOP + _TALL, _signed_log(most)

    def x(number: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (_signed_log(number) + end) / (2 * end), 1)

    def y(number: float) -> float:
        return round(bottom - _TALL * (_signed_log(number) + end) / (2 * end), 1)

    places: defaultdict[tuple[float, float], list[str]] = defaultdict(list)
    for point in panel.points:
        label = f"{point.name}: {panel.true_is} {point.true:,g}, {panel.predicted_is} {point.predicted:,g}"
        places[x(point.true), y(point.predicted)].append(label)
    dots = [Dot(*place, len(labels), _told(labels)) for place, labels in sorted(places.items())]
    ticks, title = _ticks(most), ", ".join(filter(None, (panel.title, setting)))
    return ScatterChart(
        f"{title}: {len(panel.points):,} items", WIDTH, bottom + _FOOT, _LEFT, _RIGHT, _TOP, bottom,
        [Tick(x(n), _number(n)) for n in ticks], [Tick(y(n), _number(n)) for n in ticks],
        (x(0), y(0)), dots, panel.true_is,
    )  # fmt: skip


def _ticks(most: float) -> list[float]:
    """Return 0 and the powers of ten up to `most`, with both signs; every other one if they are many."""
    powers = range(1, int(math.log10(most)) + 1)
    shown = [10.0**power for power in powers[:: -(-len(powers) // 4)]]
    return [*(-n for n in reversed(shown)), 0.0, *shown]


def _number(number: float) -> str:
    short = f"{abs(number):,.0f}" if abs(number) < 1e6 else f"{abs(number):.0e}".replace("e+0", "e")
    return f"\N{MINUS SIGN}{short}" if number < 0 else short


def _told(labels: list[str]) -> str:
    more = len(labels) - _MOST_NAMED
    return "\n".join([*labels[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else ())])


def _signed_log(number: float) -> float:
    return math.copysign(math.log1p(abs(number)), number)
