"""The Markdown report of a run, and of a gate that failed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.reports.content.findings import (
    Findings,
    capital,
    findings_of,
    rerun_line,
    unscored_text,
)
from pytest_personalens.reports.content.kind_tables import slice_tables, slices_note
from pytest_personalens.reports.content.markup import code, escape, figure, markdown_table
from pytest_personalens.reports.content.why_items_failed import (
    DOES,
    case_reason,
    case_title,
    excerpts,
    failure_row,
    failures,
    goal_parts,
    sentence_of,
    since_text,
)
from pytest_personalens.reports.markdown.sections import (
    COMMENT_LIMIT,
    Section,
    comparison_sections,
    distance_section,
    fit_sections,
    fold_section,
    kind_sections,
    lift_section,
    record_link,
    table_section,
)
from pytest_personalens.results.wording import gate_outcome, part_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.reasons.why_gates_failed import Explanation, WorstCase
    from pytest_personalens.results.values.figures import Group
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Provenance, Results

_LONGEST: Final = 400
#: Characters of a message in an exchange.
_LONGEST_MESSAGE: Final = 100
_MOST_REASONS: Final = 6


def onward_lines(results: Results, items: Sequence[Item], link: str) -> Iterator[str]:
    """Where to go on: the tested commit, the run with its report, the records, and the command."""
    tested, parts = results.provenance, []
    if tested is not None and tested.commit:
        commit = code(tested.short, _LONGEST)
        parts.append(f"commit {f'[{commit}]({page})' if (page := _commit_page(tested)) else commit}")
    if tested is not None and tested.url.startswith("https://"):
        parts.append(f"[the run and its report]({quote(tested.url, safe='/:')})")
    for item in items if link else ():
        if item.transcript_file:
            file = quote(item.transcript_file, safe="/")
            parts.append(f"[{escape(item.evaluation.scenario)}]({link.rstrip('/')}/{file})")
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


def failure_section(explained: Explanation, results: Results, *, brief: bool = False) -> Iterator[str]:
    """The lines on one gate: what happened, in bold; the reasons; the dialogues with what was said then.
    `brief` leaves the table of the reasons out.
    """
    yield from ("", f"**{escape(capital(sentence_of(explained, results)), _LONGEST)}.**")
    # The ways in which the assistant failed stand above all gates.
    causes = [cause for cause in results.uncounted if cause != "assistant"]
    if causes and explained.gate.kind == "valid":
        yield from ("", *(f"- {escape(unscored_text(results, cause), _LONGEST)}" for cause in causes))
    if not brief:
        yield from _reasons(explained, results.of_suite)
    for case in explained.cases:
        yield from _case(case, results)


def _reasons(explained: Explanation, suite: Suite) -> Iterator[str]:
    shown = explained.reasons[:_MOST_REASONS]
    if not shown:
        said = [(escape(text, _LONGEST), str(number)) for text, number in explained.sentences]
        if said:
            header = [f"what the {suite.judged_by} says", f"{suite.dialogue}s"]
            yield from ("", *markdown_table(header, said[:_MOST_REASONS]))
        return
    changes = [reason.change for reason in shown]
    header = ["what the assistant does", f"{suite.dialogue}s"]
    header += [f"change {since_text(explained)}"] if changes[0] is not None else []
    rows = (
        [
            DOES[reason.code],
            str(reason.dialogues),
            *([] if reason.change is None else [f"{reason.change:+d}"]),
        ]
        for reason in shown
    )
    yield from ("", *markdown_table(header, rows))


def _case(case: WorstCase, results: Results) -> Iterator[str]:
    scenario = results.scenarios.get(case.item.evaluation.scenario)
    title = case_title(case, scenario).replace("->", "→")
    yield from ("", f"**{escape(title)}**: {escape(case_reason(case, scenario), _LONGEST)}")
    if parts := goal_parts(case.verdict):
        yield from ("", *(f"- {escape(part.line, _LONGEST)}" for part in parts))
    if case.exchange is None:
        return
    # GitHub and GitLab colour it. Each message is one line that does not begin with its own words, so that
    # none of them ends the block.
    yield from ("", "```diff")
    for turn in excerpts(case, scenario, _LONGEST_MESSAGE):
        who = f"{turn.who}: " if not turn.sign else ""
        yield f"{turn.sign or ' '} {who}{turn.text}"
    yield "```"


#: Gates that a comment lists.
_MOST_GATES: Final = 12
#: A table with more rows is folded.
_LONG: Final = 6


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
    return fit_sections((_brief if brief else _sections)(results, link), limit)


def _brief(results: Results, link: str) -> Iterator[Section]:
    yield from _head(results, link, dialogues=1)
    yield _gates(results, f"Gates: {len(results.gates)}", most=_MOST_GATES)


def _head(results: Results, link: str, *, dialogues: int | None = None) -> Iterator[Section]:
    """What happened and why, with at most so many dialogues, and where to go on."""
    findings = findings_of(results)
    sign = {"failed": "❌", "passed": "✅", "open": "⚠️"}
    headline = f"## {sign[findings.state]} personalens {escape(findings.line.replace('->', '→'), 400)}"
    scores = ["", f"**{escape(findings.scores)}**"] if findings.scores else []
    yield Section((headline, *scores, "", _about(results, findings)))
    if findings.crashes:
        ways = [f"- {escape(way, 400)}" for way in findings.ways]
        head = ("", f"**{escape(capital(findings.crashes))}:**", "", *ways)
        yield Section(head, what="what the assistant failed of")
    shown: list[WorstCase] = []
    for explained in findings.failed_gates:
        left = None if dialogues is None else dialogues - len(shown)
        explained = explained._replace(cases=explained.cases[:left])
        shown += explained.cases
        lines = failure_section(explained, results, brief=dialogues is not None)
        yield Section(tuple(lines), what=f"why the gate {explained.gate.name} failed")
    if findings.trust:
        yield Section(("", escape(findings.trust, 400)), what="how far to trust the judge")
    items = [case.item for case in shown]
    crashed = (item for item in results.own if item.evaluation.cause == "assistant" and not items)
    lines = onward_lines(results, [*items, *itertools.islice(crashed, 1)], link)
    yield Section(tuple(lines), what="where to go on")


def _sections(results: Results, link: str) -> Iterator[Section]:
    yield from _head(results, link)
    if results.gates:
        yield _gates(results, "### Gates")
    if results.overall.items:
        if part := part_note(results):
            yield Section(("", f"**Scores {part}:**"), what="how many dialogues the scores are of")
        yield from _totals(results)
        yield from distance_section(results)
    if results.comparison is not None:
        yield from comparison_sections(results.comparison, link, results.of_suite.item)
    if results.controls:
        yield lift_section(results)
    yield from _slices(results)
    if results.trials is not None:
        yield Section(
            ("", f"### {results.trials.count} runs of each {results.of_suite.item}", "", *_trials(results)),
            what="what the trials showed",
        )
    if wrong := failures(results):
        # The rows are made one by one, because a large run may have thousands of which only a few fit.
        rows = (failure_row(item, results, record_link(item.transcript_file, link)) for item in wrong)
        title = f"Failed, below a threshold or not scored: {len(wrong)}"
        yield fold_section(title, rows, len(wrong), "failures")
    if results.usage:
        yield Section(("", _usage(results)), what="the usage")


def _slices(results: Results) -> Iterator[Section]:
    for table in slice_tables(results):
        rows = [tuple(map(escape, row)) for row in table.rows]
        after = tuple(line for note in table.notes for line in ("", f"And {note}."))
        title = f"Users by {escape(table.title)}: {len(rows)} groups"
        yield table_section(title, table.header, rows, "groups of users", after=after, fold=True)
    if note := slices_note(results):
        yield Section(("", f"{escape(capital(note), 400)}."), what="how groups of users are compared")


def _about(results: Results, findings: Findings) -> str:
    s = results.settings
    parts = [
        f"{results.drawn} {results.of_suite.item}s of {results.dataset}",
        f"{results.overall.scored} of {results.expected} items scored",
        *(f"{name}: {value}" for name, value in results.of_suite.facts(s).items()),
    ]
    parts += [note.text for about, note in findings.notes.items() if about != "low"]
    parts += [f"tool calls: {calls}"] if (calls := _calls(results)) else []
    if results.drift is not None:
        parts.append(results.drift.sentence)
    return escape("; ".join(parts), 1_000)


def _calls(results: Results) -> str:
    """How many tools were called, such as ``41 in 12 of 30 dialogues``; empty where no dialogue tells."""
    dialogues = [item.evaluation.dialogue for item in results.own if item.evaluation.dialogue.acts]
    calls = [sum(m.calls for m in dialogue.messages) for dialogue in dialogues]
    every = f"{len(results.own):,} {results.of_suite.dialogue}s"
    return f"{sum(calls):,} in {sum(map(bool, calls)):,} of {every}" if dialogues else ""


def _gates(results: Results, title: str, *, most: int | None = None) -> Section:
    """The gates, those that failed first; folded if at most so many are shown."""
    rows = [
        (
            escape(gate.name),
            "passed" if gate.passed else f"**{gate_outcome(gate, results)}**",
            escape(gate.message, 400),
        )
        for gate in sorted(results.gates, key=lambda gate: gate.passed)
    ]
    header, fold = ("gate", "outcome", "measured"), most is not None
    section = table_section(title, header, rows[:most], "gates", words=3, fold=fold)
    return section._replace(total=0) if fold else section


def _totals(results: Results) -> Iterator[Section]:
    if results.of_suite.table_by_kind:
        yield from kind_sections(results)
        return
    every = (results.overall, *results.kinds, *results.domains)
    shown = {
        key: heading
        for key, heading in results.of_suite.headings().items()
        if any(key in group.figures for group in every)
    }

    def section(title: str, groups: Sequence[Group], what: str, *, fold: bool = False) -> Section:
        rows = []
        for g in groups:
            figures = (figure(g.figures[key].value if key in g.figures else None) for key in shown)
            rows.append((escape(g.name), str(g.items), str(g.scored), *figures))
        return table_section(title, ("", "items", "scored", *shown.values()), rows, what, fold=fold)

    kinds = results.kinds if len(results.kinds) > 1 else ()
    yield section("### Scores", (results.overall, *kinds), "kinds")
    if domains := results.domains:
        fold = len(domains) > _LONG
        yield section(f"By domain: {len(domains)}" if fold else "By domain", domains, "domains", fold=fold)


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
        yield f"pass^k: the chance that one {results.of_suite.item} passes its thresholds in k runs out of k."
    if trials.spread:
        spread = ", ".join(f"{name.names.heading} {figure(value)}" for name, value in trials.spread.items())
        yield f"Standard deviation within one {results.of_suite.item}: {spread}."


def _usage(results: Results) -> str:
    used = sum(results.usage.values(), Usage())
    dollars = f", ${sum(results.usd.values()):.4f}" if results.usd else ""
    return f"{used.calls:,} model calls, {used.tokens:,} tokens{dollars}"
