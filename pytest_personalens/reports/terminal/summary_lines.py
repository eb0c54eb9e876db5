"""The summary of a run as lines for a terminal, with trials, controls and the baseline."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.safe_text import count, harmless
from pytest_personalens.reports.content import result_tables
from pytest_personalens.reports.content.findings import (
    INCOMPLETE,
    Findings,
    findings_of,
    tasks_read_as_failed,
)
from pytest_personalens.reports.content.markup import figure, name_column, short_line
from pytest_personalens.reports.content.why_items_failed import said_by_judge, why
from pytest_personalens.results import wording
from pytest_personalens.results.gates.since_baseline import latency_change_text
from pytest_personalens.results.reasons import broken_limits, costs_of
from pytest_personalens.results.values.item import shortfall_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.reports.content.markup import Table
    from pytest_personalens.results.values.figures import (
        Comparison,
        ControlFigures,
        Flip,
        PairedChange,
    )
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_MOST_LISTED: Final = 10
_LONGEST: Final = 120


def outcome_lines(results: Results, *, verbose: bool, listed: bool = True) -> Iterator[str]:
    """Yield the lines, or none if the run has no such results. `listed` includes the scores that changed."""
    suite = results.of_suite
    if (trials := results.trials) is not None:
        passes = (f"pass^{k} {'-' if p is None else f'{p:.2f}'}" for k, p in enumerate(trials.pass_k, 1))
        yield f"{trials.count} trials of each {suite.item}: {', '.join(passes)}"
        if trials.spread:
            spread = ", ".join(f"{name.short} {value:.2f}" for name, value in trials.spread.items())
            yield f"standard deviation within one {suite.item}: {spread}"
    if results.controls:
        yield from _controls(results, verbose=verbose)
    if results.comparison is not None:
        yield from _comparison(results, results.comparison, verbose=verbose, listed=listed)


def _controls(results: Results, *, verbose: bool) -> Iterator[str]:
    suite = results.of_suite
    for control in results.controls:
        name = f"control {suite.control_word(control.name)}"
        for lift in control.lift:
            # A mean over kinds that test opposite things says nothing: some are passed by knowing nothing.
            mixed = suite.kinds_apart and lift.dimension == suite.main[0]
            if lift.dimension in suite.main and not mixed and (verbose or not suite.table_by_kind):
                yield f"{name}: {_lift(lift, suite.own)}"
        if suite.kinds_apart:
            yield f"{name}: {suite.main[0].names.mean} by kind: {_by_kind(results, control)}"
        if unscored := control.overall.items - control.overall.scored:
            yield f"{name}: {unscored} of {count(control.overall.items, 'item')} could not be scored"


def _by_kind(results: Results, control: ControlFigures) -> str:
    """Return ``recall 0.00 -> 0.94, revise ...``: the mean of each kind in the control, and in the run."""
    measure = results.of_suite.main[0].value
    there = {group.name: group.figures[measure].value for group in control.kinds if measure in group.figures}
    here = {group.name: group.figures[measure].value for group in results.kinds if measure in group.figures}
    both = ((kind, there.get(kind), now) for kind, now in here.items())
    return ", ".join(f"{kind} {a:.2f} -> {b:.2f}" for kind, a, b in both if a is not None and b is not None)


def _lift(lift: PairedChange, own: str) -> str:
    means = f"{lift.dimension.names.mean} {lift.before:.2f}, with {own} {lift.after:.2f}"
    gain, low, high = lift.gain
    ends, p = wording.signed_interval(low, high), wording.p_text(lift.p)
    return f"{means}: lift {wording.signed(gain)} ({ends}, {p})"


def low_lines(results: Results) -> list[str]:
    """Return a line for each scenario below a threshold: what it missed, and in how many trials."""
    missed: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in results.own:
        if item.status == "low":
            missed[item.key].append(item)
    runs, several = Counter(item.key for item in results.own), len({item.test for item in results.own}) > 1
    lines = []
    for key, items in missed.items():
        test = f" in {items[0].test.rpartition('::')[2]}" if several else ""
        short = "; ".join(dict.fromkeys(shortfall_text(item.shortfalls) for item in items))
        trials = f" (in {len(items)} of {runs[key]} trials)" if runs[key] > 1 else ""
        lines.append(f"{items[0].evaluation.scenario}{test}: {short}{trials}")
    return lines


def _comparison(results: Results, comparison: Comparison, *, verbose: bool, listed: bool) -> Iterator[str]:
    compared = count(comparison.compared, results.of_suite.item)
    if comparison.tested:
        level = wording.level_text(comparison)
        yield f"compared with {comparison.baseline}: {compared}, at the level {level}"
    else:
        yield f"beside {comparison.baseline}: {compared} scored in both; the changes are not tested"
    # A measure with a gate is reported there.
    gated = any(gate.kind == "regression" for gate in results.gates)
    for difference in comparison.differences:
        if not (gated and difference.gated):
            yield f"  {wording.sentence(difference, results.of_suite.item, comparison)}"
    worse = [flip for flip in comparison.flips if flip.fell]
    better = [flip for flip in comparison.flips if not flip.fell]
    if (latency := comparison.latency) is not None and (latency.p is None or not gated):
        yield f"  {latency_change_text(latency, results.of_suite.item)}"
    if listed:
        yield from _flips(worse, "worse", results, most=len(worse) if verbose else _MOST_LISTED)
        # What got better is good to know, but nobody needs to look at it.
        yield from _flips(better, "better", results, most=len(better) if verbose else 0)
    for cause, scenarios in comparison.left_out.items():
        names = f": {', '.join(scenarios)}" if verbose else ""
        yield f"  not compared, {cause}: {len(scenarios)}{names}"
    yield from (f"  note: {note}" for note in comparison.notes)


def _flips(flips: list[Flip], way: str, results: Results, *, most: int) -> Iterator[str]:
    if not flips:
        return
    items = {item.nodeid: item for item in results.own}
    shown = flips[:most]
    number = f"{count(len(flips), 'score')} {way} than then"
    yield f"  {number}:" if shown else f"  {number} (-v lists them)"
    for flip in shown:
        where = f"  ({', '.join(flip.records)})" if flip.records else ""
        # A score, or a mean over trials.
        before, after = (f"{round(score, 2):g}" for score in (flip.before, flip.after))
        because = _because(flip, items, results)
        yield f"    {flip.scenario}: {flip.dimension.short} {before} -> {after}{because}{where}"
    if shown and len(shown) < len(flips):
        yield f"    and {len(flips) - len(shown)} more (-v lists them all)"


def _because(flip: Flip, items: dict[str, Item], results: Results) -> str:
    evaluations = [items[nodeid].evaluation for nodeid in flip.nodeids]
    verdicts = [v for e in evaluations for v in e.verdicts if v.dimension == flip.dimension]
    # Of several trials, the one with the largest change explains most.
    outermost = min if flip.fell == (flip.dimension.better == "high") else max
    verdict = outermost(verdicts, key=lambda one: one.score, default=None)
    if verdict is None:
        return ""
    scenario = results.scenarios.get(flip.scenario)
    if flip.fell:
        text = why(verdict, costs_of(verdict), scenario)
    else:
        text = said_by_judge(verdict.justification, verdict, scenario)
    return f", {short_line(text, _LONGEST)}"


_MOST_ROWS: Final = 20
#: Broken limits that are named.
_MOST_BROKEN: Final = 5
#: A mean over fewer items says nothing of a domain.
_LEAST_IN_A_DOMAIN: Final = 4
#: So many smaller domains are shown all the same.
_MOST_SMALL: Final = 3
#: A table of so many domains is shown under failed gates, too.
_MOST_IN_SHORT: Final = 7
_LONGEST_ROW: Final = 300
#: The judge and the dataset that need no other.
_EMBEDDED: Final = "embedded"
#: The least columns of the name of a group, and the most of its letters.
_LEAST_NAME = 14
_WIDTH: Final = 100


def summary_lines(
    results: Results,
    *,
    verbose: bool,
    domains: bool = True,
    written: Sequence[str] = (),
    records: str = "",
    explained: bool = False,
    width: int = 0,
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the lines of the summary, each with the names of its markup: bold, red, yellow or green.

    With `domains`, there is a line for each domain. If the failed gates were `explained` before, the rest is
    short: lists are counted. Notes of several clauses are wrapped at `width` columns; the line of a gate is
    whole, so that it can be searched.
    """
    short, findings = explained and not verbose, findings_of(results)
    if results.drift is not None:
        for number, line in enumerate(drift_lines(results)):
            yield line, () if number else ("bold",) if results.drift.passed else ("bold", "red")
        yield "", ()
    if findings.crashes:
        yield f"{findings.crashes}:", ("bold", "red")
        yield from ((f"  {way}", ()) for way in findings.ways)
        yield "", ()
    if results.overall.scored:
        if part := wording.part_note(results):
            yield f"scores {part}:", ("yellow",)
        table = _kinds if results.of_suite.table_by_kind else _table
        for line in table(results, domains=domains, short=short, verbose=verbose):
            yield line, ()
        if results.settings.get("judge_model") == _EMBEDDED and results.dataset.startswith(_EMBEDDED):
            yield from ((line, ()) for line in [results.of_suite.bearings] if line)
    plain = [
        *(
            line
            for table in result_tables.slice_tables(results)
            for line in (*table.lines(), *table.notes, "")
        ),
        *([note] if (note := result_tables.slices_note(results)) else []),
        *([] if short and not results.slices else [""]),
        *outcome_lines(results, verbose=verbose, listed=not short),
        *_notes(results, findings, verbose=verbose, records=records, short=short, width=width or _WIDTH),
        *usage_table(results.usage, results.usd),
    ]
    yield from ((line, ()) for line in plain)
    for gate in sorted(results.gates, key=lambda gate: gate.passed):
        colour = "green" if gate.passed else "yellow" if results.report_only else "red"
        line = f"gate {gate.name}: {wording.gate_outcome(gate, results)}, {gate.message}"
        yield line, (colour,)
    if results.went_wrong or tasks_read_as_failed(results):
        yield from ((line, ()) for line in textwrap.wrap(findings.trust, width or _WIDTH))
    if results.report_only and not (results.lost or any(item.failed for item in results.items)):
        note = f"{wording.REPORT_ONLY}, {wording.REPORTED_GATES}" if results.gates else wording.REPORT_ONLY
        yield f"{note} (--personalens-gate none)", ("yellow",)
    if results.unjudged:
        yield f"personalens: {wording.UNJUDGED}", ("yellow",)
    yield from ((line, ()) for line in written)


