"""The tables of a suite with kinds, and of groups of users: figures in each setting, with lifts and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.options.option_table import MANNER
from pytest_personalens.reports.content.markup import Table, short_line
from pytest_personalens.results.comparison.pairs import gain_of
from pytest_personalens.results.wording import count, ends_text, p_value, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.measure import Metric
    from pytest_personalens.core.suite import Distance
    from pytest_personalens.results.values.figures import ControlFigures, Figure, Group, Slice, SliceFigure
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_NAME: Final = 28
_VALUE: Final = 10
#: Letters of the name of a domain.
_LONGEST: Final = 40
_LIFT: Final = 17
#: The two ends of a 95 % interval; None where there is none.
Ends = tuple[float | None, float | None]
_NO_ENDS: Final[Ends] = (None, None)


class Cell(NamedTuple):
    """A figure in a control, and how much better the run itself is. `p` is one-sided."""

    value: float | None
    ends: Ends
    lift: float | None = None
    p: float | None = None
    lift_ends: Ends = _NO_ENDS


class KindRow(NamedTuple):
    """A figure of a kind: in the run itself, and in each control."""

    metric: Metric
    own: float | None
    cells: tuple[Cell, ...]
    ends: Ends


class KindTable(NamedTuple):
    """The figures of a kind in the run itself and in its controls, whose names are `settings`.

    `read` is the number of items of the run itself with an answer that could be read.
    """

    kind: str
    items: int
    read: int
    settings: tuple[str, ...]
    rows: tuple[KindRow, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """``impact: 40 items, 39 read``."""
        return f"{self.kind}: {count(self.items, 'item')}, {self.read} read"


def kind_tables(results: Results) -> list[KindTable]:
    suite = results.of_suite
    own = suite.given(str(results.settings.get("context", "")), "")
    names = (own, *(suite.control_word(control.name) for control in results.controls))
    tables = []
    for group in results.kinds:
        items = [item for item in results.own if item.evaluation.kind == group.name]
        read = sum(item.evaluation.answer is not None and item.evaluation.answer.read for item in items)
        rows = (_row(results, group, metric) for metric in suite.metrics if group.name in metric.read_in)
        shown = tuple(row for row in rows if row is not None)
        notes = tuple(_notes(results, group.name, items))
        tables.append(KindTable(group.name, group.items, read, names, shown, notes))
    return tables


def table_lines(tables: Sequence[KindTable]) -> Iterator[str]:
    for table in tables:
        controls = "".join(f"{name:>{_VALUE + 1}}  {'lift':{_LIFT}}" for name in table.settings[1:])
        yield f"{table.title:{_NAME + 2}}{table.settings[0]:>{_VALUE}}{controls}".rstrip()
        for row in table.rows:
            cells = "".join(f"{_text(cell.value):>{_VALUE + 1}}  {_lift(cell):{_LIFT}}" for cell in row.cells)
            yield f"  {label_of(row.metric):{_NAME}}{_text(row.own):>{_VALUE}}{cells}".rstrip()
        yield from (f"  {note}" for note in table.notes)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"


def _lift(cell: Cell) -> str:
    if cell.lift is None or cell.p is None:
        return "" if cell.lift is None else signed(cell.lift)
    p = p_value(cell.p)
    return f"{signed(cell.lift)} (p {p})" if p.startswith("<") else f"{signed(cell.lift)} (p = {p})"


def domain_table(results: Results) -> Table:
    """Return the main figures of each domain, each with the number of items that it is over."""
    shown = [m for m in results.of_suite.main if m.value in results.overall.figures]
    rows = [
        (f"  {short_line(g.name, _LONGEST)}", *(_over_items(g.figures.get(m.value)) for m in shown))
        for g in results.domains
    ]
    return Table("By domain", ("by domain (items)", *(m.names.heading for m in shown)), tuple(rows))


def distance_of(results: Results) -> Distance | None:
    """Return the distance that the dataset knows of; None without the scenarios of the run."""
    every = results.scenarios.values()
    return next((d for d in results.of_suite.distances if any(d.of(s) is not None for s in every)), None)


def by_distance(results: Results, items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return the items by how far back lies what they rest on, the nearest first; none if no two differ."""
    distance, known = distance_of(results), []
    if distance is None:
        return {}
    for item in items:
        scenario = results.scenarios.get(item.evaluation.scenario)
        if scenario is not None and (far := distance.of(scenario)) is not None:
            known.append((far, item))
    found: dict[str, list[Item]] = {}
    for far, item in sorted(known, key=lambda pair: pair[0]):
        found.setdefault(distance.range_of(far), []).append(item)
    return found if len(found) > 1 else {}


def _over_items(figure: Figure | None) -> str:
    return "-" if figure is None or figure.value is None else f"{figure.value:,.2f} ({figure.count})"


def label_of(metric: Metric) -> str:
    return f"{metric.label} (lower is better)" if is_low_better(metric) else metric.label


def is_low_better(metric: Metric) -> bool:
    return (metric.better if metric.measure is None else metric.measure.better) == "low"


