"""Rows of means, and their differences from one of them."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.markup import figure, interval_text
from pytest_personalens.reports.tables.table import PaperTable
from pytest_personalens.results.comparison.pairs import adjust_contrasts, contrast
from pytest_personalens.results.means import scenario_means, scores_of
from pytest_personalens.results.wording import p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.results.comparison.pairs import Contrast
    from pytest_personalens.results.values.item import Item

SHORT: Final[dict[Kind, str]] = {"single": "SD", "multi": "MD"}


#: The fewest scenarios with an interval. With fewer, it would be the whole scale, or appear too certain.
_LEAST_PAIRS: Final = 3


class Column(NamedTuple):
    """The mean of a dimension over the items of a kind.

    `key` is its name in the paper's rows and in files.
    """

    key: str
    kind: Kind
    dimension: Dimension

    @property
    def heading(self) -> str:
        """Return a heading such as ``SD TCR %``.

        The title of the table says if a reading is of the user or of the assistant.
        """
        heading = self.dimension.names.paper_heading.removesuffix(".u")
        return f"{SHORT[self.kind]} {heading}{' %' if is_rate(self.dimension) else ''}"

    def of(self, items: Sequence[Item]) -> list[Item]:
        """Return the items of the column's kind."""
        return [item for item in items if item.evaluation.kind == self.kind]

    def mean(self, items: Sequence[Item]) -> float | None:
        """Return `mean_of` over the items of the kind."""
        return mean_of(self.of(items), self.dimension)


def is_rate(dimension: Dimension) -> bool:
    """True for a dimension that is printed in percent."""
    return dimension is Dimension.TASK_COMPLETION


def scaled(value: float, dimension: Dimension) -> float:
    """Return a score or a difference for a table: in percent for a rate."""
    return 100 * value if is_rate(dimension) else value


def mean_of(items: Sequence[Item], dimension: Dimension) -> float | None:
    """Return the mean of `items` by scenario, in the form for tables.

    It is None if no item has a score on the dimension.
    """
    scores = scores_of(items, dimension)
    mean = round(fmean(scenario_means(scores).values()), 6) if scores else None
    return None if mean is None else scaled(mean, dimension)


class Measured(NamedTuple):
    """The items of a row, and its name."""

    name: str
    items: Sequence[Item]

    def cells(self, columns: Sequence[Column]) -> tuple[str, ...]:
        """Return the row: its name, and each mean with two decimals as in the paper."""
        return (self.name, *(figure(column.mean(self.items)) for column in columns))


def differences(
    rows: Sequence[Measured], base: Measured, columns: Sequence[Column], title: str
) -> PaperTable | None:
    """Return the difference of each of `rows` from `base` in each of `columns`.

    The p-values are corrected over all of them. Return None if nothing can be compared.
    """
    compared: list[tuple[Measured, Column, Contrast]] = []
    for row in rows:
        for column in columns:
            one = contrast(column.of(base.items), column.of(row.items), column.dimension)
            if one is not None and row is not base:
                compared.append((row, column, one))
    if not compared:
        return None
    tested = adjust_contrasts([one for _, _, one in compared])
    note = (
        "p: two-sided, of the paired randomization test over the users of the scenarios that both scored."
        f" p (Holm): corrected for the {len(compared)} tests of this table; what is below 0.05 there is more"
        " than chance at 5 %."
    )
    return PaperTable(
        title,
        ("", "score", "difference", "95 %", "p", "p (Holm)", "scenarios"),
        tuple(
            (row.name, column.heading, *_cells(column, one))
            for (row, column, _), one in zip(compared, tested, strict=True)
        ),
        (note,),
    )


def _cells(column: Column, one: Contrast) -> tuple[str, ...]:
    d = column.dimension
    low, high = (
        None if end is None or one.pairs < _LEAST_PAIRS else scaled(end, d) for end in (one.low, one.high)
    )
    change = (figure(scaled(one.change, d), signed=True), interval_text(low, high, signed=True))
    return (*change, p_value(one.p), p_value(one.adjusted), f"{one.pairs:,}")
