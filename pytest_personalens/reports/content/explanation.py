"""Why a gate failed, in words: a sentence, the reasons added up, and the exchanges that cost most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.text.safe_text import harmless, one_line
from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.reports.content.reason_text import DOES, reason_count_text, why
from pytest_personalens.results.reasons.reasons import costs_of
from pytest_personalens.results.wording import apart, count, unread_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.reasons.explanation import Explanation, MeanChange
    from pytest_personalens.results.reasons.worst_cases import Exchange, WorstCase
    from pytest_personalens.results.values.results import Results

#: Reasons that are added up in a line.
_MOST_REASONS: Final = 3
#: Of a judge that gives no reasons: its own sentences.
_MOST_SENTENCES: Final = 2
_LONGEST: Final = 100
#: So much of what is the same is shown before a difference far into a message.
_BEFORE: Final = 20
#: What is said of a fall for which the judge has no reason that it had not before.
UNEXPLAINED: Final = "no reason explains the change; compare the words"
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
        return f"{missing}, below the required {100 * gate.limit:.6g}%"
    in_words = gate.kind in ("floor", "lift") or (gate.kind == "regression" and explained.moved is not None)
    if gate.value is None or measure is None or not in_words:
        return gate.message
    if explained.same_as:
        return f"the same fall as under gate {explained.same_as}"
    lead = explained.lead
    because = f"; it {DOES[lead.code]} in {count(lead.dialogues, suite.dialogue)}" if lead is not None else ""
    because = f"; {UNEXPLAINED}" if explained.unexplained else because
    return f"{_outcome(explained, measure, suite)}{because}"


def _outcome(explained: Explanation, measure: Measure, suite: Suite) -> str:
    gate, moved = explained.gate, explained.moved
    assert gate.value is not None
    title = f"{measure.names.title}{f' in {explained.group}' if explained.group else ''}"
    if gate.kind == "regression" and moved is not None:
        way = "fell" if moved.after < moved.before else "rose"
        return f"{title} {way} from {moved.before:.2f} to {moved.after:.2f}: {_people(moved, suite)}"
    measured, limit = apart(gate.value, gate.limit)
    wanted = f"{'below' if gate.direction == '>=' else 'above'} the required {limit}"
    if gate.name.startswith("pass^"):
        return f"the rate {gate.name} is {measured}, {wanted}"
    if gate.kind == "lift":
        return f"what the assistant knows of its user is worth {measured} of {measure.names.mean}, {wanted}"
    if moved is not None and measure.is_worse(moved.after, moved.before):
        then = "in the baseline" if explained.since == "baseline" else "in the records"
        before = f"it was {moved.before:.2f} {then}"
        return f"{title} is {measured}, {wanted}; {before}: {_people(moved, suite)}"
    return f"{title} is {measured}, {wanted}"


def _people(moved: MeanChange, suite: Suite) -> str:
    whose = "user" if moved.users == moved.scenarios else suite.item
    return f"worse for {moved.worse} of {count(moved.scenarios, whose)}, better for {moved.better or 'none'}"


def reasons_of(explained: Explanation) -> str:
    """The reasons added up in one line, what grew most first; else the judge's sentences."""
    grown = [reason for reason in explained.reasons if reason.change is None or reason.change > 0]
    shown = (grown or explained.reasons)[:_MOST_REASONS]
    if explained.unexplained:
        return ""
    if not shown:
        common = explained.sentences[:_MOST_SENTENCES]
        return "; ".join(f"{short_line(text, _LONGEST)} {number}" for text, number in common)
    text = ", ".join(reason_count_text(reason) for reason in shown)
    return text if shown[0].change is None else f"{text}; change {since_text(explained)}"


def since_text(explained: Explanation) -> str:
    """``since the baseline``, with the number of dialogues where it is not known of all."""
    known, scored = explained.reasons[0].known, explained.reasons[0].scored
    return f"{_SINCE[explained.since]}{f', over the {known} dialogues in both' if known < scored else ''}"


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
    """Why, with the preferences or the parts by name; what the judge said before too is no reason."""
    if case.unexplained:
        return UNEXPLAINED
    return why(case.verdict, case.reasons or costs_of(case.verdict), scenario)


def turns_of(exchange: Exchange, scenario: BaseScenario | None, room: int) -> Iterator[Turn]:
    """The exchange as it is shown: what the user said, the reply on record, the reply now. Where the reply
    answers a request that has a true answer, the truth stands in place of the long request, and the right
    answer behind the question, without its options.
    """
    facts = dict(scenario.facts) if scenario is not None and scenario.takes_answers else {}
    if "truth" in facts:
        yield Turn("", "truth", facts["truth"])
    elif exchange.asked and "right" in facts:
        right = f" (right: {short_line(facts['right'], room // 2)})"
        yield Turn("", "user", excerpt(exchange.asked.partition("\n\n")[0], "", room - len(right)) + right)
    elif exchange.asked and not facts:
        yield Turn("", "user", exchange.asked)
    if exchange.recorded:
        yield Turn("-", "recorded", exchange.recorded)
    yield Turn("+", "now", exchange.reply)


def excerpts(case: WorstCase, scenario: BaseScenario | None, room: int) -> Iterator[Turn]:
    """The exchange with at most `room` characters of each message, cut around what changed or is quoted."""
    exchange = case.exchange
    if exchange is None:
        return
    changed = common_length(exchange.recorded, exchange.reply) if exchange.recorded else 0
    for turn in turns_of(exchange, scenario, room):
        quote = exchange.quote if turn.sign == "+" and not case.unexplained else ""
        begin = turn.text[changed - _BEFORE :][:room] if changed > room // 2 and turn.sign else ""
        yield turn._replace(text=excerpt(turn.text, quote or begin, room))


def common_length(text: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(text), len(other)))


def excerpt(text: str, quote: str, room: int) -> str:
    """At most `room` characters of a message in a line, from the judge's `quote` on if that is far in."""
    line = one_line(" ".join(harmless(text).split()))
    if len(line) <= room:
        return line
    quote = " ".join(harmless(quote).split())
    at = line.find(quote[: max(10, room // 4)]) if quote else -1
    start = at if at > room // 2 else 0
    if start:
        start = line.find(" ", start - 1) + 1 if line[start - 1] != " " else start
    lead = "..." if start else ""
    if len(line) - start + len(lead) <= room:
        return lead + line[start:]
    return f"{lead}{_whole_words(line[start:], room - 3 - len(lead))}..."


def _whole_words(line: str, room: int) -> str:
    """Return the beginning of a line, cut before a word where one ends not long before."""
    cut = line[:room]
    end = cut.rfind(" ") if line[room : room + 1] != " " else room
    return cut[:end] if end > room * 3 // 4 else cut
