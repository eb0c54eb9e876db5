"""The tables of a run, each built once; the terminal, Markdown and the page lay them out."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.options.option_table import MANNER
from pytest_personalens.core.safe_text import count
from pytest_personalens.reports.content.markup import Cell, Table, figure_cell, short_line
from pytest_personalens.results.comparison.pairs import gain_of
from pytest_personalens.results.means import by_turn, estimate
from pytest_personalens.results.wording import (
    decision,
    ends_text,
    p_text,
    p_value,
    places,
    signed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.measure import Measure, Metric
    from pytest_personalens.core.suite import Distance
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.figures import (
        Comparison,
        ControlFigures,
        Figure,
        Group,
        PairedChange,
        Shift,
        Slice,
        SliceFigure,
    )
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: Letters of the name of a domain.
_LONGEST: Final = 40
_NONE: Final = "-"
_USUAL: Final = 0.95
_SIDES: Final = ("change", "95 % interval", "one-sided p")
#: A group with fewer scored items is only counted, unless all groups of its demographic are as small.
_LEAST: Final = 3


def score_tables(results: Results, *, ends: bool = False) -> dict[str, Table]:
    """The figures of the whole run and its kinds, of its domains, and by distance, each where there are any;
    with `ends`, also their intervals, and the domain with the lowest figures first. A suite with a table for
    each kind has only those of domains.
    """
    suite = results.of_suite
    shown = [m for m in suite.main if m.value in results.overall.figures]
    tables = {}
    if not suite.table_by_kind:
        kinds = results.kinds if len(results.kinds) > 1 else ()
        domains = list(results.domains)
        if ends:
            keys = [measure.value for measure in reversed(shown)]
            domains.sort(key=lambda g: [g.figures[k].value or 0.0 if k in g.figures else 0.0 for k in keys])
        tables["whole"] = _groups(results, "Scores", (results.overall, *kinds), ends)
        if domains:
            tables["domains"] = _groups(results, "By domain", domains, ends)
    elif results.domains:
        found = domain_table(results)
        rows = tuple((name.strip(), *cells) for name, *cells in found.rows)
        tables["domains"] = Table("By domain, with the items of each", ("", *found.header[1:]), rows)
    distance, by_range = distance_of(results), _by_distance(results)
    if distance is not None and by_range:
        title = f"By distance: {distance.title}, with the {suite.item}s of each"
        found_rows = tuple(
            (name, *(_with_count(estimate(items, m), ends) for m in shown))
            for name, items in by_range.items()
        )
        tables["distances"] = Table(title, ("", *(m.names.heading for m in shown)), found_rows)
    return tables


def _groups(results: Results, title: str, groups: Sequence[Group], ends: bool) -> Table:
    every = (results.overall, *results.kinds, *results.domains)
    shown = {
        key: heading
        for key, heading in results.of_suite.headings().items()
        if any(key in group.figures for group in every)
    }
    measures = {measure.value: measure for measure in results.of_suite.measures}
    rows = []
    for g in groups:
        cells = []
        for key in shown:
            found = g.figures.get(key)
            low, high = (None, None) if found is None else (found.low, found.high)
            if ends and low is None and key in measures and g is not results.overall:
                its = [i for i in results.own if g.name in (*i.evaluation.domains, i.evaluation.kind)]
                _, low, high, *_ = estimate(its, measures[key])
            cells.append(figure_cell(None if found is None else found.value, low, high))
        rows.append((g.name, str(g.items), str(g.scored), *cells))
    return Table(title, ("", "items", "scored", *shown.values()), tuple(rows))


def _with_count(found: Estimate, ends: bool) -> str:
    if not found.dialogues:
        return _NONE
    cell = figure_cell(found.value, *(found[1:3] if ends else (None, None)))
    return Cell(f"{cell} ({found.dialogues})", cell.ends)


def turn_table(results: Results) -> Table | None:
    """Mean personalization after each turn of the assistant; None where nothing was read by turn."""
    turns = by_turn(results.own) if results.of_suite.has_turns else []
    rows = tuple((str(number), _with_count(found, ends=True)) for number, found in enumerate(turns, 1))
    header = ("Turn of the assistant", f"P ({results.of_suite.dialogue}s)")
    return Table("Personalization by turn", header, rows) if rows else None


def domain_table(results: Results) -> Table:
    """The main figures of each domain, each with the number of items that it is over."""
    shown = [m for m in results.of_suite.main if m.value in results.overall.figures]
    rows = [
        (f"  {short_line(g.name, _LONGEST)}", *(_over_items(g.figures.get(m.value)) for m in shown))
        for g in results.domains
    ]
    return Table("By domain", ("by domain (items)", *(m.names.heading for m in shown)), tuple(rows))


def _over_items(figure: Figure | None) -> str:
    return _NONE if figure is None or figure.value is None else f"{figure.value:,.2f} ({figure.count})"


def distance_of(results: Results) -> Distance | None:
    """The distance that the dataset knows of; None without the scenarios of the run."""
    every = results.scenarios.values()
    return next((d for d in results.of_suite.distances if any(d.of(s) is not None for s in every)), None)


def _by_distance(results: Results) -> dict[str, list[Item]]:
    """The items by how far back lies what they rest on, the nearest first; none if no two differ."""
    distance, known = distance_of(results), []
    for item in results.own if distance is not None else ():
        scenario = results.scenarios.get(item.evaluation.scenario)
        if distance is not None and scenario is not None and (far := distance.of(scenario)) is not None:
            known.append((far, distance.range_of(far), item))
    found: dict[str, list[Item]] = {}
    for _, name, item in sorted(known, key=lambda one: one[0]):
        found.setdefault(name, []).append(item)
    return found if len(found) > 1 else {}


def difference_table(comparison: Comparison, item: str) -> Table:
    """The differences from the baseline, or from earlier results, in which case none is tested."""
    tested, rows = comparison.tested, []
    for d in comparison.differences:
        name = f"{d.kind}: {d.dimension.names.heading}" if d.kind else d.dimension.names.heading
        sides = _sides(d, d.change, d.low, d.high, d.confidence)
        more = (decision(d), *sides, figure_cell(d.detectable)) if tested else sides[:-1]
        rows.append((name, *more))
    named = PurePath(comparison.baseline).name
    columns = (f"{item}s", "before", "after", *_SIDES)
    if tested:
        title = f"Since the baseline {named}: {comparison.compared} {item}s compared"
        found = "a drop of the last column is found with a chance of 0.8"
        note = f"Any false alarm has a chance of {comparison.level:g}; {found}."
        header: tuple[str, ...] = ("score", "outcome", *columns, "detectable drop")
    else:
        title = f"Beside {named}: {comparison.compared} {item}s scored in both"
        note = "The changes are not tested: they may be chance."
        header = ("score", *columns[:-1])
    return Table(title, header, tuple(rows), (note, *comparison.notes), words=2 if tested else 1)


def lift_table(results: Results) -> Table:
    """How much better the run is than each control, over the same items."""
    suite = results.of_suite
    rows = [
        (suite.control_word(control.name), lift.dimension.names.heading, *_sides(lift, *lift.gain))
        for control in results.controls
        for lift in control.lift
    ]
    header = ("control", "score", f"{suite.item}s", "control", "run", "lift", *_SIDES[1:])
    return Table("Lift over controls", header, tuple(rows), words=2)


def _sides(
    pair: PairedChange, change: float, low: float | None, high: float | None, confidence: float = _USUAL
) -> tuple[str, ...]:
    """The scenarios, the means before and after, the change, its interval, and the one-sided p."""
    share = "" if confidence == _USUAL or low is None else f" ({100 * confidence:.3g} %)"
    between = _NONE if low is None or high is None else f"{signed(low)} to {signed(high)}{share}"
    means = (figure_cell(pair.before), figure_cell(pair.after), signed(change))
    return (str(pair.pairs), *means, between, p_value(pair.p))


def drift_tables(results: Results) -> Iterator[Table]:
    """What changed since the judge was adopted: its readings of the anchors, and the scores of the run."""
    drift = results.drift
    for what, shifts in () if drift is None else (("anchors", drift.anchors), ("scores", drift.scores)):
        header = (what, "compared", "changed", "far", "mean", "two-sided p", "beyond the anchors")
        if shifts:
            columns = len(header) if any(s.beyond_judge is not None for s in shifts) else len(header) - 1
            rows = tuple(_shift(s)[:columns] for s in shifts)
            yield Table(f"The judge on {what}, since it was adopted", header[:columns], rows)


def _shift(s: Shift) -> tuple[str, ...]:
    numbers = (str(s.compared), str(s.changed), str(s.far), signed(s.mean), p_value(s.p))
    return (s.dimension.short, *numbers, _NONE if s.beyond_judge is None else p_value(s.beyond_judge))


def kind_tables(results: Results) -> list[Table]:
    """For each kind its figures in the run itself and in each control, behind which stands the lift."""
    suite = results.of_suite
    own = suite.given(str(results.settings.get("context", "")), "")
    controls = (name for c in results.controls for name in (suite.control_word(c.name), "lift"))
    header, tables = ("", own, *controls), []
    for group in results.kinds:
        items = [item for item in results.own if item.evaluation.kind == group.name]
        read = sum(item.evaluation.answer is not None and item.evaluation.answer.read for item in items)
        rows = (_kind_row(results, group, metric) for metric in suite.metrics if group.name in metric.read_in)
        title = f"{group.name}: {count(group.items, 'item')}, {read} read"
        notes = tuple(_kind_notes(results, group.name, items))
        tables.append(Table(title, header, tuple(row for row in rows if row is not None), notes))
    return tables


def _kind_row(results: Results, group: Group, metric: Metric) -> tuple[str, ...] | None:
    key = metric.measure.value if metric.measure is not None else metric.name
    found = group.figures.get(key)
    lifts = [_lift(results, metric, control) for control in results.controls]
    digits = max((digits for _, digits in lifts), default=2)
    cells, known = [_of_kind(found, results.overall, key, digits)], found is not None
    for control, (lift, _) in zip(results.controls, lifts, strict=True):
        of_kind = next((g for g in control.kinds if g.name == group.name), None)
        figure = None if of_kind is None else of_kind.figures.get(key)
        known = known or figure is not None
        cells += [_of_kind(figure, control.overall, key, digits), lift]
    better = metric.better if metric.measure is None else metric.measure.better
    return (
        (f"{metric.label} (lower is better)" if better == "low" else metric.label, *cells) if known else None
    )


def _of_kind(found: Figure | None, overall: Group, key: str, digits: int) -> Cell:
    """With the interval of the whole run, if no other kind has the figure: groups have none of their own."""
    whole = overall.figures.get(key)
    if found is None or found.value is None:
        return Cell(_NONE)
    ends = (whole.low, whole.high) if whole is not None and whole.count == found.count else (None, None)
    return Cell(f"{found.value:,.{digits}f}", figure_cell(0.0, *ends).ends)


def _lift(results: Results, metric: Metric, control: ControlFigures) -> tuple[Cell, int]:
    """The lift over a control, and how many decimals tell it from none."""
    if metric.measure is not None:
        paired = next((one for one in control.lift if one.dimension == metric.measure), None)
        found = None if paired is None else (*paired.gain, paired.p)
    else:
        gain = gain_of(metric, [item for item in results.items if item.control == control.name], results.own)
        found = None if gain is None else (gain.value, gain.low, gain.high, gain.p)
    if found is None:
        return Cell(""), 2
    lift, low, high, p = found
    chance = "" if p is None else f" ({p_text(p).removeprefix('one-sided ')})"
    return Cell(f"{signed(lift)}{chance}", figure_cell(0.0, low, high, signed=True).ends), places(lift)


def _kind_notes(results: Results, kind: str, items: Sequence[Item]) -> Iterator[str]:
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


def slice_tables(results: Results) -> list[Table]:
    """A table of groups of users for each demographic that the run is sliced by."""
    measures = [m for m in results.of_suite.main if any(m.value in s.figures for s in results.slices)]
    tables = []
    for name in dict.fromkeys(s.demographic for s in results.slices):
        every = [s for s in results.slices if s.demographic == name]
        shown = [s for s in every if s.scored >= _LEAST] or every
        gaps = name != MANNER  # a user may have several manners, so these have no gaps
        heads = (head for m in measures for head in ((m.names.mean, "gap (p)") if gaps else (m.names.mean,)))
        rows = tuple((s.name, *_slice_cells(s, measures, gaps=gaps)) for s in shown)
        hidden = len(every) - len(shown)
        notes = (f"{count(hidden, 'group')} with fewer than {_LEAST} scored items",) if hidden else ()
        tables.append(Table(name.replace("_", " "), (name, "users", "scored", *heads), rows, notes))
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


def _slice_cells(group: Slice, measures: Sequence[Measure], *, gaps: bool) -> Iterator[str]:
    yield str(group.users)
    yield str(group.scored) if group.scored == group.items else f"{group.scored} of {group.items}"
    for measure in measures:
        found: SliceFigure | None = group.figures.get(measure.value)
        if found is None or found.value is None:
            yield from (_NONE, *([_NONE] if gaps else []))
            continue
        ends = "" if found.low is None or found.high is None else f" ({ends_text(found.low, found.high)})"
        yield f"{found.value:.2f}{ends}"
        if gaps and found.gap is not None and found.p is not None:
            yield f"{signed(found.gap)}{'*' if found.significant else ''} ({p_value(found.p)})"
        elif gaps:
            yield _NONE
