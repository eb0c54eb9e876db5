"""Where the marks of a radar are: an axis for each figure that is 1 at best, a polygon for each setting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.reports.charts import WIDTH
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.results.figures import Figure
    from pytest_personalens.results.values import Results

#: Fewer axes make no polygon.
_LEAST: Final = 3
_MIDDLE: Final = (WIDTH / 2, 160.0)
_RADIUS: Final = 115.0
_HEIGHT: Final = 320
_RINGS: Final = (0.25, 0.5, 0.75, 1.0)
_COLOURS: Final = ("tc", "p", "other", "fourth")


class Axis(NamedTuple):
    """An axis from the middle to `x`, `y`, with its label and the side on which the label stands."""

    x: float
    y: float
    label: str
    label_x: float
    label_y: float
    side: str


class Polygon(NamedTuple):
    """A setting, with its corners as text and its values as text."""

    setting: str
    colour: str
    corners: str
    text: str


class Radar(NamedTuple):
    """Rings at quarters of the scale, axes, and polygons in the order of the settings."""

    title: str
    width: int
    height: int
    middle: tuple[float, float]
    rings: list[str]
    axes: list[Axis]
    polygons: list[Polygon]


def radar(results: Results, settings: Sequence[str]) -> Radar | None:
    """Return the radar of a run and its controls; None if too few figures are in all of them.

    Errors have no highest value, so their skill stands for them. A value below 0 is drawn at 0.
    """
    suite = results.of_suite
    every = [results.overall.figures, *(arm.overall.figures for arm in results.arms)]
    best = {metric.measure.value if metric.measure else metric.name: metric.label for metric in suite.metrics
            if metric.high == 1 and metric.better == "high"}  # fmt: skip
    shown = [(key, label) for key, label in best.items() if all(_value(f, key) is not None for f in every)]
    if len(shown) < _LEAST:
        return None
    turns = [2 * math.pi * place / len(shown) for place in range(len(shown))]
    polygons = [
        Polygon(
            setting, colour, _corners(turns, [_value(f, key) or 0.0 for key, _ in shown]), _told(f, shown)
        )
        for setting, colour, f in zip(settings, _COLOURS, every, strict=False)
    ]
    return Radar(
        f"{count(len(shown), 'figure')} of each setting, 1 is best", WIDTH, _HEIGHT, _MIDDLE,
        [_corners(turns, [ring] * len(turns)) for ring in _RINGS],
        [_axis(turn, label) for turn, (_, label) in zip(turns, shown, strict=True)], polygons,
    )  # fmt: skip


def _value(figures: Mapping[str, Figure], key: str) -> float | None:
    return figures[key].value if key in figures else None


def _told(figures: Mapping[str, Figure], shown: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{label} {_value(figures, key):.2f}" for key, label in shown)


def _corners(turns: Sequence[float], values: Sequence[float]) -> str:
    places = (_place(turn, min(max(value, 0.0), 1.0)) for turn, value in zip(turns, values, strict=True))
    return " ".join(f"{x},{y}" for x, y in places)


def _axis(turn: float, label: str) -> Axis:
    (x, y), (label_x, label_y) = _place(turn, 1.0), _place(turn, 1.1)
    across = math.sin(turn)
    side = "mid" if abs(across) < 0.2 else "start" if across > 0 else "end"
    return Axis(x, y, label, label_x, round(label_y + 4, 1), side)


def _place(turn: float, value: float) -> tuple[float, float]:
    """Return the place of a value on an axis; the first axis points up, and the next is to its right."""
    x, y = _MIDDLE
    away = _RADIUS * value
    return round(x + away * math.sin(turn), 1), round(y - away * math.cos(turn), 1)