def source_lines(results: Results) -> Iterator[str]:
    """Yield what the sample was drawn from, and what its requests give away."""
    suite, excluded = results.of_suite, results.excluded
    by_text: dict[str, list[str]] = {}
    for kind, reasons in excluded.items():
        parts = (f"{number:,} {suite.words.get(reason, reason)}" for reason, number in reasons.items())
        by_text.setdefault(", ".join(parts) or "none", []).append(kind)
    if by_text:
        kind = next(iter(excluded))
        every = results.drawn_from.get(kind, 0) + sum(excluded[kind].values())
        several = len(by_text) > 1
        texts = [text + (f" ({', '.join(kinds)})" if several else "") for text, kinds in by_text.items()]
        yield f"left out of {count(every, suite.made_of)}: {'; '.join(texts)} (-v lists them)"
    if results.leaks is not None:
        requests = count(sum(item.evaluation.answer is not None for item in results.items), "request")
        text = "; ".join(f"{suite.words.get(leak, leak)}: {n:,}" for leak, n in results.leaks.items())
        yield f"leaks in {requests}: {text}" if text else f"leaks: none in {requests}"


def _row(results: Results, group: Group, metric: Metric) -> KindRow | None:
    key = metric.measure.value if metric.measure is not None else metric.name
    found, ends = group.figures.get(key), _ends(group.figures.get(key), results.overall, key)
    cells, known = [], found is not None
    for control in results.controls:
        of_kind = next((g for g in control.kinds if g.name == group.name), None)
        figure = None if of_kind is None else of_kind.figures.get(key)
        known = known or figure is not None
        value = None if figure is None else figure.value
        cells.append(_with_lift(Cell(value, _ends(figure, control.overall, key)), results, metric, control))
    return KindRow(metric, None if found is None else found.value, tuple(cells), ends) if known else None


def _ends(figure: Figure | None, overall: Group, key: str) -> Ends:
    """The interval of the whole run, if no other kind has the figure: groups have none of their own."""
    whole = overall.figures.get(key)
    if figure is None or whole is None or whole.count != figure.count:
        return _NO_ENDS
    return whole.low, whole.high


def _with_lift(cell: Cell, results: Results, metric: Metric, control: ControlFigures) -> Cell:
    if metric.measure is not None:
        paired = next((one for one in control.lift if one.dimension == metric.measure), None)
        if paired is None:
            return cell
        lift, low, high = paired.gain
        return cell._replace(lift=lift, p=paired.p, lift_ends=(low, high))
    gain = gain_of(metric, [item for item in results.items if item.control == control.name], results.own)
    if gain is None:
        return cell
    return cell._replace(lift=gain.value, p=gain.p, lift_ends=(gain.low, gain.high))


def _notes(results: Results, kind: str, items: Sequence[Item]) -> Iterator[str]:
    suite, unread = results.of_suite, results.settings.get("not_read")
    yield from suite.notes(kind, items)
    unread = unread if isinstance(unread, list | tuple) else ()
    why_not = suite.not_scored(results.settings)
    names = [
        f"{m.names.title} ({why_not[m].partition(';')[0]})" if why_not.get(m) else m.names.title
        for m in suite.measures
        if m.value in unread and m.is_read_in(kind)
    ]
    if names:
        yield f"not computed: {', '.join(names)}"


#: A group with fewer scored items is only counted, unless all groups of its demographic are as small.
_LEAST: Final = 3
_NONE: Final = "-"


def slice_tables(results: Results) -> list[Table]:
    """Return a table of groups for each demographic that the run is sliced by."""
    measures = [m for m in results.of_suite.main if any(m.value in s.figures for s in results.slices)]
    header = ("users", "scored", *(name for m in measures for name in (m.names.mean, "gap (p)")))
    tables = []
    for name in dict.fromkeys(s.demographic for s in results.slices):
        every = [s for s in results.slices if s.demographic == name]
        shown = [s for s in every if s.scored >= _LEAST] or every
        rows = tuple((s.name, *_cells(s, [s.figures.get(m.value) for m in measures])) for s in shown)
        hidden = len(every) - len(shown)
        notes = (f"{count(hidden, 'group')} with fewer than {_LEAST} scored items",) if hidden else ()
        if name == MANNER:  # a user may have several, so these have no gaps
            rows = tuple((*row[:3], *row[3::2]) for row in rows)
        named = (*header[:2], *header[2::2]) if name == MANNER else header
        tables.append(Table(name.replace("_", " "), (name, *named), rows, notes))
    return tables


def slices_note(results: Results) -> str:
    """Return what a reader of the gaps must know; empty without slices."""
    if all(s.demographic == MANNER for s in results.slices):
        return ""
    found = sum(f.significant for s in results.slices for f in s.figures.values())
    tested = sum(f.gap is not None for s in results.slices for f in s.figures.values())
    if not tested:
        return "no gap can be tested: no task was drawn for three users of a group and three of the rest"
    verdict = f"{found} of {count(tested, 'gap')} {'is' if found == 1 else 'are'} significant (*)"
    how = "over the tasks that both have; the error rate of 5 % is that of all gaps together (Holm)"
    return f"gap: a group against the other users, {how}; {verdict}"


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
