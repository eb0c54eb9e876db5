"""Where the marks of a chart are, in CSS pixels; `charts.html.jinja` draws them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.figures import Figure
    from pytest_personalens.results.values.results import Results

#: The colours of marks, as classes of the page's style.
TC: Final = "tc"
P: Final = "p"
SOFT: Final = "other"
#: As wide as a phone has room for, so that text can be read there; three stand side by side on a desk.
WIDTH: Final = 400
_TOP, _BOTTOM, _LEFT, _GAP = 28, 24, 158, 20
_ROW: Final = 21
_LONGEST_LABEL: Final = 20
#: Points of a line that have their figure beside them.
_MOST_TOLD: Final = 7


class Panel(NamedTuple):
    """A scale from `low` to `high`, with a line at `mean` and a dashed one at `floor`."""

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    colour: str
    mean: float | None = None
    floor: float | None = None


class DotRow(NamedTuple):
    """A row of a chart: its name, a remark beside it, and an estimate for each panel."""

    label: str
    note: str
    estimates: Sequence[Estimate]


class PairRow(NamedTuple):
    """Two means of the same scenarios for each panel, None where there are none: before and after."""

    label: str
    note: str
    pairs: Sequence[tuple[float, float] | None]


class Histogram(NamedTuple):
    """How often each score of a scale was given; `ticks` are its scores by name."""

    label: str
    ticks: Sequence[str]
    counts: Sequence[int]
    colour: str


class Tick(NamedTuple):
    """A few characters at a place along an axis."""

    at: float
    text: str


class Mark(NamedTuple):
    """A value at `at`, as `text`; its interval or its partner from `low` to `high`, None for neither."""

    at: float
    low: float | None
    high: float | None
    text: str


class PlacedPanel(NamedTuple):
    """A panel from `left` to `right`; `mean` and `floor` are places, None where it has none."""

    label: str
    colour: str
    left: float
    right: float
    ticks: list[Tick]
    mean: float | None
    floor: float | None


class PlacedRow(NamedTuple):
    """A row at `y`, with a mark for each panel; None where there is no value."""

    y: float
    label: str
    note: str
    marks: list[Mark | None]


class RowChart(NamedTuple):
    """Rows with marks in panels that stand side by side; `kind` is dots or pairs."""

    kind: str
    title: str
    width: int
    height: int
    top: int
    bottom: int
    panels: list[PlacedPanel]
    rows: list[PlacedRow]


class Strip(NamedTuple):
    """One mark on its scale: the figure beside a big number."""

    title: str
    panel: PlacedPanel
    mark: Mark | None


class Column(NamedTuple):
    """A column of a histogram: its left edge and its top, and what stands above and below it."""

    x: float
    y: float
    number: str
    tick: str


class PlacedHistogram(NamedTuple):
    """A histogram with its upper left corner at `x` and `y`."""

    label: str
    colour: str
    x: float
    y: float
    columns: list[Column]


class HistogramChart(NamedTuple):
    """Histograms, two abreast, each `wide` and `tall`; a column is `column` wide."""

    title: str
    height: int
    wide: float
    tall: int
    column: float
    charts: list[PlacedHistogram]


class LinePoint(NamedTuple):
    """A point with its interval, its figure and what stands below it, each empty where there is no room."""

    x: float
    y: float
    low: float | None
    high: float | None
    text: str
    below: list[str]


class LineChart(NamedTuple):
    """Points with their intervals; `lines` join those that are over the same dialogues."""

    title: str
    colour: str
    height: int
    left: int
    base: float
    ticks: list[Tick]
    points: list[LinePoint]
    lines: list[str]
    below: str


def dots(rows: Sequence[DotRow], panels: Sequence[Panel], title: str) -> RowChart:
    """A dot with its interval in each of `panels` for each of `rows`."""
    placed = _side_by_side(panels)
    marks = [
        [_mark(e, panel, place) for e, panel, place in zip(row.estimates, panels, placed, strict=True)]
        for row in rows
    ]
    return _row_chart("dots", title, rows, placed, marks)


def pairs(rows: Sequence[PairRow], panels: Sequence[Panel], title: str) -> RowChart:
    """Two dots and what lies between them in each of `panels` for each of `rows`."""
    placed = _side_by_side(panels)
    marks: list[list[Mark | None]] = []
    for row in rows:
        marks.append([])
        for pair, panel, place in zip(row.pairs, panels, placed, strict=True):
            if pair is None:
                marks[-1].append(None)
                continue
            before, after = (_across(value, panel, place.left, place.right) for value in pair)
            marks[-1].append(Mark(after, before, after, f"{pair[0]:.2f} to {pair[1]:.2f}"))
    return _row_chart("pairs", title, rows, placed, marks)


def strip(estimate: Estimate, panel: Panel, title: str) -> Strip:
    """One dot with its interval on its scale."""
    placed = _placed(panel, 6, 214)
    return Strip(title, placed, _mark(estimate, panel, placed))


def histograms(shown: Sequence[Histogram], title: str) -> HistogramChart:
    """Columns of counts, two charts abreast."""
    abreast, gap, tall, head, foot = min(2, len(shown)), 26, 70, 42, 24
    wide = (WIDTH - gap * (abreast - 1)) / abreast
    placed = []
    for number, histogram in enumerate(shown):
        line, place = divmod(number, abreast)
        step, most = wide / len(histogram.counts), max([1, *histogram.counts])
        columns = [
            Column(_px(step * n), _px(tall - tall * count / most), f"{count:,}", tick)
            for n, (count, tick) in enumerate(zip(histogram.counts, histogram.ticks, strict=True))
        ]
        x, y = _px(place * (wide + gap)), line * (tall + head + foot) + head
        placed.append(PlacedHistogram(histogram.label, histogram.colour, x, y, columns))
    # The longest scale has the narrowest columns; all of a chart are drawn alike.
    column = _px(0.72 * wide / max(len(h.counts) for h in shown))
    height = -(-len(shown) // abreast) * (tall + head + foot)
    return HistogramChart(title, height, _px(wide), tall, column, placed)


def line(
    points: Sequence[Estimate], scale: Panel, title: str, *, below: str, counts: bool = False
) -> LineChart:
    """`points` 1, 2, ... with their intervals; with `counts`, the number of dialogues under each."""
    left, top, tall, foot = 30, 14, 190, 58 if counts else 42
    step = (WIDTH - left - 12) / max(len(points), 2)
    named_every = -(-len(points) // _MOST_TOLD)

    def y(value: float) -> float:
        return _px(top + 6 + (tall - 12) * (scale.high - value) / (scale.high - scale.low))

    placed: list[LinePoint] = []
    joined: list[list[str]] = []
    before: Estimate | None = None
    for number, point in enumerate(points):
        if point.value is None:
            before = None
            continue
        x, ends = _px(left + step * (number + 0.5)), (point.low, point.high)
        named = number % named_every == 0
        words = [str(number + 1), *([f"({point.dialogues:,})"] if counts else [])] if named else []
        low, high = (None if end is None else y(end) for end in ends)
        placed.append(LinePoint(x, y(point.value), low, high, f"{point.value:.2f}" if named else "", words))
        # A line between means over other dialogues would show who is left, not what changed.
        if before is None or before.dialogues != point.dialogues:
            joined.append([])
        joined[-1].append(f"{x},{y(point.value)}")
        before = point
    ticks = [Tick(y(tick), f"{tick:g}") for tick in scale.ticks]
    lines = [" ".join(places) for places in joined if len(places) > 1]
    return LineChart(title, scale.colour, top + tall + foot, left, top + tall, ticks, placed, lines, below)


def _row_chart(
    kind: str,
    title: str,
    rows: Sequence[DotRow | PairRow],
    panels: list[PlacedPanel],
    marks: list[list[Mark | None]],
) -> RowChart:
    placed = []
    for n, row in enumerate(rows):
        long = len(row.label) > _LONGEST_LABEL
        label = f"{row.label[: _LONGEST_LABEL - 1]}…" if long else row.label
        placed.append(PlacedRow(_TOP + _ROW * (n + 0.5), label, row.note, marks[n]))
    bottom = _TOP + _ROW * len(rows)
    return RowChart(kind, title, WIDTH, bottom + _BOTTOM, _TOP, bottom, panels, placed)


def _side_by_side(panels: Sequence[Panel]) -> list[PlacedPanel]:
    wide = (WIDTH - _LEFT - 8 - _GAP * (len(panels) - 1)) / len(panels)
    lefts = [_LEFT + number * (wide + _GAP) for number in range(len(panels))]
    return [_placed(panel, at, at + wide) for panel, at in zip(panels, lefts, strict=True)]


def _placed(panel: Panel, left: float, right: float) -> PlacedPanel:
    def x(value: float | None) -> float | None:
        return None if value is None else _across(value, panel, left, right)

    ticks = [Tick(_across(tick, panel, left, right), f"{tick:g}") for tick in panel.ticks]
    ends = _px(left), _px(right)
    return PlacedPanel(panel.label, panel.colour, *ends, ticks, x(panel.mean), x(panel.floor))


def _mark(estimate: Estimate, panel: Panel, place: PlacedPanel) -> Mark | None:
    if estimate.value is None:
        return None
    low, high = (
        None if end is None else _across(end, panel, place.left, place.right)
        for end in (estimate.low, estimate.high)
    )
    at = _across(estimate.value, panel, place.left, place.right)
    return Mark(at, low, high, f"{estimate.value:.2f}")


def _across(value: float, panel: Panel, left: float, right: float) -> float:
    return _px(left + (right - left) * (value - panel.low) / (panel.high - panel.low))


def _px(value: float) -> float:
    return round(value, 1)


#: One figure alone is told by its table.
_LEAST: Final = 2
#: The margins of the chart of all settings, and the height of a row.
_SETTINGS_TOP, _SETTINGS_BOTTOM, _SETTINGS_LEFT, _RIGHT, _SETTINGS_ROW = 8, 24, 112, 12, 24
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
        return round(_SETTINGS_LEFT + (WIDTH - _SETTINGS_LEFT - _RIGHT) * (value - low) / (1 - low), 1)

    rows = []
    for place, (key, label) in enumerate(shown):
        y = _SETTINGS_TOP + _SETTINGS_ROW * (place + 0.5)
        dots = []
        for (name, colour, shape), figures in zip(keys, every, strict=False):
            value = _value(figures, key) or 0.0
            height = round(y + _APART * (shape - (len(keys) - 1) / 2), 1)
            dots.append(SettingDot(across(value), height, colour, shape, f"{label}, {name}: {value:.2f}"))
        rows.append(SettingsRow(label, y, dots))
    bottom = _SETTINGS_TOP + _SETTINGS_ROW * len(shown)
    ticks = [Tick(across(low + n / 4), f"{low + n / 4:g}") for n in range(round((1 - low) * 4) + 1)]
    title = f"{count(len(shown), 'figure')} of each setting, 1 is best"
    return SettingsChart(title, WIDTH, bottom + _SETTINGS_BOTTOM, _SETTINGS_TOP, bottom, ticks, rows, keys)


def _value(figures: Mapping[str, Figure], key: str) -> float | None:
    return figures[key].value if key in figures else None