def _table(results: Results, *, domains: bool, short: bool, verbose: bool) -> Iterator[str]:
    shown = {k: name for k, name in results.of_suite.headings().items() if k in results.overall.figures}
    wide = {key: max(7, len(heading) + 1) for key, heading in shown.items()}
    head = "".join(f"{heading:>{wide[key]}}" for key, heading in shown.items())
    large = [group for group in results.domains if group.items >= _LEAST_IN_A_DOMAIN]
    if verbose or len(results.domains) - len(large) <= _MOST_SMALL:
        large = [*results.domains]
    kinds = results.kinds if len(results.kinds) > 1 else ()
    groups = [results.overall, *kinds, *(large if domains else ())]
    if short:  # and those with a gate of their own
        gated = {gate.name.rpartition(": ")[0] for gate in results.gates}
        gated |= {kind.name for kind in kinds if results.of_suite.kinds_apart}
        groups = [results.overall, *(g for g in (*results.kinds, *results.domains) if g.name in gated)]
    names, first = name_column((group.name for group in groups), _LEAST_NAME)
    yield f"{'':{first}}{'items':>6}{'scored':>8}{head}"
    for name, group in zip(names, groups, strict=True):
        means = {key: group.figures[key].value if key in group.figures else None for key in shown}
        cells = "".join(f"{figure(mean):>{wide[key]}}" for key, mean in means.items())
        yield f"{name:{first}}{group.items:6}{group.scored:8}{cells}"
    if (hidden := len(results.domains) - len(large)) and domains and not short:
        yield f"{count(hidden, 'domain')} with fewer than {_LEAST_IN_A_DOMAIN} items (-v lists them)"


