"""Why gates failed, as Markdown: a sentence, the reasons in a table, and the exchanges that cost most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from pytest_personalens.reports.content.command_line import rerun_line
from pytest_personalens.reports.content.explanation import (
    case_reason,
    case_title,
    excerpts,
    sentence_of,
    since_text,
)
from pytest_personalens.reports.content.findings import capital, unscored_text
from pytest_personalens.reports.content.markup import code, escape, markdown_table
from pytest_personalens.reports.content.reason_text import DOES, goal_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.reasons.explanation import Explanation
    from pytest_personalens.results.reasons.worst_cases import WorstCase
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.provenance import Provenance
    from pytest_personalens.results.values.results import Results

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
