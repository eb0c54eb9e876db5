"""The table of users by group, with the gap between each group and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.wording import count, ends_text, p_value, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.results.values.figures import Slice, SliceFigure
    from pytest_personalens.results.values.results import Results

#: A group with fewer scored items is only counted, unless all groups of its demographic are as small.
_LEAST: Final = 3
_NONE: Final = "-"


class SliceTable(NamedTuple):
    """The groups of one demographic, as texts: a header, a row for each group, and what is left out."""

    demographic: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: str


def slice_tables(results: Results) -> list[SliceTable]:
    """Return a table for each demographic that the run is sliced by."""
    measures = [m for m in results.of_suite.main if any(m.value in s.figures for s in results.slices)]
    header = ("users", "scored", *(name for m in measures for name in (m.names.mean, "gap (p)")))
    tables = []
    for name in dict.fromkeys(s.demographic for s in results.slices):
        every = [s for s in results.slices if s.demographic == name]
        shown = [s for s in every if s.scored >= _LEAST] or every
        rows = tuple((s.name, *_cells(s, [s.figures.get(m.value) for m in measures])) for s in shown)
        hidden = len(every) - len(shown)
        left = f"{count(hidden, 'group')} with fewer than {_LEAST} scored items" if hidden else ""
        tables.append(SliceTable(name, (name, *header), rows, left))
    return tables


def slices_note(results: Results) -> str:
    """Return what a reader of the gaps must know; empty without slices."""
    if not results.slices:
        return ""
    found = sum(f.significant for s in results.slices for f in s.figures.values())
    tested = sum(f.gap is not None for s in results.slices for f in s.figures.values())
    if not tested:
        return "no gap can be tested: no task was drawn for three users of a group and three of the rest"
    verdict = f"{found} of {count(tested, 'gap')} {'is' if found == 1 else 'are'} significant (*)"
    how = "over the tasks that both have; the error rate of 5 % is that of all gaps together (Holm)"
    return f"gap: a group against the other users, {how}; {verdict}"


def slice_lines(results: Results) -> Iterator[str]:
    """Yield the tables as lines of text, with the note."""
    for table in slice_tables(results):
        wide = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
        for first, *cells in (table.header, *table.rows):
            numbers = (f"{cell:>{width}}" for cell, width in zip(cells, wide[1:], strict=True))
            yield "  ".join((f"{first:{wide[0]}}", *numbers))
        if table.left_out:
            yield table.left_out
        yield ""
    if note := slices_note(results):
        yield note


def _cells(group: Slice, figures: list[SliceFigure | None]) -> Iterator[str]:
    yield str(group.users)
    yield str(group.scored) if group.scored == group.items else f"{group.scored} of {group.items}"
    for figure in figures:
        if figure is None or figure.value is None:
            yield from (_NONE, _NONE)
            continue
        ends = "" if figure.low is None or figure.high is None else f" ({ends_text(figure.low, figure.high)})"
        yield f"{figure.value:.2f}{ends}"
        if figure.gap is None or figure.p is None:
            yield _NONE
        else:
            yield f"{signed(figure.gap)}{'*' if figure.significant else ''} ({p_value(figure.p)})"
