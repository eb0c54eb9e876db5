"""The first part of the HTML report: the outcome, the reasons and the means.

The means have intervals, which show how certain they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.charts.charts import SOFT, TC, DotRow, Histogram, P, Panel
from pytest_personalens.reports.content.crashes import crash_groups, crashes_title
from pytest_personalens.reports.content.explanation import case_title, sentence_of
from pytest_personalens.results.means import Estimate, estimate, item_scores, score_counts
from pytest_personalens.results.reasons.explanation import explanations
from pytest_personalens.results.wording import (
    CAUSES,
    REPORT_ONLY,
    REPORTED_GATES,
    UNJUDGED,
    control_names,
    quotes_note,
    stale_note,
    trust_note,
    unread_note,
    user_note,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.means import ItemScores
    from pytest_personalens.results.reasons.explanation import Explanation
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_INCOMPLETE: Final = "The run was stopped before its end, or shards of it are missing; no gate is decided."


class Headline(NamedTuple):
    """The outcome in one or two words, with the sentences that explain it. Each sentence has the filter of
    the dialogues that it counts.
    """

    state: Literal["passed", "failed", "open"]
    word: str
    reasons: tuple[tuple[str, str], ...]


class OverviewLine(NamedTuple):
    """A row of a table of figures. It holds counts of its items, and an estimate for each dimension."""

    name: str
    items: int
    scored: int
    estimates: Sequence[Estimate]


def headline(results: Results) -> Headline:
    """Return the outcome of the run. An incomplete run has neither passed nor failed."""
    shard = results.settings.get("shard")
    failed, total = sum(i.failed for i in results.items), len(results.items)
    low = [(_told(why, results), "") for why in explanations(results) if not why.same_as]
    reasons = [] if results.report_only else list(low)
    crashed = [(_crashed(results), "cause=assistant")] if crashes_title(results) else []
    if failed:
        reasons.append((f"{failed:,} of {total:,} tests failed", "status=failed&arm=all"))
    if results.lost:
        reasons.append((f"{len(results.lost):,} tests were lost with their workers", ""))
    if reasons:
        return Headline(
            "failed", "Failed", (*crashed, *reasons, *([] if results.complete else [(_INCOMPLETE, "")]))
        )
    if not results.complete:
        return Headline("open", "Incomplete", (*crashed, (_INCOMPLETE, "")))
    if shard:
        return Headline(
            "open",
            f"Shard {shard[0]} of {shard[1]}",
            (*crashed, ("The gates are decided over all shards together.", "")),
        )
    if not results.overall.scored:
        none = f"No {results.of_suite.dialogue} could be scored."
        return Headline("open", "Not decided", (*crashed, (none, "")))
    if results.report_only:
        reason = _capital(f"{REPORT_ONLY}; {REPORTED_GATES}" if results.gates else REPORT_ONLY)
        return Headline("open", "Report only", (*crashed, (f"{reason}.", ""), *low))
    if results.unjudged:
        return Headline("open", "Measured only", (*crashed, (f"{_capital(UNJUDGED)}.", "")))
    gates = (
        f"All {len(results.gates)} gates passed."
        if len(results.gates) > 1
        else "Its gate passed."
        if results.gates
        else ""
    )
    return Headline("passed", "Passed", (*crashed, (gates or "No test failed; the run had no gate.", "")))


def to_begin_with(results: Results) -> list[tuple[str, str]]:
    """Return the worst dialogues of the failed gates: node id, and who lost what."""
    cases = [case for explained in explanations(results) for case in explained.cases]
    return [
        (case.item.nodeid, case_title(case, results.scenarios.get(case.item.evaluation.scenario)))
        for case in cases
    ]


def _told(why: Explanation, results: Results) -> str:
    """A sentence; of a gate that nothing decides, its name and what is missing."""
    gate = why.gate
    if gate.value is None:
        return f"{gate.name}: {gate.message}"
    return f"{_capital(sentence_of(why, results))}."


def _crashed(results: Results) -> str:
    return f"{_capital(crashes_title(results))}: {'; '.join(crash_groups(results))}"


def main_measures(results: Results) -> list[Measure]:
    """Return the measures that charts show, which must have steps."""
    return [d for d in results.of_suite.main if d.in_steps]


def tile_measures(results: Results) -> list[Measure]:
    """Return the measures with a big figure; in a suite with a table for each kind, all main ones."""
    return list(results.of_suite.main) if results.of_suite.table_by_kind else main_measures(results)


def floors(results: Results) -> dict[Measure, float]:
    """Return the floors of the gates on means."""
    by_name = {g.name: g.limit for g in results.gates if g.kind == "floor"}
    names = {results.of_suite.metric_of(d): d for d in tile_measures(results)}
    return {d: by_name[name] for name, d in names.items() if name in by_name}


def panel(dimension: Measure, *, mean: float | None = None, floor: float | None = None) -> Panel:
    """Return the scale of a dimension as the panel of a chart."""
    low, high = int(dimension.low or 0), int(dimension.high or 0)
    ticks: Sequence[float] = (0, 0.5, 1) if high == 1 else range(low, high + 1)
    return Panel(dimension.names.mean, low, high, ticks, _COLOURS.get(dimension, SOFT), mean, floor)


def open_panel(measure: Measure, shown: Sequence[Estimate], mean: float | None = None) -> Panel:
    """Return the scale of a measure; one without an end reaches as far as the intervals do."""
    ends = [end for one in shown for end in (one.value, one.low, one.high) if end is not None]
    low = math.floor(min(ends, default=0)) if measure.low is None else measure.low
    high = math.ceil(max(ends, default=1)) if measure.high is None else measure.high
    high = max(high, low + 1)
    return Panel(measure.names.mean, low, high, (low, (low + high) / 2, high), TC, mean)


def panels(results: Results, *, of_run: bool) -> list[Panel]:
    """Return the panels of TCR and P, if the run has these scores. If `of_run`, they also mark the means of
    the run.
    """
    floor, means = floors(results), {d: results.overall.figures.get(d.value) for d in main_measures(results)}
    return [
        panel(d, mean=m.value if of_run else None, floor=floor.get(d))
        for d, m in means.items()
        if m is not None
    ]


def domain_rows(
    lines: Sequence[OverviewLine], dimensions: Sequence[Measure], main: Sequence[Measure]
) -> list[DotRow]:
    """Return a row of a chart for each group. The group with the worst personalization comes first. Each row
    has TCR and P, if the run has these scores.
    """
    places = [dimensions.index(d) for d in main if d in dimensions]
    places = [n for n in places if any(line.estimates[n].value is not None for line in lines)]

    def order(line: OverviewLine) -> tuple[float, ...]:
        return tuple(line.estimates[n].value or 0.0 for n in reversed(places))

    return [
        DotRow(line.name, f"{line.scored:,}", [line.estimates[n] for n in places])
        for line in sorted(lines, key=order)
    ]


def group_lines(
    results: Results, dimensions: Sequence[Measure]
) -> tuple[list[OverviewLine], list[OverviewLine]]:
    """Return the figures of the whole run and by kind, and those by domain."""
    own = results.own
    by_domain: dict[str, list[Item]] = {g.name: [] for g in results.domains}
    for item in own:
        for domain in item.evaluation.domains:
            by_domain.setdefault(domain, []).append(item)
    kinds = [g.name for g in results.kinds] if len(results.kinds) > 1 else []
    whole = [
        _line("All", own, dimensions),
        *(
            _line(results.of_suite.kind_name(k), [i for i in own if i.evaluation.kind == k], dimensions)
            for k in kinds
        ),
    ]
    return whole, [_line(name, items, dimensions) for name, items in by_domain.items()]


def control_lines(results: Results, dimensions: Sequence[Measure]) -> list[OverviewLine]:
    """Return the figures of the run itself and of each of its controls."""
    names = control_names(results.of_suite)
    lines = [_line(_capital(names[""]), results.own, dimensions)] if results.arms else []
    return lines + [
        _line(_capital(names[a.name]), [i for i in results.items if i.arm == a.name], dimensions)
        for a in results.arms
    ]


def score_histograms(read: Sequence[ItemScores], dimensions: Sequence[Measure]) -> Iterator[Histogram]:
    """Yield how often each score was given, by dimension."""
    for dimension in dimensions:
        if dimension == Dimension.PERSONALIZATION_TURNS or not dimension.in_steps:
            continue  # personalization by turn has its own chart, and its last score is P
        counts = score_counts(read, dimension)
        low, high = int(dimension.low or 0), int(dimension.high or 0)
        ticks = ["no", "yes"] if high == 1 else [str(score) for score in range(low, high + 1)]
        yield Histogram(dimension.names.score, ticks, counts, _COLOURS.get(dimension, SOFT))


def notes(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the notes that a reader of the figures needs. Each note has the filter of the dialogues that it
    counts, if they can be listed.
    """
    if results.left_out:
        yield (
            f"A selection left {results.left_out:,} items of the sample out; all figures are over the rest.",
            "",
        )
    if results.drawn < results.requested:
        yield (
            (
                f"{results.requested:,} {results.of_suite.item}s were asked for; there are only"
                f" {results.drawn:,}, and all of them are in it."
            ),
            "",
        )
    for cause, number in results.uncounted.items():
        yield f"{number:,} not scored: {CAUSES[cause]}.", "" if cause in results.missing else f"cause={cause}"
    if stale := stale_note(results):
        yield f"{stale}.", ""
    for note in (quotes_note(results), unread_note(results), user_note(results)):
        if note:
            yield f"{_capital(note)}.", ""
    low = sum(i.status == "low" for i in results.own)
    if low and results.gates:
        dialogue = results.of_suite.dialogue
        are = f"{dialogue} is" if low == 1 else f"{dialogue}s are"
        yield f"{low:,} {are} below threshold; low scores fail the run by its gates alone.", "status=low"
    if trust := trust_note(results):
        yield trust, ""


def _line(name: str, items: Sequence[Item], dimensions: Sequence[Measure]) -> OverviewLine:
    read = item_scores(items)
    return OverviewLine(name, len(items), len(read), [estimate(read, d) for d in dimensions])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_COLOURS: Final[dict[Measure, str]] = {
    Dimension.TASK_COMPLETION: TC,
    Dimension.PERSONALIZATION: P,
    Dimension.PERSONALIZATION_TURNS: P,
}
