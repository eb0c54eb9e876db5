"""A transcript and its verdicts as text for a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pytest_personalens.core.safe_text import harmless, one_line
from pytest_personalens.reports.markup import short_line
from pytest_personalens.results.wording import unfound_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.evaluation import Evaluation
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.verdict import Verdict
    from pytest_personalens.results.shortfalls import Shortfall

_WIDTH = 100
_LONGEST_MESSAGE = 2_000
_LONGEST_REASON = 200
#: Number of equal characters that are shown before a difference far into a text.
_BEFORE = 20


def difference_lines(before: str, now: str) -> list[str]:
    """Return two texts as lines with `-` and `+`, cut to their first difference."""
    same = next(
        (n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now))
    )
    start = max(0, same - _BEFORE) if same > _WIDTH // 2 else 0
    return [f"{sign} {_excerpt(text, start)}" for sign, text in (("-", before), ("+", now)) if text]


def _excerpt(text: str, start: int) -> str:
    shown = one_line(text[start : start + _WIDTH])
    return ("..." if start else "") + shown + ("..." if start + _WIDTH < len(text) else "")


def failure_text(
    evaluation: Evaluation, scenario: BaseScenario, shortfalls: Sequence[Shortfall], rerun: str
) -> str:
    """Return the text of a failing item.

    It gives the problem, the user with the wish, the transcript, the verdicts, and the command to run the
    item again.
    """
    # Each line is escaped alone, because names, places and devices come from a dataset that a stranger or a
    # model may have written.
    return "\n".join(one_line(line) for line in _lines(evaluation, scenario, shortfalls, rerun))


def _lines(
    evaluation: Evaluation, scenario: BaseScenario, shortfalls: Sequence[Shortfall], rerun: str
) -> Iterator[str]:
    if evaluation.cause:
        whose = evaluation.cause if evaluation.cause == "lost" else f"{evaluation.cause} at fault"
        yield f"not scored, {whose}: {harmless(evaluation.detail)}"
    else:
        yield "; ".join(_shortfall(evaluation, shortfall) for shortfall in shortfalls)
    low = {shortfall.dimension for shortfall in shortfalls}
    failed = [verdict for verdict in evaluation.verdicts if verdict.dimension in low]
    for verdict in failed:
        yield from _verdict(verdict)
    yield ""
    yield scenario.who
    for what, text in scenario.facts:
        yield from _wrap(f"{what + ':':8}", text)
    yield ""
    marked = {e.turn for v in failed for e in v.evidence}
    for turn, message in enumerate(evaluation.dialogue.messages):
        text = message.content
        if len(text) > _LONGEST_MESSAGE:
            text = f"{text[:_LONGEST_MESSAGE]} [... {len(text) - _LONGEST_MESSAGE:,} more characters]"
        yield from _wrap(f"{'>' if turn in marked else ' '}{turn:3} {message.role:9} ", text)
    if evaluation.dialogue.truncated:
        yield "     [the turn limit ended the dialogue]"
    yield ""
    for verdict in evaluation.verdicts:
        if verdict not in failed:
            yield from _verdict(verdict)
    yield f"again:  {rerun}"


def _shortfall(evaluation: Evaluation, shortfall: Shortfall) -> str:
    """Return the missed threshold, with the judge's reason.

    An example is ``p 1 < 2: asks for what is known: Price Range, $20-$60``.
    """
    why = next(
        (
            verdict.justification
            for verdict in evaluation.verdicts
            if verdict.dimension == shortfall.dimension
        ),
        "",
    )
    return f"{shortfall}: {short_line(why, _LONGEST_REASON)}" if why.strip() else str(shortfall)


def _verdict(verdict: Verdict) -> Iterator[str]:
    measure = verdict.dimension
    of_scale = f" of {measure.low:g}-{measure.high:g}" if measure.span is not None else ""
    is_rate = measure.span == 1 and measure.grid == 1
    score = ("yes" if verdict.score else "no") if is_rate else f"{verdict.score}{of_scale}"
    yield from _wrap(f"{verdict.dimension.value.replace('_', ' ')}: {score}. ", verdict.justification)
    for evidence in verdict.evidence:
        note = f" ({evidence.note})" if evidence.note else ""
        yield from _wrap(f"  turn {evidence.turn}: ", f'"{evidence.quote}"{note}')
    for label, found in (("observed", verdict.observations), ("better", verdict.improvements)):
        for one in found:
            yield from _wrap(f"  {label}: ", one)
    if unfound := unfound_text(verdict):
        yield f"  {unfound}"


def _wrap(label: str, text: str) -> Iterator[str]:
    indent = " " * min(len(label), 14)
    first = True
    for line in harmless(text).splitlines() or [""]:
        lines = textwrap.wrap(
            line, _WIDTH, initial_indent=label if first else indent, subsequent_indent=indent
        )
        # The line is escaped again, because the wrap may have put another text at its start.
        yield from map(harmless, lines or ([label] if first else []))
        first = False
