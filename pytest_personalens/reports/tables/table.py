"""A table with text in its cells, for a terminal or for a page."""

from __future__ import annotations

from typing import NamedTuple

from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.markup import escaped, markdown_table


class PaperTable(NamedTuple):
    """A table with text in its cells. The first column names the rows. `notes` are sentences to print below
    it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the table as text for a terminal."""
        cells = [self.header, *self.rows]
        widths = [max(len(row[n]) for row in cells) for n in range(len(self.header))]
        lines = [
            harmless(
                "  ".join(
                    cell.rjust(width) if n else cell.ljust(width)
                    for n, (cell, width) in enumerate(zip(row, widths, strict=True))
                )
            )
            for row in cells
        ]
        below = ["", *(harmless(note) for note in self.notes)] if self.notes else []
        return "\n".join([harmless(self.title), "", *(line.rstrip() for line in lines), *below]) + "\n"

    def markdown(self) -> str:
        """Return the table as Markdown for a page. All texts in it are escaped."""
        lines = markdown_table(
            [escaped(cell) for cell in self.header], [[escaped(cell) for cell in row] for row in self.rows]
        )
        below = ["", *(f"- {escaped(note, 600)}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {escaped(self.title)}", "", *lines, *below]) + "\n"


def of_paper(number: str, what: str) -> str:
    """Return the title of a table that follows one of the paper's. `number` is a text such as "Table 3" or
    "Figure 4".
    """
    return f"{number} of the paper (Zhao et al., 2025): {what}"
