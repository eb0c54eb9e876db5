"""Changes of a run as Markdown: since its baseline or an earlier run, and over its controls."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pytest_personalens.reports.content.beside import moved_table, overlap, side_by_side
from pytest_personalens.reports.content.markup import code, escaped, figure, interval_text, markdown_table
from pytest_personalens.reports.markdown.sections import Section, folded, titled
from pytest_personalens.results.wording import decision, p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.results.values.changes import Comparison, Flip, PairedChange
    from pytest_personalens.results.values.results import Results

_MOST_NAMED: Final = 5


def comparison_sections(comparison: Comparison, link: str, item: str) -> Iterator[Section]:
    rows = (
        (
            d.dimension.names.heading,
            f"**{decision(d)}**" if d.regressed else decision(d),
            *_sides(d, d.change, d.low, d.high),
            figure(d.detectable),
        )
        for d in comparison.differences
    )
    header = (
        "score",
        "outcome",
        f"{item}s",
        "before",
        "after",
        "change",
        "95 % interval",
        "one-sided p",
        "detectable drop",
    )
    table = markdown_table(header, rows, words=2)
    baseline = escaped(PurePath(comparison.baseline).name)
    note = (
        f"Any false alarm has a chance of {comparison.level:g}; a drop of the last column is found with a"
        " chance of 0.8."
    )
    shown = folded(
        f"Since the baseline {baseline}: {comparison.compared} {item}s compared",
        table[:2],
        table[2:],
        len(table) - 2,
        "differences",
    )
    yield shown._replace(tail=("", note, *shown.tail))
    flips = sorted(comparison.flips, key=lambda f: (f.after - f.before, f.scenario))
    if flips:
        recorded = any(flip.records for flip in flips)
        columns = (item, "score", *(["record"] if recorded else []), "before", "after")
        lines = markdown_table(
            columns, (_flip(f, link, recorded=recorded) for f in flips), words=3 if recorded else 2
        )
        yield folded(f"Scores that changed: {len(flips)}", lines[:2], lines[2:], len(flips), "changed scores")
    if comparison.left_out:
        left = [
            f"- {escaped(why)}: {len(names)} ({_some(names)})" for why, names in comparison.left_out.items()
        ]
        yield Section(("", "Not compared:", ""), left, len(left), f"reasons why {item}s were not compared")


def _flip(flip: Flip, link: str, *, recorded: bool) -> tuple[str, ...]:
    records = ", ".join(record_link(file, link) for file in flip.records[:_MOST_NAMED])
    return (
        escaped(flip.scenario),
        flip.dimension.names.heading,
        *([records or "-"] if recorded else []),
        figure(flip.before),
        figure(flip.after),
    )


def beside_sections(before: Results, results: Results) -> Iterator[Section]:
    beside = side_by_side(before, results)
    notes = [f"- {escaped(note, 400)}" for note in beside.notes]
    yield titled(
        "### Before and after",
        moved_table(beside),
        "figures",
        after=("", overlap(beside), *(("", *notes) if notes else ())),
    )
    if beside.changed:
        rows = (
            (escaped(c.name), c.dimension.names.heading, str(c.before), str(c.after)) for c in beside.changed
        )
        lines = markdown_table((results.of_suite.item, "score", "before", "after"), rows, words=2)
        yield folded(
            f"Scores that differ: {len(beside.changed)}",
            lines[:2],
            lines[2:],
            len(beside.changed),
            "scores that differ",
        )


def lift_table(results: Results) -> list[str]:
    suite = results.of_suite
    rows = (
        (
            escaped(suite.arm_word(control.name)),
            lift.dimension.names.heading,
            *_sides(lift, *lift.gain),
        )
        for control in results.arms
        for lift in control.lift
    )
    return markdown_table(
        ("control", "score", f"{suite.item}s", "control", "run", "lift", "95 % interval", "one-sided p"),
        rows,
        words=2,
    )


def _sides(pair: PairedChange, change: float, low: float | None, high: float | None) -> tuple[str, ...]:
    """Return the cells of both sides.

    These are the scenarios, the means before and after, the change, its interval, and the one-sided p.
    """
    moved = (
        figure(change, signed=True),
        interval_text(low, high, signed=True),
        escaped(p_value(pair.p)),
    )
    return (str(pair.pairs), figure(pair.before), figure(pair.after), *moved)


def record_link(file: str, link: str) -> str:
    if not file:
        return ""
    return (
        f"[record]({link.rstrip('/')}/{quote(file, safe='/')})" if link else code(file, 300).replace("|", "¦")
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(escaped, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")
