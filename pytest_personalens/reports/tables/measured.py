"""Rows of means beside each other, and how far they lie from one of them."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.verdict import Dimension
from pytest_personalens.reports.markup import figure, interval_text
from pytest_personalens.reports.tables.table import PaperTable
from pytest_personalens.results.contrasts import contrast, corrected
from pytest_personalens.results.means import scenario_means, scores_of
from pytest_personalens.results.wording import p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.results.contrasts import Contrast
    from pytest_personalens.results.values import Item

SHORT: Final[dict[Kind, str]] = {"single": "SD", "multi": "MD"}


#: Of fewer scenarios there is no interval: it would be the whole scale, or promise too much.
_LEAST_PAIRS: Final = 3


class Column(NamedTuple):
    """The mean of a dimension over the items of a kind; `key` names it in the paper's rows and in files."""

    key: str
    kind: Kind
    dimension: Dimension

    @property
    def heading(self) -> str:
        """Such as ``SD TCR %``; a reading of the user or of the assistant is said by the table's title."""
        heading = self.dimension.names.paper_heading.removesuffix(".u")
        return f"{SHORT[self.kind]} {heading}{' %' if is_rate(self.dimension) else ''}"

    def of(self, items: Sequence[Item]) -> list[Item]:
        """The items that it is a mean over."""
        return [item for item in items if item.evaluation.kind == self.kind]

    def mean(self, items: Sequence[Item]) -> float | None:
        """See `mean_of`, over the items of the kind."""
        return mean_of(self.of(items), self.dimension)


def is_rate(dimension: Dimension) -> bool:
    """True for what is printed in percent."""
    return dimension is Dimension.TASK_COMPLETION


def scaled(value: float, dimension: Dimension) -> float:
    """A score or a difference of scores as tables have it: in percent for a rate."""
    return 100 * value if is_rate(dimension) else value


def mean_of(items: Sequence[Item], dimension: Dimension) -> float | None:
    """The mean of `items` by scenario, as tables have it; None where nothing is scored on it."""
    scores = scores_of(items, dimension)
    mean = round(fmean(scenario_means(scores).values()), 6) if scores else None
    return None if mean is None else scaled(mean, dimension)


class Measured(NamedTuple):
    """The items that a row is made of, and its name."""

    name: str
    items: Sequence[Item]

    def cells(self, columns: Sequence[Column]) -> tuple[str, ...]:
        """The row: its name, and each mean with two decimals as in the paper."""
        return (self.name, *(figure(column.mean(self.items)) for column in columns))


def differences(
    rows: Sequence[Measured], base: Measured, columns: Sequence[Column], title: str
) -> PaperTable | None:
    """How far each of `rows` lies from `base` in each of `columns`, corrected over all of them; None if
    nothing can be compared.
    """
    found: list[tuple[Measured, Column, Contrast]] = []
    for row in rows:
        for column in columns:
            one = contrast(column.of(base.items), column.of(row.items), column.dimension)
            if one is not None and row is not base:
                found.append((row, column, one))
    if not found:
        return None
    tested = corrected([one for _, _, one in found])
    note = (
        "p: two-sided, of the paired randomization test over the scenarios that both scored. p (Holm):"
        f" corrected for the {len(found)} tests of this table; what is below 0.05 there is more than chance"
        " at 5 %."
    )
    return PaperTable(
        title,
        ("", "score", "difference", "95 %", "p", "p (Holm)", "scenarios"),
        tuple(
            (row.name, column.heading, *_cells(column, one))
            for (row, column, _), one in zip(found, tested, strict=True)
        ),
        (note,),
    )


def _cells(column: Column, one: Contrast) -> tuple[str, ...]:
    d = column.dimension
    low, high = (
        None if end is None or one.pairs < _LEAST_PAIRS else scaled(end, d) for end in (one.low, one.high)
    )
    told = (figure(scaled(one.change, d), signed=True), interval_text(low, high, signed=True))
    return (*told, p_value(one.p), p_value(one.adjusted), f"{one.pairs:,}")
