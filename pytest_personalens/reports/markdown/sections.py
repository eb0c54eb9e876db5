"""Sections of a Markdown report, and how many of their rows fit into a limited size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: The limit in bytes. A comment on a pull request may have 65,536 characters.
COMMENT_LIMIT: Final = 60_000
#: Bytes that are reserved for the note about cut parts.
_RESERVED: Final = 600
#: A table with more rows is folded.
LONG: Final = 6


class Section(NamedTuple):
    """Lines that belong together. `total` is the number of rows, of which the last ones may be cut. `what` is
    the word for them. `head` comes before the rows, and `tail` comes after them.
    """

    head: Sequence[str]
    rows: Iterable[str] = ()
    total: int = 0
    what: str = ""
    tail: Sequence[str] = ()


def titled(title: str, lines: Sequence[str], what: str, after: Sequence[str] = ()) -> Section:
    return Section(("", title, "", *lines[:2]), lines[2:], len(lines) - 2, what, after)


def folded(title: str, head: Sequence[str], rows: Iterable[str], count: int, what: str) -> Section:
    return Section(
        ("", f"<details><summary>{title}</summary>", "", *head), rows, count, what, ("", "</details>")
    )


def fitted(sections: Iterable[Section], limit: int) -> str:
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
    if cut:
        kept += (
            "",
            (
                f"Cut, for want of room: {', '.join(cut)}. The results file (--personalens-report PATH.json)"
                " holds all."
            ),
        )
    return "\n".join(kept) + "\n"


def _fitting(rows: Iterable[str], left: int) -> Iterator[str]:
    for row in rows:
        left -= _size((row,))
        if left < 0:
            return
        yield row


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)
