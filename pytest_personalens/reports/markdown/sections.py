"""Sections of a Markdown report, and how many of their rows fit into a limited size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.reports.content.markup import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: The limit in bytes. A comment on a pull request may have 65,536 characters.
COMMENT_LIMIT: Final = 60_000
#: Bytes that are reserved for the note about cut parts.
_RESERVED: Final = 600
_CUT: Final = "Cut, for want of room: {}. The results file (--personalens-report PATH.json) holds all."


class Section(NamedTuple):
    """Lines that belong together: a `head`, rows, and a `tail`.

    `total` is the number of rows, of which the last ones may be cut. `what` is the word for them.
    """

    head: Sequence[str]
    rows: Iterable[str] = ()
    total: int = 0
    what: str = ""
    tail: Sequence[str] = ()


def fold_section(title: str, rows: Iterable[str], total: int, what: str, head: Sequence[str] = ()) -> Section:
    """A section that is closed until a reader opens it."""
    head = ("", f"<details><summary>{title}</summary>", "", *head)
    return Section(head, rows, total, what, ("", "</details>"))


def table_section(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    what: str,
    *,
    words: int = 1,
    after: Sequence[str] = (),
    fold: bool = False,
) -> Section:
    """A table below its title, with at most `words` columns of text; `after` are lines below it."""
    lines = markdown_table(header, rows, words=words)
    if fold:
        section = fold_section(title, lines[2:], len(lines) - 2, what, lines[:2])
        return section._replace(tail=(*after, *section.tail))
    return Section(("", title, "", *lines[:2]), lines[2:], len(lines) - 2, what, after)


def fit_sections(sections: Iterable[Section], limit: int) -> str:
    """The sections as a text of at most `limit` bytes, which ends with what was cut."""
    left, kept, cut = limit - _RESERVED, list[str](), list[str]()
    for section in sections:
        frame = _size((*section.head, *section.tail))
        rows = list(_fitting(section.rows, left - frame))
        if frame > left or (section.total and not rows):
            cut.append(f"all {section.total} {section.what}" if section.total else section.what)
            continue
        lines = (*section.head, *rows, *section.tail)
        left -= _size(lines)
        kept += lines
        if len(rows) < section.total:
            cut.append(f"{section.total - len(rows)} of {section.total} {section.what}")
    return "\n".join([*kept, *(["", _CUT.format(", ".join(cut))] if cut else [])]) + "\n"


def _fitting(rows: Iterable[str], left: int) -> Iterator[str]:
    for row in rows:
        left -= _size((row,))
        if left < 0:
            return
        yield row


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)
