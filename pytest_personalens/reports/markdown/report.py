"""The Markdown report of a run: what happened and why, then its tables, within a limit of bytes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.safe_text import upper_first
from pytest_personalens.reports.content import result_tables
from pytest_personalens.reports.content.findings import (
    Findings,
    findings_of,
    rerun_line,
    unscored_text,
)
from pytest_personalens.reports.content.markup import (
    Table,
    code,
    escape,
    figure,
    markdown_table,
)
from pytest_personalens.reports.content.why_items_failed import (
    DOES,
    case_reason,
    case_title,
    excerpts,
    failure_headline,
    failures,
    goal_parts,
    sentence_of,
    since_text,
    title,
)
from pytest_personalens.results.wording import gate_outcome, part_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.reasons import Explanation, WorstCase
    from pytest_personalens.results.values.figures import Comparison
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Provenance, Results

#: The limit in bytes. A comment on a pull request may have 65,536 characters.
COMMENT_LIMIT: Final = 60_000
#: Bytes that are reserved for the note about cut parts.
_RESERVED: Final = 600
_CUT: Final = "Cut, for want of room: {}. The results file (--personalens-report PATH.json) holds all."
_LONGEST: Final = 400
#: Characters of a message in an exchange.
_LONGEST_MESSAGE: Final = 100
_MOST_REASONS: Final = 6
#: Gates that a comment lists.
_MOST_GATES: Final = 12
#: A table with more rows is folded.
_LONG: Final = 6
_MOST_NAMED: Final = 5


class Section(NamedTuple):
    """Lines that belong together: a `head`, rows, of which the last ones may be cut, and a `tail`. `what` is
    the word for the rows, or for the whole where there are none.
    """

    head: Sequence[str]
    rows: Sequence[str] = ()
    what: str = ""
    tail: Sequence[str] = ()


def markdown_report(
    results: Results,
    *,
    limit: int = COMMENT_LIMIT,
    link: str = "",
    brief: bool = False,
) -> str:
    """Return the report, with at most `limit` bytes in UTF-8 (3,000 or more).

    The end of the report lists the parts that were cut. Links to records start at `link`, the web address of
    the root folder of the tests, such as ``https://github.com/OWNER/NAME/blob/COMMIT``. `brief` is for a
    comment on a pull request: why the run failed, one dialogue, where to go on, and the gates, in at most 60
    lines.
    """
    left, kept, cut = limit - _RESERVED, list[str](), list[str]()
    for section in _brief(results, link) if brief else _sections(results, link):
        frame = _size((*section.head, *section.tail))
        rows = list(_fitting(section.rows, left - frame))
        if frame > left or (section.rows and not rows):
            cut.append(f"all {len(section.rows)} {section.what}" if section.rows else section.what)
            continue
        lines = (*section.head, *rows, *section.tail)
        left -= _size(lines)
        kept += lines
        if len(rows) < len(section.rows):
            cut.append(f"{len(section.rows) - len(rows)} of {len(section.rows)} {section.what}")
    return "\n".join([*kept, *(["", _CUT.format(", ".join(cut))] if cut else [])]) + "\n"


def _fitting(rows: Iterable[str], left: int) -> Iterator[str]:
    for row in rows:
        left -= _size((row,))
        if left < 0:
            return
        yield row


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _brief(results: Results, link: str) -> Iterator[Section]:
    yield from _head(results, link, dialogues=1)
    if results.gates:
        folded = _folded(f"Gates: {len(results.gates)}", _gates(results, most=_MOST_GATES), "")
        yield Section((*folded.head, *folded.rows, *folded.tail), what="the gates")


def _sections(results: Results, link: str) -> Iterator[Section]:
    yield from _head(results, link)
    if results.gates:
        lines = _gates(results)
        yield Section(("", "### Gates", "", *lines[:2]), lines[2:], "gates")
    if results.overall.items:
        if part := part_note(results):
            yield Section(("", f"**Scores {part}:**"), what="how many dialogues the scores are of")
        kinds = result_tables.kind_tables(results) if results.of_suite.table_by_kind else []
        for table in kinds:
            more = tuple(result_tables.source_lines(results)) if table is kinds[-1] else ()
            yield _table(table._replace(notes=tuple(f"{note}." for note in (*table.notes, *more))), "rows")
        for name, table in result_tables.score_tables(results).items():
            long = name == "domains" and len(table.rows) > _LONG
            yield _table(table, name, folded=f"{table.title}: {len(table.rows)}" if long else "")
    if results.comparison is not None:
        yield from _comparison(results.comparison, link, results.of_suite.item)
    if results.controls:
        yield _table(result_tables.lift_table(results), "lifts")
    for table in result_tables.slice_tables(results):
        folded = f"Users by {escape(table.title)}: {len(table.rows)} groups"
        told = tuple(f"And {note}." for note in table.notes)
        yield _table(table._replace(notes=told), "groups of users", folded=folded)
    if note := result_tables.slices_note(results):
        compared = escape(upper_first(note), _LONGEST)
        yield Section(("", f"{compared}."), what="how groups of users are compared")
    if results.trials is not None:
        yield Section(tuple(_trials(results)), what="what the trials showed")
    if wrong := failures(results):
        heading = f"Failed, below a threshold or not scored: {len(wrong)}"
        yield _folded(heading, ["", *(_failure(item, results, link) for item in wrong)], "failures")
    if results.usage:
        used = sum(results.usage.values(), Usage())
        dollars = f", ${sum(results.usd.values()):.4f}" if results.usd else ""
        spent = f"{used.calls:,} model calls, {used.tokens:,} tokens{dollars}"
        yield Section(("", spent), what="the usage")


def _table(table: Table, what: str, *, folded: str = "") -> Section:
    """A table below its title, or `folded` below that one, with its notes."""
    lines = table.markdown_lines()
    after = tuple(line for note in table.notes for line in ("", escape(note, _LONGEST)))
    if folded:
        return _folded(folded, lines, what, after)
    return Section(("", f"### {escape(table.title)}", "", *lines[:2]), lines[2:], what, after)


def _folded(heading: str, lines: Sequence[str], what: str, after: Sequence[str] = ()) -> Section:
    """A table, or a list behind an empty line, that is closed until a reader opens it."""
    begin = 1 if not lines[0] else 2
    head = ("", f"<details><summary>{heading}</summary>", *([""] if begin == 2 else []), *lines[:begin])
    return Section(head, lines[begin:], what, (*after, "", "</details>"))


def _head(results: Results, link: str, *, dialogues: int | None = None) -> Iterator[Section]:
    """What happened and why, with at most so many dialogues, and where to go on."""
    findings = findings_of(results)
    sign = {"failed": "❌", "passed": "✅", "open": "⚠️"}
    headline = f"## {sign[findings.state]} personalens {escape(findings.line.replace('->', '→'), _LONGEST)}"
    scores = ["", f"**{escape(findings.scores)}**"] if findings.scores else []
    yield Section((headline, *scores, "", _about(results, findings)))
    if findings.crashes:
        ways = [f"- {escape(way, _LONGEST)}" for way in findings.ways]
        head = ("", f"**{escape(upper_first(findings.crashes))}:**", "", *ways)
        yield Section(head, what="what the assistant failed of")
    shown: list[WorstCase] = []
    for explained in findings.failed_gates:
        left = None if dialogues is None else dialogues - len(shown)
        cases = explained.cases[:left]
        shown += cases
        lines = _failed_gate(explained, cases, results, brief=dialogues is not None)
        yield Section(tuple(lines), what=f"why the gate {explained.gate.name} failed")
    if findings.trust:
        yield Section(("", escape(findings.trust, _LONGEST)), what="how far to trust the judge")
    items = [case.item for case in shown]
    crashed = (item for item in results.own if item.evaluation.cause == "assistant" and not items)
    lines = _onward(results, [*items, *itertools.islice(crashed, 1)], link)
    yield Section(tuple(lines), what="where to go on")


def _about(results: Results, findings: Findings) -> str:
    parts = [
        f"{results.drawn} {results.of_suite.item}s of {results.dataset}",
        f"{results.overall.scored} of {results.expected} items scored",
        *(f"{name}: {value}" for name, value in results.of_suite.facts(results.settings).items()),
        *(note.text for about, note in findings.notes.items() if about != "low"),
    ]
    acting = [item.evaluation.dialogue for item in results.own if item.evaluation.dialogue.acts]
    if acting:
        calls = [sum(m.calls for m in dialogue.messages) for dialogue in acting]
        every = f"{len(results.own):,} {results.of_suite.dialogue}s"
        parts.append(f"tool calls: {sum(calls):,} in {sum(map(bool, calls)):,} of {every}")
    if results.drift is not None:
        parts.append(results.drift.sentence)
    return escape("; ".join(parts), 1_000)


def _failed_gate(
    explained: Explanation, cases: Sequence[WorstCase], results: Results, *, brief: bool
) -> Iterator[str]:
    """What happened, in bold; the reasons unless `brief`; the dialogues with what was said then."""
    yield from ("", f"**{escape(upper_first(sentence_of(explained, results)), _LONGEST)}.**")
    # The ways in which the assistant failed stand above all gates.
    causes = [cause for cause in results.uncounted if cause != "assistant"]
    if causes and explained.gate.kind == "valid":
        yield from ("", *(f"- {escape(unscored_text(results, cause), _LONGEST)}" for cause in causes))
    if not brief:
        yield from _reasons(explained, results.of_suite)
    for case in cases:
        scenario = results.scenarios.get(case.item.evaluation.scenario)
        heading = case_title(case, scenario).replace("->", "→")
        yield from ("", f"**{escape(heading)}**: {escape(case_reason(case, scenario), _LONGEST)}")
        if parts := goal_parts(case.verdict):
            yield from ("", *(f"- {escape(part.line, _LONGEST)}" for part in parts))
        if case.exchange is not None:
            # GitHub and GitLab colour it. Each message is one line that does not begin with its own words,
            # so that none of them ends the block.
            yield from ("", "```diff")
            for turn in excerpts(case, scenario, _LONGEST_MESSAGE):
                who = f"{turn.who}: " if not turn.sign else ""
                yield f"{turn.sign or ' '} {who}{turn.text}"
            yield "```"


def _reasons(explained: Explanation, suite: Suite) -> Iterator[str]:
    shown = explained.reasons[:_MOST_REASONS]
    number = f"{suite.dialogue}s"
    if not shown:
        said = [(text, str(times)) for text, times in explained.sentences[:_MOST_REASONS]]
        table = Table("", (f"what the {suite.judged_by} says", number), tuple(said))
    elif shown[0].change is None:
        counts = ((DOES[reason.code], str(reason.dialogues)) for reason in shown)
        table = Table("", ("what the assistant does", number), tuple(counts))
    else:
        rows = ((DOES[r.code], str(r.dialogues), f"{r.change or 0:+d}") for r in shown)
        header = ("what the assistant does", number, f"change {since_text(explained)}")
        table = Table("", header, tuple(rows))
    if table.rows:
        yield from ("", *table.markdown_lines())


def _onward(results: Results, items: Sequence[Item], link: str) -> Iterator[str]:
    """Where to go on: the tested commit, the run with its report, the records, and the command."""
    tested, parts = results.provenance, []
    if tested is not None and tested.commit:
        commit = code(tested.short, _LONGEST)
        parts.append(f"commit {f'[{commit}]({page})' if (page := _commit_page(tested)) else commit}")
    if tested is not None and tested.url.startswith("https://"):
        parts.append(f"[the run and its report]({quote(tested.url, safe='/:')})")
    for item in items if link else ():
        if item.transcript_file:
            name = escape(item.evaluation.scenario)
            parts.append(_record(item.transcript_file, link).replace("record", name, 1))
    if parts:
        yield from ("", " · ".join(parts))
    if items:
        yield from ("", f"Re-run: {code(rerun_line(items, results), 1_000)}")


def _commit_page(tested: Provenance) -> str:
    """Return the web page of the commit, by that of the run of GitHub or GitLab."""
    for runs, commit in (("/actions/runs/", "/commit/"), ("/-/pipelines/", "/-/commit/")):
        project, found, _ = tested.url.partition(runs)
        if found and project.startswith("https://") and tested.commit.isalnum():
            return quote(project, safe="/:") + commit + tested.commit
    return ""


def _record(file: str, link: str) -> str:
    """A link to a record below the address `link`, or its path without one."""
    if not link or not file:
        return code(file, 300).replace("|", "¦") if file else ""
    return f"[record]({link.rstrip('/')}/{quote(file, safe='/')})"


def _gates(results: Results, most: int | None = None) -> list[str]:
    """The gates as a table, those that failed first."""
    rows = [
        (
            escape(gate.name),
            "passed" if gate.passed else f"**{gate_outcome(gate, results)}**",
            escape(gate.message, _LONGEST),
        )
        for gate in sorted(results.gates, key=lambda gate: gate.passed)
    ]
    return markdown_table(("gate", "outcome", "measured"), rows[:most], words=3)


def _comparison(comparison: Comparison, link: str, item: str) -> Iterator[Section]:
    """The differences from the baseline, the scores that changed, and what was not compared."""
    differences = result_tables.difference_table(comparison, item)
    lines = differences.markdown_lines()
    after = tuple(line for note in differences.notes for line in ("", escape(note, _LONGEST)))
    if comparison.tested:
        yield _folded(escape(differences.title), lines, "differences", after)
    else:
        yield Section(("", escape(differences.title), "", *lines[:2]), lines[2:], "differences", after)
    if flips := sorted(comparison.flips, key=lambda f: (f.after - f.before, f.scenario)):
        recorded = any(flip.records for flip in flips)
        header = (item, "score", *(["record"] if recorded else []), "before", "after")
        rows = []
        for flip in flips:
            links = ", ".join(_record(file, link) for file in flip.records[:_MOST_NAMED]) or "-"
            name = (escape(flip.scenario), flip.dimension.names.heading, *([links] if recorded else []))
            rows.append((*name, figure(flip.before), figure(flip.after)))
        changed = markdown_table(header, rows, words=2 + recorded)
        yield _folded(f"Scores that changed: {len(flips)}", changed, "changed scores")
    if comparison.left_out:
        left = []
        for why, names in comparison.left_out.items():
            some = ", ".join(map(escape, names[:_MOST_NAMED])) + ", ..." * (len(names) > _MOST_NAMED)
            left.append(f"- {escape(why)}: {len(names)} ({some})")
        yield Section(("", "Not compared:", ""), left, f"reasons why {item}s were not compared")


def _trials(results: Results) -> Iterator[str]:
    trials, item = results.trials, results.of_suite.item
    assert trials is not None
    yield from ("", f"### {trials.count} runs of each {item}", "")
    if trials.pass_k:
        header = [f"pass^{k}" for k in range(1, len(trials.pass_k) + 1)]
        yield from (*markdown_table(header, [[figure(share) for share in trials.pass_k]], words=0), "")
        yield f"pass^k: the chance that one {item} passes its thresholds in k runs out of k."
    if trials.spread:
        spread = ", ".join(f"{name.names.heading} {figure(value)}" for name, value in trials.spread.items())
        yield f"Standard deviation within one {item}: {spread}."


def _failure(item: Item, results: Results, link: str) -> str:
    """One entry of the list, with the sentence that pytest prints of the item."""
    scenario = results.scenarios.get(item.evaluation.scenario)
    headline = failure_headline(item.evaluation, item.shortfalls, scenario)
    record = _record(item.transcript_file, link)
    told = escape(headline or "failed for another reason than its scores", _LONGEST)
    return f"- **{escape(title(item))}**: {told}{f' ({record})' if record else ''}"
