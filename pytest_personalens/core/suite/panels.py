"""What a suite shows beside the figures of a run, as values that any page can draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


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


class Distance(NamedTuple):
    """How long before the end a user said what an item rests on.

    `of` returns that for a scenario, or None if nobody knows. `title` says what it counts. A range ends at
    each of `steps`, and the last range is open. Without steps, each number is a range.
    """

    title: str
    steps: tuple[int, ...]
    of: Callable[[Any], int | None]

    def range_of(self, far: int) -> str:
        """Return the name of the range of a number, such as ``8 to 30``."""
        if not self.steps:
            return f"{far:,}"
        place = sum(far > step for step in self.steps)
        if place == 0:
            return f"up to {self.steps[0]:,}"
        low, *high = self.steps[place - 1 : place + 1]
        return f"{low + 1:,} to {high[0]:,}" if high else f"over {low:,}"


class Published(NamedTuple):
    """The published figures of a kind of item.

    `metrics` names the columns. A row is its name and its figures, as they are printed there. `notes` say
    where they are from, and why each row is not comparable with a run.
    """

    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]
