"""The chart of a suite with kinds: the figures of all settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.reports.charts.charts import WIDTH, Tick
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
