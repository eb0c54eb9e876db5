"""The charts of a suite with kinds: the figures of all settings, and predicted against true numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.reports.charts.charts import WIDTH, Tick
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.suite.panels import ScatterPanel
    from pytest_personalens.results.values.figures import Figure
    from pytest_personalens.results.values.results import Results

#: One figure alone is told by its table.
_LEAST: Final = 2
#: The margins of the chart of all settings, and the height of a row.
_TOP, _BOTTOM, _LEFT, _RIGHT, _ROW = 8, 24, 112, 12, 24
#: The letters of a label for which there is room; a longer one gives way to the heading of a column.
_LONGEST: Final = 16
#: The dots of a row stand a little above each other, so that equal ones are seen.
_APART: Final = 5
_COLOURS: Final = ("tc", "p", "other", "fourth")


class SettingDot(NamedTuple):
    """The value of a figure in one setting; `shape` tells the settings apart without colours."""

    x: float
    y: float
    colour: str
    shape: int
    text: str


class SettingsRow(NamedTuple):
    """A figure with its dots."""

    label: str
    y: float
    dots: list[SettingDot]


class SettingsChart(NamedTuple):
    """Rows on one scale; `keys` are the settings with their colours and shapes."""

    title: str
    width: int
    height: int
    top: int
    bottom: int
    ticks: list[Tick]
    rows: list[SettingsRow]
    keys: list[tuple[str, str, int]]


def settings_chart(results: Results, settings: Sequence[str]) -> SettingsChart | None:
    """Return the figures of a run and its controls on one scale; None if too few are in all of them. Errors
    have no highest value, so their skill stands for them. The scale ends at 1, and begins at 0 or at the
    quarter below the lowest value.
    """
    suite = results.of_suite
    every = [results.overall.figures, *(arm.overall.figures for arm in results.arms)]
    best = {m.measure.value if m.measure else m.name: m.label if len(m.label) <= _LONGEST else m.heading
            for m in suite.metrics if m.high == 1 and m.better == "high"}  # fmt: skip
    shown = [(key, label) for key, label in best.items() if all(_value(f, key) is not None for f in every)]
    if len(shown) < _LEAST or not results.arms:
        return None
    keys = [(name, colour, n) for n, (name, colour) in enumerate(zip(settings, _COLOURS, strict=False))]
    lowest = min(_value(figures, key) or 0.0 for figures in every for key, _ in shown)
    low = min(0.0, math.floor(lowest * 4) / 4)

    def across(value: float) -> float:
        return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * (value - low) / (1 - low), 1)

    rows = []
    for place, (key, label) in enumerate(shown):
        y = _TOP + _ROW * (place + 0.5)
        dots = []
        for (name, colour, shape), figures in zip(keys, every, strict=False):
            value = _value(figures, key) or 0.0
            height = round(y + _APART * (shape - (len(keys) - 1) / 2), 1)
            dots.append(SettingDot(across(value), height, colour, shape, f"{label}, {name}: {value:.2f}"))
        rows.append(SettingsRow(label, y, dots))
    bottom = _TOP + _ROW * len(shown)
    ticks = [Tick(across(low + n / 4), f"{low + n / 4:g}") for n in range(round((1 - low) * 4) + 1)]
    title = f"{count(len(shown), 'figure')} of each setting, 1 is best"
    return SettingsChart(title, WIDTH, bottom + _BOTTOM, _TOP, bottom, ticks, rows, keys)


def _value(figures: Mapping[str, Figure], key: str) -> float | None:
    return figures[key].value if key in figures else None


#: The frame of the scatter chart: its sides by their places, its top, its height and the space below.
_FROM, _TO, _BEGIN, _TALL, _FOOT = 52, WIDTH - 12, 12, 300, 40
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
    bottom, end = _BEGIN + _TALL, _signed_log(most)

    def x(number: float) -> float:
        return round(_FROM + (_TO - _FROM) * (_signed_log(number) + end) / (2 * end), 1)

    def y(number: float) -> float:
        return round(bottom - _TALL * (_signed_log(number) + end) / (2 * end), 1)

    places: defaultdict[tuple[float, float], list[str]] = defaultdict(list)
    for point in panel.points:
        label = f"{point.name}: {panel.true_is} {point.true:,g}, {panel.predicted_is} {point.predicted:,g}"
        places[x(point.true), y(point.predicted)].append(label)
    dots = [Dot(*place, len(labels), _told(labels)) for place, labels in sorted(places.items())]
    ticks, title = _ticks(most), ", ".join(filter(None, (panel.title, setting)))
    return ScatterChart(
        f"{title}: {len(panel.points):,} items", WIDTH, bottom + _FOOT, _FROM, _TO, _BEGIN, bottom,
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
