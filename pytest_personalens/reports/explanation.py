"""Why a gate failed, in words: a sentence, the reasons added up, and the exchanges that cost most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.dimensions import Dimension
from pytest_personalens.core.safe_text import harmless, one_line
from pytest_personalens.reports.crashes import crash_groups
from pytest_personalens.reports.markup import short_line
from pytest_personalens.reports.reason_text import DOES, counted, why
from pytest_personalens.results.reasons import costs_of
from pytest_personalens.results.wording import CAUSES, apart, count, unread_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.explanation import Explanation, Moved
    from pytest_personalens.results.values import Results
    from pytest_personalens.results.worst_cases import Exchange, WorstCase

#: Reasons that are added up in a line.
_MOST_REASONS: Final = 3
#: Of a judge that gives no reasons: its own sentences.
_MOST_SENTENCES: Final = 2
_LONGEST: Final = 100
_SINCE: Final = {"baseline": "since the baseline", "record": "since the records were written"}


class Turn(NamedTuple):
    """A message of an exchange: `sign` is "-" for what was said before, "+" for now, empty for both."""

    sign: str
    who: str
    text: str


def sentence_of(explained: Explanation, results: Results) -> str:
    """What happened, to how many people and why, in one sentence without a full stop."""
    gate, measure, suite = explained.gate, explained.measure, results.of_suite
    if gate.kind == "valid" and gate.value is not None:
        scored = f"{results.overall.scored} of {count(results.expected, suite.dialogue)}"
        if explained.group:
            return f"{explained.group}: {gate.message}"
        unread = unread_text(results.own, suite)
        missing = (
            f"{scored} could be scored, without {unread}" if unread else f"only {scored} could be scored"
        )
        return f"{missing}, and {100 * gate.limit:.6g}% is wanted"
    in_words = gate.kind in ("floor", "lift") or (gate.kind == "regression" and explained.moved is not None)
    if gate.value is None or measure is None or not in_words:
        return gate.message
    lead = next((r for r in explained.reasons if (r.change is None or r.change > 0)), None)
    because = f"; it {DOES[lead.code]} in {count(lead.dialogues, suite.dialogue)}" if lead is not None else ""
    return f"{_outcome(explained, measure, suite)}{because}"


def _outcome(explained: Explanation, measure: Measure, suite: Suite) -> str:
    gate, moved = explained.gate, explained.moved
    assert gate.value is not None
    title = f"{measure.names.title}{f' in {explained.group}' if explained.group else ''}"
    if gate.kind == "regression" and moved is not None:
        way = "fell" if moved.after < moved.before else "rose"
        return f"{title} {way} from {moved.before:.2f} to {moved.after:.2f}: {_people(moved, suite)}"
    measured, limit = apart(gate.value, gate.limit)
    wanted = f"{limit} is wanted" if gate.direction == ">=" else f"at most {limit} is wanted"
    if gate.kind == "lift":
        return (
            f"what the assistant knows of its user is worth {measured} of {measure.names.mean}, and {wanted}"
        )
    if moved is not None and measure.is_worse(moved.after, moved.before):
        then = "in the baseline" if explained.since == "baseline" else "in the records"
        before = f"it was {moved.before:.2f} {then}"
        return f"{title} is {measured}, and {wanted}; {before}: {_people(moved, suite)}"
    return f"{title} is {measured}, and {wanted}"


def _people(moved: Moved, suite: Suite) -> str:
    whose = "people" if moved.users == moved.scenarios else f"{suite.item}s"
    return f"{moved.worse} of {moved.scenarios} {whose} worse, {moved.better} better"


def reasons_of(explained: Explanation) -> str:
    """The reasons added up in one line, what grew most first; else the judge's sentences."""
    grown = [reason for reason in explained.reasons if reason.change is None or reason.change > 0]
    shown = (grown or explained.reasons)[:_MOST_REASONS]
    if not shown:
        common = explained.sentences[:_MOST_SENTENCES]
        return "; ".join(f"{short_line(text, _LONGEST)} {number}" for text, number in common)
    text = ", ".join(counted(reason) for reason in shown)
    return text if shown[0].change is None else f"{text}; change {since_text(explained)}"


def since_text(explained: Explanation) -> str:
    """``since the baseline``, with the number of dialogues where it is not known of all."""
    known, scored = explained.reasons[0].known, explained.reasons[0].scored
    return f"{_SINCE[explained.since]}{f', over the {known} dialogues in both' if known < scored else ''}"


def unscored_lines(explained: Explanation, results: Results, *, ways: bool = True) -> Iterator[str]:
    """For the gate on the share of scored items: who failed, how often, and with `ways` of what."""
    if explained.gate.kind != "valid":
        return
    for cause, number in results.uncounted.items():
        yield f"{number} not scored: {CAUSES[cause]}"
        if cause == "assistant" and ways:
            yield from (f"  {line}" for line in crash_groups(results))


def case_title(case: WorstCase, scenario: BaseScenario | None) -> str:
    """Who lost what: ``books-4-tinashe (Tinashe Moyo): P 3 -> 1``."""
    name = f" ({scenario.name})" if scenario is not None and scenario.name else ""
    trial = f", trial {case.item.trial}" if case.item.trial > 1 else ""
    return f"{case.item.evaluation.scenario}{name}{trial}: {_score(case)}"


def _score(case: WorstCase) -> str:
    measure, score = case.verdict.dimension, case.verdict.score
    if measure == Dimension.TASK_COMPLETION:
        return "task completed before, not completed now" if case.before else "task not completed"
    changed = case.before is not None and case.before != score
    return f"{measure.names.score} {f'{case.before} -> ' if changed else ''}{score}"


def case_reason(case: WorstCase, scenario: BaseScenario | None) -> str:
    """Why, with the preferences or the parts by name."""
    return why(case.verdict, costs_of(case.verdict), scenario)


def turns_of(exchange: Exchange, scenario: BaseScenario | None) -> Iterator[Turn]:
    """The exchange as it is shown: what the user said, the reply on record, the reply now.

    Where the reply answers a request that has a true answer, the truth stands in place of the long request.
    """
    if scenario is not None and scenario.takes_answers:
        yield from (Turn("", name, text) for name, text in scenario.facts if name == "truth")
    elif exchange.asked:
        yield Turn("", "user", exchange.asked)
    if exchange.recorded:
        yield Turn("-", "recorded", exchange.recorded)
    yield Turn("+", "now", exchange.reply)


def excerpt(text: str, quote: str, room: int) -> str:
    """At most `room` characters of a message in a line, from the judge's `quote` on if that is far in."""
    line = one_line(" ".join(harmless(text).split()))
    if len(line) <= room:
        return line
    at = line.find(quote[: max(10, room // 4)]) if quote else -1
    start = at if at > room // 2 else 0
    shown = (
        line[start:]
        if len(line) - start <= room - 3
        else f"{line[start : start + room - 3 - 3 * bool(start)]}..."
    )
    return f"...{shown}" if start else shown
