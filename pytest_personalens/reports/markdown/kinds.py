"""The tables of kinds as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.reports.content.kind_tables import (
    domain_figures,
    kind_tables,
    label_of,
    over_items,
    source_lines,
)
from pytest_personalens.reports.content.markup import escaped, figure, markdown_table
from pytest_personalens.results.wording import count, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.reports.content.kind_tables import Cell, KindTable
    from pytest_personalens.results.values.results import Results


class TitledTable(NamedTuple):
    """The lines of a table, with a title before it and lines of text after it."""

    title: str
    lines: Sequence[str]
    after: Sequence[str] = ()


def kind_sections(results: Results) -> Iterator[TitledTable]:
    """Yield a table for each kind, and one of the main figures by domain."""
    tables = kind_tables(results)
    for number, table in enumerate(tables):
        notes = [*table.notes, *(source_lines(results) if number == len(tables) - 1 else ())]
        after = [line for note in notes for line in ("", f"{escaped(note, 400)}.")]
        yield TitledTable(_title(table), _lines(table), after)
    header, rows = domain_figures(results)
    cells = [(escaped(name), *map(over_items, figures)) for name, figures in rows]
    if cells:
        yield TitledTable("### By domain, with the items of each", markdown_table(("", *header), cells))


def _title(table: KindTable) -> str:
    return f"### {table.kind}: {count(table.items, 'item')}, {table.read} read"


def _lines(table: KindTable) -> list[str]:
    controls = [heading for name in table.settings[1:] for heading in (escaped(name), "lift", "one-sided p")]
    rows = [
        (
            escaped(label_of(row.metric)),
            figure(row.own),
            *(text for cell in row.cells for text in _cell(cell)),
        )
        for row in table.rows
    ]
    return markdown_table(("", escaped(table.settings[0]), *controls), rows)


def _cell(cell: Cell) -> tuple[str, str, str]:
    p = "" if cell.p is None else escaped(p_value(cell.p))
    return figure(cell.value), figure(cell.lift, signed=True), p
