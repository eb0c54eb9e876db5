"""What went wrong: the outcome in one line, and of single items the score that fell short and the turn that
it rests on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.markup import code, escaped, short_line
from pytest_personalens.results.shortfalls import in_words
from pytest_personalens.results.wording import REPORT_ONLY, unfound_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.evaluation import Evaluation
    from pytest_personalens.core.verdict import Verdict
    from pytest_personalens.results.values import Item, Results

_LONGEST: Final = 300
_MOST_QUOTES: Final = 2
_MOST_NAMED: Final = 5


def verdict_line(results: Results) -> str:
    """The outcome in one line of plain text: passed, FAILED or not decided, and by what."""
    low = [gate.name for gate in results.gates if not gate.passed]
    failed = [] if results.report_only else low
    items = sum(item.failed for item in results.items) + len(results.lost)
    parts = []
    if failed:
        more = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
        parts.append(f"{_counted(len(failed), 'gate', number=False)} {', '.join(failed[:_MOST_NAMED])}{more}")
    if items:
        parts.append(_counted(items, "item"))
    if parts:
        return f"FAILED: {'; '.join(parts)}"
    if not results.complete:
        return "not decided: a part of the run only"
    if results.settings.get("shard"):
        number, of = results.settings["shard"]
        return f"not decided: shard {number}/{of}, whose gates are decided over all shards"
    if not results.overall.scored:
        return "not decided: no dialogue could be scored"
    if results.report_only:
        return REPORT_ONLY + (
            f" (it would fail: {_counted(len(low), 'gate', number=False)} {', '.join(low[:_MOST_NAMED])})"
            if low
            else ""
        )
    return (
        f"passed: {_counted(len(results.gates), 'gate')}"
        if results.gates
        else "passed: no item failed; there was no gate"
    )


def _counted(number_of: int, what: str, *, number: bool = True) -> str:
    return (f"{number_of} " if number else "") + (what if number_of == 1 else f"{what}s")


def failures(results: Results) -> list[Item]:
    """The items worth a look, worst first: those that failed, then low ones that a gate let pass, then those
    without scores.
    """
    wrong = [item for item in results.items if item.failed or (not item.arm and item.status != "passed")]
    return sorted(wrong, key=lambda item: (not item.failed, item.status == "uncounted", item.nodeid))


def title(item: Item) -> str:
    """The scenario, and what tells this run of it from others."""
    parts = [f"trial {item.trial}"] * (item.trial > 1) + [f"control {item.arm}"] * bool(item.arm)
    return item.evaluation.scenario + (f" ({', '.join(parts)})" if parts else "")


def reason(item: Item) -> str:
    """What is wrong with an item, in one line; what others wrote is still in it as they wrote it."""
    evaluation = item.evaluation
    if evaluation.cause:
        return f"not scored, {evaluation.cause}: {evaluation.detail}"
    return in_words(item.shortfalls) or "failed for another reason than its scores"


def failure_row(item: Item, results: Results, record: str) -> str:
    """One entry of a list, of several lines: what fell short, what was wanted, the turns that cost the score.

    `record` is Markdown.
    """
    evaluation = item.evaluation
    what = (
        escaped(reason(item), _LONGEST)
        if evaluation.scored
        else f"not scored, {evaluation.cause}: {code(evaluation.detail, _LONGEST)}"
    )
    lines = [f"- **{escaped(title(item))}**: {what}{f' ({record})' if record else ''}"]
    scenario = results.scenarios.get(evaluation.scenario)
    if scenario is not None and scenario.wish:
        lines.append(f"  - wants: {code(scenario.wish, _LONGEST)}")
    for verdict in short_verdicts(item):
        lines += [f"  - {line}" for line in _cost(verdict, evaluation)]
    return "\n".join(lines)


def short_verdicts(item: Item) -> list[Verdict]:
    """The verdicts that fell short of their thresholds."""
    low = {shortfall.dimension for shortfall in item.shortfalls}
    return [verdict for verdict in item.evaluation.verdicts if verdict.dimension in low]


def costly_turn(item: Item) -> str:
    """The quote that the first low verdict rests on, with its turn, as it was said; the empty string if there
    is none.
    """
    for verdict in short_verdicts(item):
        for evidence in verdict.evidence:
            return f'turn {evidence.turn}: "{short_line(evidence.quote, _LONGEST)}"'
    return ""


def _cost(verdict: Verdict, evaluation: Evaluation) -> Iterator[str]:
    yield f"{verdict.dimension.short} {verdict.score}: {code(verdict.justification, _LONGEST)}"
    messages = evaluation.dialogue.messages
    for evidence in verdict.evidence[:_MOST_QUOTES]:
        who = f", {messages[evidence.turn].role}" if evidence.turn < len(messages) else ""
        note = f" ({code(evidence.note, _LONGEST)})" if evidence.note else ""
        yield f"turn {evidence.turn}{who}: {code(evidence.quote, _LONGEST)}{note}"
    if unfound := unfound_text(verdict):
        yield unfound
    if not verdict.evidence and messages:
        # No turn is to blame for what was left undone: the last one shows where it ended.
        last = len(messages) - 1
        yield f"turn {last}, {messages[last].role}, the last: {code(messages[last].content, _LONGEST)}"
