"""Sections of the Markdown report: tables of scores, groups and comparisons, folded where they are long."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from pytest_personalens.reports.content.kind_tables import (
    by_distance,
    distance_of,
    domain_table,
    kind_tables,
    label_of,
    source_lines,
)
from pytest_personalens.reports.content.markup import code, escape, figure, interval_text, markdown_table
from pytest_personalens.results.means import estimate
from pytest_personalens.results.wording import decision, p_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.results.values.figures import Comparison, Flip, PairedChange
    from pytest_personalens.results.values.results import Results

_MOST_NAMED: Final = 5
_USUAL: Final = 0.95
_BEFORE_AFTER: Final = ("before", "after", "change", "95 % interval", "one-sided p")


def comparison_sections(comparison: Comparison, link: str, item: str) -> Iterator[Section]:
    """The differences from the baseline, the scores that changed, and what was not compared."""
    tested, named = comparison.tested, escape(PurePath(comparison.baseline).name)
    rows = []
    for d in comparison.differences:
        name = f"{d.kind}: {d.dimension.names.heading}" if d.kind else d.dimension.names.heading
        outcome = f"**{decision(d)}**" if d.regressed else decision(d)
        sides = _sides(d, d.change, d.low, d.high, d.confidence)
        rows.append((name, outcome, *sides, figure(d.detectable)) if tested else (name, *sides[:5]))
    header: tuple[str, ...] = ("score", "outcome", f"{item}s", *_BEFORE_AFTER, "detectable drop")
    title = f"Since the baseline {named}: {comparison.compared} {item}s compared"
    note = (
        f"Any false alarm has a chance of {comparison.level:g}; a drop of the last column is found with a"
        " chance of 0.8."
    )
    if not tested:
        header = ("score", f"{item}s", *_BEFORE_AFTER[:4])
        title = f"Beside {named}: {comparison.compared} {item}s scored in both"
        note = "The changes are not tested: they may be chance."
    notes = [line for text in comparison.notes for line in ("", f"- {escape(text, 400)}")]
    words = 2 if tested else 1
    yield table_section(
        title, header, rows, "differences", words=words, after=("", note, *notes), fold=tested
    )
    if flips := sorted(comparison.flips, key=lambda f: (f.after - f.before, f.scenario)):
        record = ("record",) if any(flip.records for flip in flips) else ()
        header = (item, "score", *record, "before", "after")
        changed = [_flip(flip, link, recorded=bool(record)) for flip in flips]
        title, words = f"Scores that changed: {len(flips)}", 2 + len(record)
        yield table_section(title, header, changed, "changed scores", words=words, fold=True)
    if comparison.left_out:
        left = []
        for why, names in comparison.left_out.items():
            some = ", ".join(map(escape, names[:_MOST_NAMED])) + ", ..." * (len(names) > _MOST_NAMED)
            left.append(f"- {escape(why)}: {len(names)} ({some})")
        yield Section(("", "Not compared:", ""), left, len(left), f"reasons why {item}s were not compared")


def _flip(flip: Flip, link: str, *, recorded: bool) -> tuple[str, ...]:
    records = ", ".join(record_link(file, link) for file in flip.records[:_MOST_NAMED])
    name = (escape(flip.scenario), flip.dimension.names.heading, *([records or "-"] if recorded else []))
    return (*name, figure(flip.before), figure(flip.after))


def lift_section(results: Results) -> Section:
    suite = results.of_suite
    rows = [
        (escape(suite.control_word(control.name)), lift.dimension.names.heading, *_sides(lift, *lift.gain))
        for control in results.controls
        for lift in control.lift
    ]
    header = ("control", "score", f"{suite.item}s", "control", "run", "lift", *_BEFORE_AFTER[3:])
    return table_section("### Lift over controls", header, rows, "lifts", words=2)


def _sides(
    pair: PairedChange, change: float, low: float | None, high: float | None, confidence: float = 0.95
) -> tuple[str, ...]:
    """The scenarios, the means before and after, the change, its interval, and the one-sided p."""
    share = "" if confidence == _USUAL or low is None else f" ({100 * confidence:.3g} %)"
    between = f"{interval_text(low, high, signed=True)}{share}"
    moved = (figure(change, signed=True), between, escape(p_value(pair.p)))
    return (str(pair.pairs), figure(pair.before), figure(pair.after), *moved)


def record_link(file: str, link: str) -> str:
    """A link to a record below the address `link`, or its path without one."""
    if not link or not file:
        return code(file, 300).replace("|", "¦") if file else ""
    return f"[record]({link.rstrip('/')}/{quote(file, safe='/')})"


def kind_sections(results: Results) -> Iterator[Section]:
    tables = kind_tables(results)
    for table in tables:
        notes = [*table.notes, *(source_lines(results) if table is tables[-1] else ())]
        after = [line for note in notes for line in ("", f"{escape(note, 400)}.")]
        controls = [text for name in table.settings[1:] for text in (escape(name), "lift", "one-sided p")]
        rows = []
        for row in table.rows:
            cells = [escape(label_of(row.metric)), figure(row.own)]
            for cell in row.cells:
                p = "" if cell.p is None else escape(p_value(cell.p))
                cells += [figure(cell.value), figure(cell.lift, signed=True), p]
            rows.append(cells)
        header = ("", escape(table.settings[0]), *controls)
        yield table_section(f"### {table.title}", header, rows, f"rows of {table.title}", after=after)
    domains = domain_table(results)
    if domains.rows:
        title = "By domain, with the items of each"
        cells_of = [(escape(name), *figures) for name, *figures in domains.rows]
        yield table_section(f"### {title}", ("", *domains.header[1:]), cells_of, f"rows of {title}")


def distance_section(results: Results) -> Iterator[Section]:
    """A table of the main figures by how long before the end a user said what an item rests on."""
    shown = [m for m in results.of_suite.main if m.value in results.overall.figures]
    rows = []
    for name, items in by_distance(results, results.own).items():
        means = [estimate(items, measure) for measure in shown]
        rows.append((name, *(f"{figure(m.value)} ({m.dialogues})" if m.dialogues else "-" for m in means)))
    if (distance := distance_of(results)) is not None and rows:
        title = f"### By distance: {distance.title}, with the {results.of_suite.item}s of each"
        yield table_section(title, ("", *(m.names.heading for m in shown)), rows, "distances")


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
