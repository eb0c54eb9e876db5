"""A figure of a run that a gate may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_personalens.core.measure import Better, Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.evaluation import Answer


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure of a run that a gate may use.

    It is the mean of a `measure`, or the result of `of` for all answers. `label` is its name in a sentence,
    and `heading` is the heading of its column. `of` returns None if the answers do not determine the figure.
    A mean has the range and the better end of its measure.
    """

    name: str
    measure: Measure | None = None
    of: Callable[[Sequence[Answer]], float | None] | None = None
    #: For a figure of sums: the numbers to add for an answer, and the figure of their sums. An interval takes
    #: thousands of samples, and sums of users are made once.
    terms: Callable[[Answer], tuple[float, ...]] | None = None
    of_sums: Callable[[Sequence[float]], float | None] | None = None
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
        """Return the kinds of items that the figure is about; empty means all."""
        return self.measure.kinds if self.measure is not None else self.kinds
