"""A run as Markdown, bounded in size.

It is for the summary of a CI job and for comments on pull requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from pytest_personalens.core.usage import Usage
from pytest_personalens.reports.beside import moved_table, overlap, side_by_side
from pytest_personalens.reports.crashes import crash_groups, crashes_title
from pytest_personalens.reports.explanation import sentence_of
from pytest_personalens.reports.failures import failure_row, failures, verdict_line
from pytest_personalens.reports.markdown_failure import failure_section
from pytest_personalens.reports.markup import code, escaped, figure, interval_text, markdown_table
from pytest_personalens.results.explanation import explanations
from pytest_personalens.results.wording import decision, gate_outcome, p_value, part_note, quotes_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.results.changes import Comparison, Flip, Paired
    from pytest_personalens.results.values import Results

#: The limit in bytes. A comment on a pull request may have 65,536 characters.
COMMENT_LIMIT: Final = 60_000
#: Bytes that are reserved for the note about cut parts.
_RESERVED: Final = 600
#: A table with more rows is folded.
_LONG: Final = 6
_MOST_NAMED: Final = 5


class Section(NamedTuple):
    """Lines that belong together.

    `total` is the number of rows, of which the last ones may be cut. `what` is the word for them. `head`
    comes before the rows, and `tail` comes after them.
    """

    head: Sequence[str]
    rows: Iterable[str] = ()
    total: int = 0
    what: str = ""
    tail: Sequence[str] = ()


def markdown_report(
    results: Results, *, before: Results | None = None, limit: int = COMMENT_LIMIT, link: str = ""
) -> str:
    """Return the report, with at most `limit` bytes in UTF-8 (3,000 or more).

    The end of the report lists the parts that were cut. `before` is another run to compare with. `link` is
    the web address of the root folder of the tests, such as ``https://github.com/OWNER/NAME/blob/COMMIT``.
    Links to records start there.
    """
    return _fitted(_sections(results, before, link), limit)


def _sections(results: Results, before: Results | None, link: str) -> Iterator[Section]:
    outcome = verdict_line(results)
    sign = "❌" if outcome.startswith("FAILED") else "✅" if outcome.startswith("passed") else "⚠️"
    yield Section((f"## {sign} personalens {escaped(outcome, 400)}", "", _about(results)))
    if crashed := crashes_title(results):
        ways = [f"- {escaped(way, 400)}" for way in crash_groups(results)]
        yield Section(
            ("", f"**{escaped(crashed[0].upper() + crashed[1:])}:**", "", *ways),
            what="what the assistant failed of",
        )
    said = set[str]()
    for explained in explanations(results):
        what = f"why the gate {explained.gate.name} failed"
        if (sentence := sentence_of(explained, results)) not in said:
            yield Section(tuple(failure_section(explained, results)), what=what)
        said.add(sentence)
    if results.gates:
        yield _titled("### Gates", _gates(results), "gates")
    if results.overall.items:
        if part := part_note(results):
            yield Section(("", f"**Scores {part}:**"), what="how many dialogues the scores are of")
        yield from _totals(results)
    if results.comparison is not None:
        yield from _comparison(results.comparison, link)
    if before is not None:
        yield from _beside(before, results)
    if results.arms:
        yield _titled("### Lift over controls", _lifts(results), "lifts")
    if results.trials is not None:
        yield Section(
            ("", f"### {results.trials.count} runs of each scenario", "", *_trials(results)),
            what="what the trials showed",
        )
    wrong = failures(results)
    if wrong:
        # The rows are made one by one, because a large run may have thousands of which only a few fit.
        rows = (failure_row(item, results, _record(item.transcript_file, link)) for item in wrong)
        yield _folded(
            f"Failed, below a threshold or not scored: {len(wrong)}", (), rows, len(wrong), "failures"
        )
    if results.usage:
        yield Section(("", _usage(results)), what="the usage")


def _about(results: Results) -> str:
    s = results.settings
    parts = [
        f"{results.drawn} {results.of_suite.item}s of {results.dataset}",
        f"{results.overall.scored} of {results.expected} items scored",
        *(f"{name}: {value}" for name, value in results.of_suite.facts(s).items()),
    ]
    parts += [f"left out by a selection: {results.left_out}"] if results.left_out else []
    parts += [f"not scored: {number} ({cause})" for cause, number in results.uncounted.items()]
    parts += [f"tool calls: {calls}"] if (calls := _calls(results)) else []
    parts += [quotes] if (quotes := quotes_note(results)) else []
    if results.drift is not None:
        parts.append(results.drift.sentence)
    return escaped("; ".join(parts), 1_000)


def _calls(results: Results) -> str:
    """How many tools were called, such as ``41 in 12 of 30 dialogues``; empty where no dialogue tells."""
    told = [item.evaluation.dialogue for item in results.own if item.evaluation.dialogue.acts]
    calls = [sum(m.calls for m in dialogue.messages) for dialogue in told]
    return f"{sum(calls):,} in {sum(map(bool, calls)):,} of {len(results.own):,} dialogues" if told else ""


def _gates(results: Results) -> list[str]:
    rows = (
        (
            escaped(gate.name),
            "passed" if gate.passed else f"**{gate_outcome(gate, results)}**",
            escaped(gate.message, 400),
            figure(gate.value),
            interval_text(gate.low, gate.high),
            figure(gate.limit),
        )
        for gate in sorted(results.gates, key=lambda gate: gate.passed)
    )
    return markdown_table(("gate", "outcome", "measured", "value", "95 % interval", "floor"), rows, words=3)


def _totals(results: Results) -> Iterator[Section]:
    if results.of_suite.table_by_kind:
        from pytest_personalens.reports.markdown_kinds import kind_sections

        for table in kind_sections(results):
            yield _titled(table.title, table.lines, f"rows of {table.title[4:]}", table.after)
        return
    shown = {
        key: heading
        for key, heading in results.of_suite.headings().items()
        if any(key in group.figures for group in (results.overall, *results.kinds, *results.domains))
    }
    header = ("", "items", "scored", *shown.values())

    kinds = results.kinds if len(results.kinds) > 1 else ()
    for title, groups, what in (
        ("### Scores", (results.overall, *kinds), "kinds"),
        ("By domain", results.domains, "domains"),
    ):
        lines = markdown_table(
            header,
            [
                (
                    escaped(g.name),
                    str(g.items),
                    str(g.scored),
                    *(figure(g.figures[key].value if key in g.figures else None) for key in shown),
                )
                for g in groups
            ],
        )
        if what == "kinds" or 0 < len(groups) <= _LONG:
            yield _titled(title, lines, what)
        elif groups:
            yield _folded(f"{title}: {len(groups)}", lines[:2], lines[2:], len(groups), what)


def _comparison(comparison: Comparison, link: str) -> Iterator[Section]:
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
        "scenarios",
        "before",
        "after",
        "change",
        "95 % interval",
        "one-sided p",
        "detectable drop",
    )
    yield _titled(
        f"### Since the baseline {escaped(comparison.baseline)}: {comparison.compared} scenarios compared",
        markdown_table(header, rows, words=2),
        "differences",
        after=(
            "",
            (
                f"Any false alarm has a chance of {comparison.level:g}; a drop of the last column is found"
                " with a chance of 0.8."
            ),
        ),
    )
    flips = sorted(comparison.flips, key=lambda f: (f.after - f.before, f.scenario))
    if flips:
        lines = markdown_table(
            ("scenario", "score", "record", "before", "after"), (_flip(f, link) for f in flips), words=3
        )
        yield _folded(
            f"Scores that changed: {len(flips)}", lines[:2], lines[2:], len(flips), "changed scores"
        )
    if comparison.left_out:
        left = [
            f"- {escaped(why)}: {len(names)} ({_some(names)})" for why, names in comparison.left_out.items()
        ]
        yield Section(("", "Not compared:", ""), left, len(left), "reasons why scenarios were not compared")


def _flip(flip: Flip, link: str) -> tuple[str, ...]:
    records = ", ".join(_record(file, link) for file in flip.records[:_MOST_NAMED])
    return (
        escaped(flip.scenario),
        flip.dimension.names.heading,
        records or "-",
        figure(flip.before),
        figure(flip.after),
    )


def _beside(before: Results, results: Results) -> Iterator[Section]:
    beside = side_by_side(before, results)
    notes = [f"- {escaped(note, 400)}" for note in beside.notes]
    yield _titled(
        "### Before and after",
        moved_table(beside),
        "figures",
        after=("", overlap(beside), *(("", *notes) if notes else ())),
    )
    if beside.changed:
        rows = (
            (escaped(c.name), c.dimension.names.heading, str(c.before), str(c.after)) for c in beside.changed
        )
        lines = markdown_table(("scenario", "score", "before", "after"), rows, words=2)
        yield _folded(
            f"Scores that differ: {len(beside.changed)}",
            lines[:2],
            lines[2:],
            len(beside.changed),
            "scores that differ",
        )


def _lifts(results: Results) -> list[str]:
    rows = (
        (
            escaped(results.of_suite.arm_word(control.name)),
            lift.dimension.names.heading,
            *_sides(lift, *lift.gain),
        )
        for control in results.arms
        for lift in control.lift
    )
    return markdown_table(
        ("control", "score", "scenarios", "control", "run", "lift", "95 % interval", "one-sided p"),
        rows,
        words=2,
    )


def _sides(pair: Paired, change: float, low: float | None, high: float | None) -> tuple[str, ...]:
    """Return the cells of both sides.

    These are the scenarios, the means before and after, the change, its interval, and the one-sided p.
    """
    moved = (
        figure(change, signed=True),
        interval_text(low, high, signed=True),
        escaped(p_value(pair.p)),
    )
    return (str(pair.pairs), figure(pair.before), figure(pair.after), *moved)


def _trials(results: Results) -> Iterator[str]:
    trials = results.trials
    assert trials is not None
    if trials.pass_k:
        lines = markdown_table(
            [f"pass^{k}" for k in range(1, len(trials.pass_k) + 1)],
            [[figure(share) for share in trials.pass_k]],
            words=0,
        )
        yield from (*lines, "")
        yield "pass^k: the chance that a scenario passes its thresholds in k runs out of k."
    if trials.spread:
        spread = ", ".join(f"{name.names.heading} {figure(value)}" for name, value in trials.spread.items())
        yield f"Standard deviation within a scenario: {spread}."


def _usage(results: Results) -> str:
    used = sum(results.usage.values(), Usage())
    dollars = f", ${sum(results.usd.values()):.4f}" if results.usd else ""
    return f"{used.calls:,} model calls, {used.tokens:,} tokens{dollars}"


def _record(file: str, link: str) -> str:
    if not file:
        return ""
    return (
        f"[record]({link.rstrip('/')}/{quote(file, safe='/')})" if link else code(file, 300).replace("|", "¦")
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(escaped, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")


def _titled(title: str, lines: Sequence[str], what: str, after: Sequence[str] = ()) -> Section:
    return Section(("", title, "", *lines[:2]), lines[2:], len(lines) - 2, what, after)


def _folded(title: str, head: Sequence[str], rows: Iterable[str], count: int, what: str) -> Section:
    return Section(
        ("", f"<details><summary>{title}</summary>", "", *head), rows, count, what, ("", "</details>")
    )


def _fitted(sections: Iterable[Section], limit: int) -> str:
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
