"""Makes any text safe for Markdown.

Nothing in it becomes a link, a mention, an image, a tag or a table cell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from pytest_personalens.core.safe_text import harmless
from pytest_personalens.results.wording import ends_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST_NAME: Final = 200
#: The same in a table whose columns are made of spaces.
_LONGEST_IN_A_COLUMN: Final = 40
#: A text is cut between words only if this share of it is left.
_NEAR: Final = 0.8
#: Characters that may begin markup within a line. A single underscore within a word does not.
_MARKUP: Final = re.compile(r"[\\`*\[\]<>#!|~$&@]|(?<![^\W_])_|_(?![^\W_])")
#: Texts that GitHub turns into links after Markdown. A character of no width prevents that.
_LINKED: Final = re.compile(r"(@|#|\bGH-|www|:)(?=[\w.]|//)", re.IGNORECASE)
_APART: Final = "\u200b"


def short_line(text: str, limit: int) -> str:
    """Return `text` in one line of at most `limit` characters. Control characters are escaped. An ellipsis
    marks a cut, which is between words if one ends near.
    """
    line = harmless(" ".join(text.split()))
    if len(line) <= limit:
        return line
    return f"{whole_words(line, limit - 1)}…"


def whole_words(line: str, room: int) -> str:
    """Return the beginning of a line, cut before a word where one ends not long before `room` characters."""
    end = line[: room + 1].rfind(" ")
    return line[: end if end > room * _NEAR else room]


def name_column(names: Iterable[str], least: int) -> tuple[list[str], int]:
    """Return names, the long ones cut, for the first column of a table in lines, and its width."""
    cut = [short_line(name, _LONGEST_IN_A_COLUMN) for name in names]
    return cut, max(least, *(len(name) + 1 for name in cut), 0)


def escape(text: str, limit: int = _LONGEST_NAME) -> str:
    """Return a name or a sentence that Markdown shows as it is written. It is for a line of a paragraph, a
    heading or a table.
    """
    apart = _LINKED.sub(rf"\1{_APART}", short_line(text, limit))
    return _MARKUP.sub(lambda c: f"&#{ord(c[0])};", apart)


def code(text: str, limit: int) -> str:
    """Return a quote as a code span. GitHub neither reads Markdown in it nor makes links. It must not be used
    in tables, where "|" ends a cell.
    """
    line = short_line(text, limit)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    # A space at both ends does not belong to the content of the span. It separates a "`" of the text from the
    # fence.
    pad = " " * (len(fence) > 1)
    return f"{fence}{pad}{line}{pad}{fence}" if line else "(empty)"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> list[str]:
    """Return the lines of a table whose cells are already Markdown. The first `words` columns hold text. All
    other columns hold numbers, and are aligned right.
    """
    rule = [("---" if n < words else "--:") for n in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]


class Cell(str):
    """A figure as text. `ends` are those of its 95 % interval, which only a page shows; or empty."""

    ends: str

    def __new__(cls, text: str, ends: str = "") -> Self:
        cell = super().__new__(cls, text)
        cell.ends = ends
        return cell


class Table(NamedTuple):
    """A table whose first column names the rows. `notes` are sentences to print below it. The first `words`
    columns hold text, all others numbers.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: int = 1

    def lines(self) -> list[str]:
        """Return the header and the rows in columns, each as wide as its longest cell."""
        cells = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = (
            "  ".join(f"{cell:{'>' if n else '<'}{widths[n]}}" for n, cell in enumerate(row)) for row in cells
        )
        return [harmless(line).rstrip() for line in lines]

    def text(self) -> str:
        """Return the table with its title and its notes."""
        below = ["", *map(harmless, self.notes)] if self.notes else []
        return "\n".join([harmless(self.title), "", *self.lines(), *below]) + "\n"

    def markdown(self) -> str:
        """Return the table as Markdown for a page. All texts in it are escaped."""
        below = ["", *(f"- {escape(note, 600)}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {escape(self.title)}", "", *self.markdown_lines(), *below]) + "\n"

    def markdown_lines(self) -> list[str]:
        """Return the header, the rule and the rows."""
        rows = [[*map(escape, row)] for row in self.rows]
        return markdown_table([*map(escape, self.header)], rows, words=self.words)


def figure(value: float | None) -> str:
    """Return a number with two decimals, or "-" for None."""
    return "-" if value is None else f"{value:.2f}".replace("-0.00", "0.00")


def figure_cell(
    value: float | None, low: float | None = None, high: float | None = None, *, signed: bool = False
) -> Cell:
    """Return a figure with its interval, if it has one; `signed` ends have a sign."""
    if low is None or high is None:
        return Cell(figure(value))
    return Cell(figure(value), f"{low:+.2f} to {high:+.2f}" if signed else ends_text(low, high))
