"""A table for each kind of item: its figures in the run and in each control, with the lifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.comparison.controls import gain_of
from pytest_personalens.results.wording import count, p_value, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.metric import Metric
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.values.changes import Arm
    from pytest_personalens.results.values.figures import Figure, Group
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_NAME: Final = 28
_VALUE: Final = 10
_LIFT: Final = 17
#: The two ends of a 95 % interval; None where there is none.
Ends = tuple[float | None, float | None]
_NO_ENDS: Final[Ends] = (None, None)


class Cell(NamedTuple):
    """A figure in a control, and how much better the run itself is. `p` is one-sided."""

    value: float | None
    lift: float | None
    p: float | None
    ends: Ends
    lift_ends: Ends


class KindRow(NamedTuple):
    """A figure of a kind: in the run itself, and in each control."""

    metric: Metric
    own: float | None
    cells: tuple[Cell, ...]
    ends: Ends


class KindTable(NamedTuple):
    """The figures of a kind in the run itself and in its controls. `read` is the number of items of the run
    itself with an answer that could be read. `settings` are the names of the run itself and of the controls.
    """

    kind: str
    items: int
    read: int
    settings: tuple[str, ...]
    rows: tuple[KindRow, ...]
    notes: tuple[str, ...]


def kind_tables(results: Results) -> list[KindTable]:
    """Return the table of each kind of the run."""
    suite = results.of_suite
    own = suite.given(str(results.settings.get("context", "")), "")
    names = (own, *(suite.arm_word(arm.name) for arm in results.arms))
    return [_table(results, group, names) for group in results.kinds]


def table_lines(tables: Sequence[KindTable]) -> Iterator[str]:
    """Yield the tables as lines of text."""
    for table in tables:
        head = f"{table.kind}: {count(table.items, 'item')}, {table.read} read"
        controls = "".join(f"{name:>{_VALUE + 1}}  {'lift':{_LIFT}}" for name in table.settings[1:])
        yield f"{head:{_NAME + 2}}{table.settings[0]:>{_VALUE}}{controls}".rstrip()
        for row in table.rows:
            cells = "".join(map(_cell, row.cells))
            yield f"  {label_of(row.metric):{_NAME}}{_figure(row.own):>{_VALUE}}{cells}".rstrip()
        yield from (f"  {note}" for note in table.notes)


def domain_figures(results: Results) -> tuple[list[str], list[tuple[str, list[Figure | None]]]]:
    """Return the headings of the main figures, and for each domain its name and these figures. Each figure is
    of one kind of item, and has the number of items that it is over.
    """
    shown = [m for m in results.of_suite.main if m.value in results.overall.figures]
    rows = [(g.name, [g.figures.get(m.value) for m in shown]) for g in results.domains]
    return [m.names.heading for m in shown], rows


def domain_lines(results: Results) -> Iterator[str]:
    """Yield the main figures of each domain."""
    header, rows = domain_figures(results)
    yield f"{'by domain (items)':{_NAME}}" + "".join(f"{heading:>16}" for heading in header)
    for name, figures in rows:
        yield f"  {name:{_NAME - 2}}" + "".join(f"{over_items(figure):>16}" for figure in figures)


def over_items(figure: Figure | None) -> str:
    """Return ``0.82 (15)``: a figure, and the number of items that it is over."""
    return "-" if figure is None or figure.value is None else f"{figure.value:,.2f} ({figure.count})"


def label_of(metric: Metric) -> str:
    """Return the name of a figure in a table, with its better end if that is the low one."""
    better = metric.better if metric.measure is None else metric.measure.better
    return f"{metric.label} (lower is better)" if better == "low" else metric.label


def source_lines(results: Results) -> Iterator[str]:
    """Yield what the sample was drawn from, and what its requests give away."""
    suite, excluded = results.of_suite, results.excluded
    by_text: dict[str, list[str]] = {}
    for kind, reasons in excluded.items():
        text = ", ".join(
            f"{number:,} {suite.words.get(reason, reason)}" for reason, number in reasons.items()
        )
        by_text.setdefault(text or "none", []).append(kind)
    if by_text:
        kind = next(iter(excluded))
        every = results.drawn_from.get(kind, 0) + sum(excluded[kind].values())
        parts = [
            text + (f" ({', '.join(kinds)})" if len(by_text) > 1 else "") for text, kinds in by_text.items()
        ]
        yield f"left out of {count(every, suite.made_of)}: {'; '.join(parts)} (-v lists them)"
    if results.leaks is not None:
        requests = count(sum(item.evaluation.answer is not None for item in results.items), "request")
        text = "; ".join(f"{suite.words.get(leak, leak)}: {n:,}" for leak, n in results.leaks.items())
        yield f"leaks in {requests}: {text}" if text else f"leaks: none in {requests}"


def _table(results: Results, group: Group, names: tuple[str, ...]) -> KindTable:
    suite, kind = results.of_suite, group.name
    own = [item for item in results.own if item.evaluation.kind == kind]
    read = sum(item.evaluation.answer is not None and item.evaluation.answer.read for item in own)
    rows = [_row(results, group, metric) for metric in suite.metrics if kind in metric.read_in]
    shown = tuple(row for row in rows if row is not None)
    return KindTable(kind, group.items, read, names, shown, tuple(_notes(results, suite, kind, own)))


def _row(results: Results, group: Group, metric: Metric) -> KindRow | None:
    key = metric.measure.value if metric.measure is not None else metric.name
    own = _Found(group, results.overall, key)
    arms = [
        (arm, _Found(next((g for g in arm.kinds if g.name == group.name), None), arm.overall, key))
        for arm in results.arms
    ]
    if all(each.figure is None for each in (own, *(of_arm for _, of_arm in arms))):
        return None
    cells = tuple(_cell_of(results, metric, arm, of_arm) for arm, of_arm in arms)
    return KindRow(metric, own.value, cells, own.ends)


class _Found:
    """A figure of a kind, among those of the run itself or of a control."""

    def __init__(self, of_kind: Group | None, overall: Group, key: str) -> None:
        self.figure = None if of_kind is None else of_kind.figures.get(key)
        self._overall = overall.figures.get(key)

    @property
    def value(self) -> float | None:
        return None if self.figure is None else self.figure.value

    @property
    def ends(self) -> Ends:
        """Return the interval of the whole run, if no other kind has the figure. Groups have no intervals of
        their own.
        """
        whole = self._overall
        if self.figure is None or whole is None or whole.count != self.figure.count:
            return _NO_ENDS
        return whole.low, whole.high


def _cell_of(results: Results, metric: Metric, arm: Arm, of_arm: _Found) -> Cell:
    if metric.measure is not None:
        paired = next((one for one in arm.lift if one.dimension == metric.measure), None)
        if paired is None:
            return Cell(of_arm.value, None, None, of_arm.ends, _NO_ENDS)
        gain, low, high = paired.gain
        return Cell(of_arm.value, gain, paired.p, of_arm.ends, (low, high))
    whole = gain_of(metric, [item for item in results.items if item.arm == arm.name], results.own)
    if whole is None:
        return Cell(of_arm.value, None, None, of_arm.ends, _NO_ENDS)
    return Cell(of_arm.value, whole.value, whole.p, of_arm.ends, (whole.low, whole.high))


def _notes(results: Results, suite: Suite, kind: str, own: Sequence[Item]) -> Iterator[str]:
    yield from suite.notes(kind, own)
    unread = results.settings.get("not_read")
    unread = unread if isinstance(unread, list | tuple) else ()
    lacking = suite.not_scored(results.settings)
    lacking_names = [
        f"{m.names.title} ({lacking[m].partition(';')[0]})" if lacking.get(m) else m.names.title
        for m in suite.measures
        if m.value in unread and m.is_read_in(kind)
    ]
    if lacking_names:
        yield f"not computed: {', '.join(lacking_names)}"


def _cell(cell: Cell) -> str:
    lift = "" if cell.lift is None else signed(cell.lift)
    if cell.lift is not None and cell.p is not None:
        p = p_value(cell.p)
        lift += f" (p {p})" if p.startswith("<") else f" (p = {p})"
    return f"{_figure(cell.value):>{_VALUE + 1}}  {lift:{_LIFT}}"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