def _kinds(results: Results, *, domains: bool, short: bool, verbose: bool) -> Iterator[str]:
    for table in result_tables.kind_tables(results):
        yield from _kind_lines(table)
    if domains and results.domains and (not short or len(results.domains) <= _MOST_IN_SHORT):
        yield from result_tables.domain_table(results).lines()
    yield from result_tables.source_lines(results)


def _kind_lines(table: Table) -> Iterator[str]:
    """The figures of a kind: the run's own, then each control with the lift over it."""
    title = (table.title, *table.header[1:])
    for name, own, *controls in (title, *((f"  {name}", *cells) for name, *cells in table.rows)):
        pairs = zip(controls[::2], controls[1::2], strict=True)
        cells = "".join(f"{value:>11}  {lift:17}" for value, lift in pairs)
        yield f"{name:30}{own:>10}{cells}".rstrip()
    yield from (f"  {note}" for note in table.notes)


def _notes(
    results: Results, findings: Findings, *, verbose: bool, records: str, short: bool, width: int
) -> Iterator[str]:
    if shard := results.settings.get("shard"):
        text = "its gates are decided over all shards, by personalens merge"
        yield f"shard {shard[0]}/{shard[1]} of the run: {text}"
    if not results.complete:
        yield INCOMPLETE
    notes = {about: note.text for about, note in findings.notes.items() if about != "low"}
    stale = notes.pop("stale", "")
    yield from (notes.pop(about) for about in ("selection", "sample") if about in notes)
    if results.turns is not None and results.turns.value is not None and not short:
        calls = sum(used.calls for used in results.usage.values())
        dollars = f", ${sum(results.usd.values()):.4f}" if results.usd else ""
        used = f"; {calls:,} model calls{dollars}" if calls else ""
        yield f"dialogues: {results.turns.value:.1f} user turns on average{used}"
    cut = [i for i in results.items if any(m.cut for m in i.evaluation.dialogue.messages)]
    if cut and not short:
        how = next(m.cut for m in cut[0].evaluation.dialogue.messages if m.cut)
        yield f"replies that are not whole in {len(cut)} of {len(results.items)} items, such as: {how}"
    if results.by_turn:
        # Only the first turns are shown, because few dialogues have the later ones.
        means = ", ".join(f"{n}: {m.value:.2f} ({m.count})" for n, m in enumerate(results.by_turn[:8], 1))
        yield f"personalization after each turn of the assistant (dialogues), goodbyes left out: {means}"
    states = Counter(i.record for i in results.items if i.record != "none")
    if states and not (short and stale and not records):
        counts = ", ".join(f"{states[s]} {s}" for s in ("replayed", "written", "stale") if states[s])
        yield f"records: {counts}" + (" (another dialogue than now)" if states["stale"] else "")
    if stale and not records:
        yield stale
    for about, note in notes.items():
        # A note of several clauses.
        yield from textwrap.wrap(note, width, subsequent_indent="  ") if about == "user" else (note,)
        if about == "limits":
            yield from _listed(broken_limits(results), None if verbose else _MOST_BROKEN)
        cause = about.removeprefix("not scored: ")
        if cause != about and cause != "assistant":  # the summary lists the assistant's failures above
            yield from _such_as(results, cause)
    if records:
        yield records
    low, limits = low_lines(results), wording.thresholds_text(results)
    if low and short:
        yield f"below a threshold: {count(len(low), results.of_suite.item)} (-v lists them)"
    elif low and results.of_suite.table_by_kind and not verbose:
        kinds = Counter(item.evaluation.kind for item in results.own if item.status == "low")
        yield f"below {limits}: {', '.join(f'{n} {kind}' for kind, n in kinds.items())} (-v lists them)"
    elif low:
        yield f"below {limits}:"
        yield from _listed(low, None if verbose else _MOST_ROWS)


