"""The items that failed or scored low: the low score, and the turn that is the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.content.markup import code, escape, short_line
from pytest_personalens.reports.content.reason_text import goal_parts, said_by_judge
from pytest_personalens.results.values.shortfalls import shortfall_text, uncounted_reason
from pytest_personalens.results.wording import unfound_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_LONGEST: Final = 300
_MOST_QUOTES: Final = 2


def failures(results: Results) -> list[Item]:
    """Return the items that a person should look at, the worst first. Failed items come first, then low items
    that a gate let pass, then items without scores.
    """
    wrong = [item for item in results.items if item.failed or (not item.arm and item.status != "passed")]
    return sorted(wrong, key=lambda item: (not item.failed, item.status == "uncounted", item.nodeid))


def title(item: Item) -> str:
    """Return the scenario, with the trial and the control of the item."""
    parts = [f"trial {item.trial}"] * (item.trial > 1) + [f"control {item.arm}"] * bool(item.arm)
    return item.evaluation.scenario + (f" ({', '.join(parts)})" if parts else "")


def reason(item: Item) -> str:
    """Return the problem with an item, in one line. Texts of models and exceptions in it are not escaped."""
    if item.status == "uncounted":
        return "not scored, {}: {}".format(*uncounted_reason(item.evaluation))
    return shortfall_text(item.shortfalls) or "failed for another reason than its scores"


def failure_row(item: Item, results: Results, record: str) -> str:
    """Return one entry of a list, in several lines. It gives the low score, the user's wish, and the turns
    that are the evidence. `record` is Markdown.
    """
    evaluation = item.evaluation
    cause, detail = uncounted_reason(evaluation)
    what = (
        f"not scored, {cause}: {code(detail, _LONGEST)}"
        if item.status == "uncounted"
        else escape(reason(item), _LONGEST)
    )
    lines = [f"- **{escape(title(item))}**: {what}{f' ({record})' if record else ''}"]
    scenario = results.scenarios.get(evaluation.scenario)
    if scenario is not None and scenario.wish:
        lines.append(f"  - wants: {code(scenario.wish, _LONGEST)}")
    for verdict in short_verdicts(item):
        lines += [f"  - {line}" for line in _cost(verdict, evaluation, scenario)]
    return "\n".join(lines)


def short_verdicts(item: Item) -> list[Verdict]:
    """Return the verdicts below their thresholds."""
    low = {shortfall.dimension for shortfall in item.shortfalls}
    return [verdict for verdict in item.evaluation.verdicts if verdict.dimension in low]


def costly_turn(item: Item) -> str:
    """Return the first quote of the first low verdict, with its turn. It is empty if there is none."""
    for verdict in short_verdicts(item):
        for evidence in verdict.evidence:
            return f'turn {evidence.turn}: "{short_line(evidence.quote, _LONGEST)}"'
    return ""


def _cost(verdict: Verdict, evaluation: Evaluation, scenario: BaseScenario | None) -> Iterator[str]:
    said = said_by_judge(verdict.justification, verdict, scenario)
    yield f"{verdict.dimension.short} {verdict.score}: {code(said, _LONGEST)}"
    for part in goal_parts(verdict):
        yield escape(part.line, _LONGEST)
    messages = evaluation.dialogue.messages
    quoted: dict[tuple[int, str], list[str]] = {}
    for evidence in verdict.evidence:
        notes = quoted.setdefault((evidence.turn, evidence.quote), [])
        notes += [said_by_judge(evidence.note, verdict, scenario)] if evidence.note else []
    for (turn, quote), notes in list(quoted.items())[:_MOST_QUOTES]:
        who = f", {messages[turn].role}" if turn < len(messages) else ""
        note = f" ({code('; '.join(dict.fromkeys(notes)), _LONGEST)})" if notes else ""
        yield f"turn {turn}{who}: {code(quote, _LONGEST)}{note}"
    if unfound := unfound_text(verdict):
        yield unfound
    if not verdict.evidence and messages:
        # No turn is the evidence for something that was not done. The last turn shows where the dialogue
        # ended.
        last = len(messages) - 1
        yield f"turn {last}, {messages[last].role}, the last: {code(messages[last].content, _LONGEST)}"
