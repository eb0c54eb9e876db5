"""The charts of the HTML report, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.safe_text import harmless
from pytest_personalens.reports.svg import BAD, INK, RULE, SOFT, inline_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_personalens.results.means import Estimate

#: The width in CSS pixels. It fits a phone, so that the text can be read there. Three charts fit next to each
#: other on a desktop.
WIDTH: Final = 400
_ROW: Final = 21
_LONGEST_LABEL: Final = 18
#: The highest number of points of a line with their values as text.
_MOST_TOLD: Final = 7
_SMALL: Final = 11.5
_TEXT: Final = 12.5


class Panel(NamedTuple):
    """A scale for the dots of rows, from `low` to `high`.

    It has a line at `mean`, and a dashed line at `floor`.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    colour: str
    mean: float | None = None
    floor: float | None = None


class DotRow(NamedTuple):
    """A row of a dot chart: name, note, and an estimate for each panel."""

    label: str
    note: str
    estimates: Sequence[Estimate]


class Histogram(NamedTuple):
    """The number of times that each score of a scale was given.

    `ticks` are the names of the scores.
    """

    label: str
    ticks: Sequence[str]
    counts: Sequence[int]
    colour: str


def dots(rows: Sequence[DotRow], panels: Sequence[Panel], *, name: str, title: str) -> str:
    """Return a chart with a line for each of `rows`.

    Each line has a dot with its interval in each of `panels`.
    """
    top, bottom, left, gap = 30, 26, 158, 20
    height = top + bottom + _ROW * len(rows)
    figure = _figure(height)
    wide = (WIDTH - left - 8 - gap * (len(panels) - 1)) / len(panels)
    for number, panel in enumerate(panels):
        axes = _axes(figure, left + number * (wide + gap), top, wide, _ROW * len(rows))
        axes.set_xlim(
            panel.low - 0.03 * (panel.high - panel.low), panel.high + 0.03 * (panel.high - panel.low)
        )
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks([])
        axes.set_xticks(list(panel.ticks), [f"{t:g}" for t in panel.ticks])
        axes.grid(visible=True, axis="x", color=RULE, linewidth=1)
        axes.text(
            0,
            1 + 10 / (_ROW * len(rows)),
            panel.label,
            transform=axes.transAxes,
            fontsize=_TEXT,
            fontweight="bold",
            color=INK,
        )
        if panel.mean is not None:
            axes.axvline(panel.mean, color=SOFT, linewidth=1)
        if panel.floor is not None:
            axes.axvline(panel.floor, color=BAD, linewidth=1, linestyle=(0, (4, 3)))
        for place, row in enumerate(rows):
            _dot(axes, place, row.estimates[number], panel.colour)
            if not number:
                label = harmless(row.label)
                label = (
                    label
                    if len(label) <= _LONGEST_LABEL
                    else label[: _LONGEST_LABEL - 1] + "\N{HORIZONTAL ELLIPSIS}"
                )
                across = ("axes fraction", "data")
                _beside(
                    axes,
                    label,
                    (0, place),
                    (-left + 2, 0),
                    coords=across,
                    ha="left",
                    va="center",
                    fontsize=_TEXT,
                    color=INK,
                )
                _beside(
                    axes, row.note, (0, place), (-10, 0), coords=across, ha="right", va="center", color=SOFT
                )
    return inline_svg(figure, name=name, title=title)


