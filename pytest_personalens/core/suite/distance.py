"""How far back lies what an item rests on, as ranges by which reports show figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


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
