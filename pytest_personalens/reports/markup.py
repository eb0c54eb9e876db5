"""What others wrote, made fit for Markdown: nothing in it becomes a link, a mention, a picture, a tag or a
cell of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.safe_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST_NAME: Final = 200
#: What may begin markup within a line. A single underscore within a word does not.
_MARKUP: Final = re.compile(r"[\\`*\[\]<>#!|~$&@]|(?<![^\W_])_|_(?![^\W_])")
#: What GitHub links in the text of a page, after Markdown is done with it: a character of no width stands in
#: the way.
_LINKED: Final = re.compile(r"(@|#|\bGH-|www|:)(?=[\w.]|//)", re.IGNORECASE)
_APART: Final = "\u200b"


def short_line(text: str, limit: int) -> str:
    """`text` in one line of at most `limit` characters, control characters written out;
    what is cut is said.
    """
    line = harmless(" ".join(text.split()))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def escaped(text: str, limit: int = _LONGEST_NAME) -> str:
    """A name or a sentence that reads as it is written, within a line of a paragraph,
    a heading or a table.
    """
    apart = _LINKED.sub(rf"\1{_APART}", short_line(text, limit))
    return _MARKUP.sub(lambda c: f"&#{ord(c[0])};", apart)


def code(text: str, limit: int) -> str:
    """A quote, as a code span: GitHub neither reads Markdown in it nor links anything.

    Not for tables, where "|" ends a cell.
    """
    line = short_line(text, limit)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    # A space at both ends is no part of a span's content; it keeps a "`" of the text apart from the fence.
    pad = " " * (len(fence) > 1)
    return f"{fence}{pad}{line}{pad}{fence}" if line else "(empty)"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> list[str]:
    """The lines of a table whose cells are Markdown already; all but the first `words` columns are numbers,
    set right.
    """
    rule = [("---" if n < words else "--:") for n in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]


def figure(value: float | None, places: int = 2, *, signed: bool = False) -> str:
    """A number with two decimals, or "-" where there is none."""
    if value is None:
        return "-"
    shown = f"{value:{'+' if signed else ''}.{places}f}"
    return shown if float(shown) else shown.replace("-", "+" if signed else "")


def interval_text(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """``0.61 to 0.84``, or "-" where there is none."""
    return (
        "-"
        if low is None or high is None
        else f"{figure(low, signed=signed)} to {figure(high, signed=signed)}"
    )
