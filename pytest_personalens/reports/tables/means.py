"""Rows of means by kind of task, and their differences from one of them."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.markup import figure, interval_text
from pytest_personalens.reports.tables.table import PaperTable
from pytest_personalens.results.comparison.contrasts import contrast, corrected
from pytest_personalens.results.means import scenario_means, scores_of
from pytest_personalens.results.wording import p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.results.comparison.contrasts import Contrast
    from pytest_personalens.results.values.item import Item

SHORT: Final[dict[Kind, str]] = {"single": "SD", "multi": "MD"}
#: The fewest scenarios with an interval. With fewer, it would be the whole scale, or appear too certain.
_LEAST_PAIRS: Final = 3


class Column(NamedTuple):
    """The mean of a dimension over the items of a kind. `key` is its name in files."""

    key: str
    kind: Kind
    dimension: Dimension

    @property
    def is_rate(self) -> bool:
        """True for a column that is printed in percent."""
        return self.dimension is Dimension.TASK_COMPLETION

    @property
    def heading(self) -> str:
        """``SD TCR %``. The title of the table says if a reading is of the user or of the assistant."""
        heading = self.dimension.names.paper_heading.removesuffix(".u")
        return f"{SHORT[self.kind]} {heading}{' %' if self.is_rate else ''}"

    def scaled(self, value: float) -> float:
        """Return a score or a difference for a table: in percent for a rate."""
        return 100 * value if self.is_rate else value

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Return the items of the column's kind."""
        return [item for item in items if item.evaluation.kind == self.kind]

    def mean(self, items: Sequence[Item]) -> float | None:
        """Return `mean_of` over the items of the kind."""
        return mean_of(self.of(items), self.dimension)


def columns_of(scores: Mapping[str, Dimension]) -> list[Column]:
    """Return a column for each kind and score."""
    return [
        Column(f"{short.lower()}_{key}", kind, dimension)
        for kind, short in SHORT.items()
        for key, dimension in scores.items()
    ]


def mean_of(items: Sequence[Item], dimension: Dimension) -> float | None:
    """Return the mean of `items` by scenario, in percent for a rate; None if no item has a score."""
    scores = scores_of(items, dimension)
    mean = round(fmean(scenario_means(scores).values()), 6) if scores else None
    return mean if mean is None or dimension is not Dimension.TASK_COMPLETION else 100 * mean


class MeansRow(NamedTuple):
    """The items of a row, and its name."""

    name: str
    items: Sequence[Item]

    def cells(self, columns: Sequence[Column]) -> tuple[str, ...]:
        """Return the name, and each mean with two decimals as in the paper."""
        return (self.name, *(figure(column.mean(self.items)) for column in columns))


def differences(
    rows: Sequence[MeansRow], base: MeansRow, columns: Sequence[Column], title: str
) -> PaperTable | None:
    """Return the difference of each of `rows` from `base` in each of `columns`; None if nothing compares.

    The p-values are corrected over all of them.
    """
    compared: list[tuple[str, Column, Contrast]] = []
    for row in rows:
        for column in columns:
            one = contrast(column.of(base.items), column.of(row.items), column.dimension)
            if one is not None and row is not base:
                compared.append((row.name, column, one))
    if not compared:
        return None
    tested = corrected([one for _, _, one in compared])
    note = (
        "p: two-sided, of the paired randomization test over the users of the scenarios that both scored."
        f" p (Holm): corrected for the {len(compared)} tests of this table; what is below 0.05 there is more"
        " than chance at 5 %."
    )
    header = ("", "score", "difference", "95 %", "p", "p (Holm)", "scenarios")
    cells = [
        (name, column.heading, *_cells(column, one))
        for (name, column, _), one in zip(compared, tested, strict=True)
    ]
    return PaperTable(title, header, tuple(cells), (note,))


def _cells(column: Column, one: Contrast) -> tuple[str, ...]:
    few = one.pairs < _LEAST_PAIRS
    low, high = (None if end is None or few else column.scaled(end) for end in (one.low, one.high))
    change = (figure(column.scaled(one.change), signed=True), interval_text(low, high, signed=True))
    return (*change, p_value(one.p), p_value(one.adjusted), f"{one.pairs:,}")
