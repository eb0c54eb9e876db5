"""Figures of a run that a gate may use: the mean of a measure, or a function of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_personalens.core.judging.measure import Better, Exact, Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.judging.evaluation import Answer

#: Numbers of one answer or of several together, as exact as a test of a lift needs them.
Row = tuple[Exact, ...]


@dataclass(frozen=True)
class OfSums:
    """A figure of answers that depends only on sums over them, such as F1 on its four counts.

    `rows` gives the numbers of each answer, 0 or more. `figure` is given the sums of the columns in `uses`,
    or of all columns. It rises or falls with each sum. Intervals and tests of such a figure need the sums
    only, so they are fast or exact.
    """

    rows: Callable[[Sequence[Answer]], Sequence[Row]]
    figure: Callable[[Row], float | None]
    uses: tuple[int, ...] = ()

    def __call__(self, answers: Sequence[Answer]) -> float | None:
        return self.figure(self.used(total(self.rows(answers))))

    def used(self, sums: Row) -> Row:
        """Return the sums that the figure depends on, of all sums."""
        return tuple(sums[column] for column in self.uses) if self.uses else sums


def total(rows: Sequence[Row]) -> Row:
    """Return the sum of each column of at least one row."""
    return tuple(sum(column) for column in zip(*rows, strict=True))


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure of a run that a gate may use.

    It is the mean of a `measure`, or the result of `of` for all answers. `label` is its name in a sentence,
    and `heading` is the heading of its column. `of` returns None if the answers do not determine the figure.
    A mean has the range and the better end of its measure.
    """

    name: str
    measure: Measure | None = None
    of: OfSums | None = None
    label: str = ""
    heading: str = ""
    low: float | None = 0
    high: float | None = 1
    better: Better = "high"
    #: The kinds whose answers it uses; empty for all.
    kinds: tuple[str, ...] = ()
    #: True if it also uses the answers that were not read and have no value.
    counts_unread: bool = False
    #: Why `of` returned None, for a gate that then fails.
    undecided: str = "what was answered does not decide it"
    #: Other names that a gate may use for it.
    aliases: tuple[str, ...] = ()

    @classmethod
    def mean(cls, name: str, measure: Measure, *aliases: str) -> Metric:
        """Return the metric for the mean of a measure."""
        return cls(
            name=name,
            measure=measure,
            label=measure.names.mean_of,
            heading=measure.names.heading,
            low=measure.low,
            high=measure.high,
            better=measure.better,
            aliases=aliases,
        )

    @property
    def read_in(self) -> tuple[str, ...]:
        """The kinds of items that the figure is about; empty for all."""
        return self.measure.kinds if self.measure is not None else self.kinds
