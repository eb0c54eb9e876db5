"""Why gates failed, as Markdown: a sentence, the reasons in a table, and the exchanges that cost most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.explanation import (
    case_reason,
    case_title,
    excerpt,
    sentence_of,
    since_text,
    turns_of,
    unscored_lines,
)
from pytest_personalens.reports.markup import escaped, markdown_table
from pytest_personalens.reports.reason_text import DOES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.explanation import Explanation
    from pytest_personalens.results.values import Results
    from pytest_personalens.results.worst_cases import WorstCase

_LONGEST: Final = 400
#: Characters of a message in an exchange.
_LONGEST_MESSAGE: Final = 300
_MOST_REASONS: Final = 6


def failure_section(explained: Explanation, results: Results) -> Iterator[str]:
    """The lines on one gate: what happened, in bold; the reasons; the dialogues with what was said then."""
    sentence = sentence_of(explained, results)
    yield from ("", f"**{escaped(sentence[:1].upper() + sentence[1:], _LONGEST)}.**")
    # The ways in which the assistant failed stand above all gates.
    lines = [f"- {escaped(line, _LONGEST)}" for line in unscored_lines(explained, results, ways=False)]
    if lines:
        yield from ("", *lines)
    yield from _reasons(explained, results.of_suite)
    for case in explained.cases:
        yield from _case(case, results)


def _reasons(explained: Explanation, suite: Suite) -> Iterator[str]:
    shown = explained.reasons[:_MOST_REASONS]
    if not shown:
        said = [(escaped(text, _LONGEST), str(number)) for text, number in explained.sentences]
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
    yield from ("", f"**{escaped(title)}**: {escaped(case_reason(case, scenario), _LONGEST)}")
    if case.exchange is None:
        return
    # GitHub and GitLab colour it. Each message is one line that does not begin with its own words, so that
    # none of them ends the block.
    yield from ("", "```diff")
    for turn in turns_of(case.exchange, scenario):
        quote = case.exchange.quote if turn.sign == "+" else ""
        who = f"{turn.who}: " if not turn.sign else ""
        yield f"{turn.sign or ' '} {who}{excerpt(turn.text, quote, _LONGEST_MESSAGE)}"
    yield "```"