def histograms(shown: Sequence[Histogram], *, name: str, title: str) -> str:
    """Return a chart with columns of counts, two histograms in a row."""
    columns, gap, tall, head, foot = min(2, len(shown)), 26, 70, 44, 24
    lines = -(-len(shown) // columns)
    figure = _figure(lines * (tall + head + foot))
    wide = (WIDTH - gap * (columns - 1)) / columns
    for number, histogram in enumerate(shown):
        line, column = divmod(number, columns)
        axes = _axes(figure, column * (wide + gap), line * (tall + head + foot) + head, wide, tall)
        axes.set_xlim(-0.6, len(histogram.counts) - 0.4)
        axes.set_ylim(0, max([1, *histogram.counts]))
        axes.set_yticks([])
        axes.set_xticks(range(len(histogram.ticks)), list(histogram.ticks))
        axes.bar(range(len(histogram.counts)), histogram.counts, width=0.72, color=histogram.colour)
        axes.axhline(0, color=SOFT, linewidth=1)
        axes.text(
            0,
            1 + 24 / tall,
            histogram.label,
            transform=axes.transAxes,
            fontsize=_TEXT,
            fontweight="bold",
            color=INK,
        )
        for place, count in enumerate(histogram.counts):
            _beside(axes, f"{count:,}", (place, count), (0, 4), ha="center", color=SOFT)
    return inline_svg(figure, name=name, title=title)


def line(points: Sequence[Estimate], scale: Panel, *, name: str, title: str, below: str, counts: bool) -> str:
    """Return a chart of `points` 1, 2, ... as a line with their intervals.

    With `counts`, it shows the number of dialogues under each point.
    """
    left, top, tall, foot = 30, 14, 190, 58 if counts else 42
    step = -(-len(points) // _MOST_TOLD)
    figure = _figure(top + tall + foot)
    axes = _axes(figure, left, top, WIDTH - left - 12, tall)
    places = range(1, len(points) + 1)
    axes.set_xlim(0.6, max(len(points), 2) + 0.4)
    axes.set_ylim(scale.low - 0.04 * (scale.high - scale.low), scale.high + 0.04 * (scale.high - scale.low))
    axes.set_yticks(list(scale.ticks), [f"{t:g}" for t in scale.ticks])
    labelled = list(places)[::step]
    axes.set_xticks(labelled, [f"{n}\n({points[n - 1].dialogues:,})" if counts else f"{n}" for n in labelled])
    axes.set_xlabel(below, fontsize=_SMALL, color=SOFT, labelpad=4)
    axes.grid(visible=True, axis="y", color=RULE, linewidth=1)
    known = [(n, p.value) for n, p in zip(places, points, strict=True) if p.value is not None]
    axes.plot([n for n, _ in known], [v for _, v in known], color=scale.colour, linewidth=1.6)
    for n, point in zip(places, points, strict=True):
        if point.value is not None:
            if point.low is not None and point.high is not None:
                _span(axes, [n, n], [point.low, point.high], scale.colour)
            axes.plot([n], [point.value], "o", markersize=6.5, color=scale.colour)
            if n in labelled:
                _beside(axes, f"{point.value:.2f}", (n, point.value), (7, 6), color=INK)
    return inline_svg(figure, name=name, title=title)


def strip(estimate: Estimate, panel: Panel, *, name: str, title: str) -> str:
    """Return one dot with its interval on its scale, for a single large figure."""
    figure = _figure(30, width=220)
    axes = _axes(figure, 6, 2, 208, 12)
    axes.set_xlim(panel.low, panel.high)
    axes.set_ylim(0.5, -0.5)
    axes.set_yticks([])
    axes.set_xticks(list(panel.ticks), [f"{t:g}" for t in panel.ticks])
    axes.axhline(0, color=RULE, linewidth=2)
    if panel.floor is not None:
        axes.axvline(panel.floor, color=BAD, linewidth=1.4, clip_on=False)
    _dot(axes, 0, estimate, panel.colour)
    return inline_svg(figure, name=name, title=title)


def _dot(axes: Axes, place: float, estimate: Estimate, colour: str) -> None:
    if estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        _span(axes, [estimate.low, estimate.high], [place, place], colour)
    axes.plot([estimate.value], [place], "o", markersize=6.5, color=colour, clip_on=False)


def _span(axes: Axes, x: Sequence[float], y: Sequence[float], colour: str) -> None:
    axes.plot(x, y, color=colour, linewidth=5, alpha=0.28, solid_capstyle="round", clip_on=False)


def _beside(
    axes: Axes,
    words: str,
    at: tuple[float, float],
    off: tuple[float, float],
    *,
    coords: Any = "data",
    **style: Any,
) -> None:
    # Names may hold dollar signs, which are no formulas.
    style = {"fontsize": _SMALL, "parse_math": False, "annotation_clip": False, **style}
    axes.annotate(words, at, xycoords=coords, xytext=off, textcoords="offset points", **style)


def _figure(height: float, *, width: float = WIDTH) -> Figure:
    # The figure is not made by pyplot, which shares state and looks for a display.
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72, height / 72), dpi=72, frameon=False)


def _axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Return axes without a frame at a place in pixels from the upper left corner."""
    across, down = figure.get_size_inches() * 72
    axes = figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down), frameon=False
    )
    axes.tick_params(length=0, labelsize=_SMALL, labelcolor=SOFT)
    axes.set_axisbelow(True)
    return axes
