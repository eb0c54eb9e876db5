"""How many dialogues went from which personalization to which, for the page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.results.reasons.earlier import earlier_of

if TYPE_CHECKING:
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_P: Final = Dimension.PERSONALIZATION


class MoveCell(NamedTuple):
    """Dialogues with one score before and one score now."""

    before: int
    now: int
    dialogues: int

    @property
    def way(self) -> Literal["worse", "better", "same"]:
        """What became of these dialogues."""
        return "same" if self.now == self.before else "worse" if self.now < self.before else "better"


class Moves(NamedTuple):
    """A row for each score before, with a cell for each score now; `source` is what the old ones are from."""

    rows: list[list[MoveCell]]
    source: Literal["record", "baseline"]

    def total(self, way: str = "") -> int:
        """How many dialogues went that way; all of them without one."""
        return sum(cell.dialogues for row in self.rows for cell in row if way in ("", cell.way))


def personalization_before(item: Item) -> int | None:
    """The personalization of a scored item before this run; None where it is not known."""
    earlier = earlier_of(item) if item.evaluation.scored else None
    score = None if earlier is None else earlier.scores.get(_P)
    return None if score is None else int(score)


def moves_of(results: Results) -> Moves | None:
    """The moves on personalization in the run itself; None where no dialogue is known to have moved."""
    pairs = Counter[tuple[int, int]]()
    for item in results.own:
        before, now = personalization_before(item), item.evaluation.personalization
        if before is not None and now is not None:
            pairs[before, now] += 1
    if all(before == now for before, now in pairs):
        return None
    steps = range(_P.scale.low, _P.scale.high + 1)
    rows = [[MoveCell(before, now, pairs[before, now]) for now in steps] for before in steps]
    sources = {earlier.source for item in results.own if (earlier := earlier_of(item)) is not None}
    return Moves(rows, "baseline" if "baseline" in sources else "record")
