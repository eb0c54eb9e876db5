"""A table with text in its cells, for a terminal or for a page, and the figures that the paper prints."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.markup import escape, markdown_table

#: The beginning of the names of the paper's rows.
PAPER: Final = "paper: "


class PaperTable(NamedTuple):
    """A table whose first column names the rows. `notes` are sentences to print below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        cells = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(f"{cell:{'>' if n else '<'}{widths[n]}}" for n, cell in enumerate(row)) for row in cells
        ]
        below = ["", *self.notes] if self.notes else []
        return "\n".join([harmless(line).rstrip() for line in (self.title, "", *lines, *below)]) + "\n"

    def markdown(self) -> str:
        """Return the table as Markdown for a page. All texts in it are escaped."""
        lines = markdown_table([*map(escape, self.header)], [[*map(escape, row)] for row in self.rows])
        below = ["", *(f"- {escape(note, 600)}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {escape(self.title)}", "", *lines, *below]) + "\n"


def paper_title(number: str, what: str) -> str:
    """Return the title of a table that follows one of the paper's, such as "Table 3" or "Figure 4"."""
    return f"{number} of the paper (Zhao et al., 2025): {what}"


def paper_rows(table: int) -> dict[str, dict[str, str]]:
    """Return the rows of one of the paper's tables: name -> column -> the figure as it is printed there.

    `table` is 1, 3, 4, 5, 10, 12 or 13.
    """
    entry = _tables()[f"table_{table}"]
    places = entry.get("places", 2)
    return {
        name: {
            column: f"{value:,}" if isinstance(value, int) else f"{value:.{places}f}"
            for column, value in zip(entry["columns"], values, strict=True)
        }
        for name, *values in entry["rows"]
    }


def paper_notes(table: int) -> list[str]:
    """Return where the paper contradicts itself about a table, in sentences."""
    return list(_tables()[f"table_{table}"]["notes"])


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))