def _listed(lines: Sequence[str], most: int | None) -> Iterator[str]:
    yield from (f"  {line}" for line in lines[:most])
    if most is not None and len(lines) > most:
        yield f"  and {len(lines) - most} more (-v lists them all)"


def _such_as(results: Results, cause: str) -> Iterator[str]:
    """Yield the most frequent problem. pytest shows the reasons of skipped items only on request."""
    met = Counter(i.evaluation.detail for i in results.own if i.evaluation.cause == cause)
    for detail, _ in met.most_common(1):
        yield f"  such as: {' '.join(detail.split())[:_LONGEST_ROW]}"


def usage_table(usage: Mapping[str, Usage], usd: Mapping[str, float]) -> Iterator[str]:
    """Yield the usage, with a line for each purpose.

    A line has the calls, the input tokens at full price, from a cache and to a cache, the output tokens, and
    the dollars.
    """
    if not usage:
        return
    wide = max(22, *(len(purpose) + 1 for purpose in usage))
    yield f"{'':{wide}}{'calls':>8}{'in':>12}{'cached':>12}{'written':>12}{'out':>12}{'US$':>10}"
    total = sum(usage.values(), Usage())
    for name, u in [*usage.items(), ("all", total)]:
        money = sum(usd.values()) if name == "all" else usd.get(name)
        shown = "-" if money is None or (name == "all" and not usd) else f"{money:.4f}"
        counts = (u.input_tokens, u.cached_tokens, u.written_tokens, u.output_tokens)
        yield f"{name:{wide}}{u.calls:8,}{''.join(f'{count:12,}' for count in counts)}{shown:>10}"


_MOST_NOTES = 5


def drift_lines(results: Results) -> Iterator[str]:
    """Yield the outcome of the check of the judge in one sentence, then its figures."""
    drift = results.drift
    if drift is None:
        return
    yield harmless(drift.sentence)
    for table in result_tables.drift_tables(results):
        yield from (f"  {line}" for line in table.lines())
    for note in drift.notes[:_MOST_NOTES]:
        yield f"  {harmless(note)}"
    if len(drift.notes) > _MOST_NOTES:
        more = len(drift.notes) - _MOST_NOTES
        yield f"  and {more} more notes (--personalens-report PATH.json holds them all)"
