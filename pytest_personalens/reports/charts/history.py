"""The runs of a history as a line chart, whose coordinates are CSS pixels, and as a badge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.reports.content.history import estimate_text, gates_text

if TYPE_CHECKING:
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.files.history import History, Run

WIDTH: Final = 900
HEIGHT: Final = 230
LEFT, RIGHT, TOP, BOTTOM = 40, 16, 22, 34
#: The highest number of dates below a chart.
_MOST_DATES: Final = 9
_MOST_TICKS: Final = 6


class Point(NamedTuple):
    """A run's mean and its interval. `kind` is "passed", "failed", or "open" if no gate decided."""

    x: float
    y: float
    low: float | None
    high: float | None
    kind: str
    title: str


class Label(NamedTuple):
    """A few characters at a place along an axis."""

    at: float
    text: str


class LineChart(NamedTuple):
    """A chart of one mean: points of polylines (`lines`, `floors`), and marks between runs (`breaks`,
    `changes`).
    """

    title: str
    points: list[Point]
    lines: list[str]
    floors: list[str]
    breaks: list[Label]
    changes: list[Label]
    ticks: list[Label]
    dates: list[Label]


def runs_with_marks(history: History) -> list[Run]:
    """Return the runs in which something changed. They have marks in a chart, numbered from 1."""
    return [run for run in history.runs if run.breaks or run.changes]


def line_chart(history: History, number: int, dimension: Measure) -> LineChart:
    """Return the chart of the estimate with this number."""
    runs, (lowest, highest) = history.runs, _range(history, number, dimension)
    step = (WIDTH - LEFT - RIGHT) / len(runs)
    xs = [round(LEFT + step * (place + 0.5), 1) for place in range(len(runs))]

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (highest - value) / (highest - lowest), 1)

    points: list[Point] = []
    lines: list[list[str]] = [[]]
    floors = []
    marks: dict[bool, list[Label]] = {True: [], False: []}
    for x, run in zip(xs, runs, strict=True):
        if run.breaks or run.changes:
            label = Label(round(x - step / 2, 1), str(sum(map(len, marks.values())) + 1))
            marks[bool(run.breaks)].append(label)
        if run.breaks:
            lines.append([])
        if (floor := run.limits[number]) is not None:
            floors.append(f"{x - step / 2:.1f},{y(floor)} {x + step / 2:.1f},{y(floor)}")
        estimate = run.estimates[number]
        if estimate.value is not None:
            low, high = (None if end is None else y(end) for end in (estimate.low, estimate.high))
            mean = f"{dimension.names.mean} {estimate_text(estimate)}"
            title = f"{run.provenance.day} {run.label}: {mean}, {gates_text(run)}"
            points.append(Point(x, y(estimate.value), low, high, _outcome(run), title))
            if run.whole:  # the mean of a part says nothing about a trend of the whole
                lines[-1].append(f"{x},{y(estimate.value)}")
    ticks = [lowest, (lowest + highest) / 2, highest]
    if float(highest - lowest).is_integer() and 2 <= highest - lowest <= _MOST_TICKS:
        ticks = [lowest + tick for tick in range(int(highest - lowest) + 1)]
    every = -(-len(runs) // _MOST_DATES)
    return LineChart(
        f"{dimension.names.mean} of {len(runs)} runs, with 95 % intervals",
        points,
        [" ".join(line) for line in lines if len(line) > 1],
        floors,
        marks[True],
        marks[False],
        [Label(y(tick), f"{tick:g}") for tick in ticks],
        [Label(x, r.provenance.day or r.label[:10]) for x, r in zip(xs, runs, strict=True)][::every],
    )


def _range(history: History, number: int, measure: Measure) -> tuple[float, float]:
    """Return the ends of the measure's range. A missing end is that of the means and intervals."""
    seen = [
        value
        for run in history.runs
        for value in (*run.estimates[number][:3], run.limits[number])
        if value is not None
    ]
    low = min(seen, default=0.0) if measure.low is None else measure.low
    high = max(seen, default=1.0) if measure.high is None else measure.high
    return low, high if high > low else low + 1


def _outcome(run: Run) -> str:
    if run.failed:
        return "failed"
    return "passed" if run.gates and run.whole else "open"


_NAME: Final = "personalens"
_BADGES: Final = {
    "passed": ("#14692f", "gates passed"),
    "failed": ("#b0261c", "gates failed"),
    "open": ("#5a5f66", "no gate decided"),
}
#: The width of most letters of the 11 px font, and the space on each side, in CSS pixels.
_LETTER, _SPACE = 6.6, 8


def badge_svg(history: History) -> str:
    """Return the badge of the last run. White text has a contrast of at least 6 to 1 on each colour."""
    run = history.runs[-1]
    figures = [
        f"{dimension.names.mean} {estimate.value:.2f}"
        for dimension, estimate in zip(history.measures, run.estimates, strict=True)
        if estimate.value is not None and run.whole
    ]
    scores = " \N{MIDDLE DOT} ".join(figures) or "not decided"
    colour, outcome = _BADGES[_outcome(run)]
    label = f"{_NAME}: {scores}, {outcome}"
    left, right = (round(_LETTER * len(text)) + 2 * _SPACE for text in (_NAME, scores))
    width = left + right
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20"
role="img" aria-label="{label}">
<!-- pytest-personalens badge -->
<title>{label}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="20" fill="#3b3f45"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{left / 2}" y="14" textLength="{left - 2 * _SPACE}">{_NAME}</text>
<text x="{left + right / 2}" y="14" textLength="{right - 2 * _SPACE}">{scores}</text>
</g>
</svg>
"""
