"""What a suite shows beside the figures of a run, as values that any page can draw."""

from __future__ import annotations

from typing import NamedTuple


class CountsPanel(NamedTuple):
    """A table of counts, such as a confusion matrix.

    `rows_are` and `columns_are` say what its rows and its columns stand for. Each row has a count for each
    of `columns`.
    """

    title: str
    note: str
    rows_are: str
    columns_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


class Point(NamedTuple):
    """An item with its true and its predicted number."""

    true: float
    predicted: float
    name: str


class ScatterPanel(NamedTuple):
    """Predicted against true numbers, on a logarithmic scale that keeps their signs."""

    title: str
    note: str
    true_is: str
    predicted_is: str
    points: tuple[Point, ...]


ItemsPanel = CountsPanel | ScatterPanel


class Published(NamedTuple):
    """The published figures of a kind of item.

    `metrics` names the columns. A row is its name and its figures, as they are printed there. `notes` say
    where they are from, and why each row is not comparable with a run.
    """

    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]
