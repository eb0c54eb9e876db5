"""What reports say of gates that failed and of items below them: the cases, the reasons, their words."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.measure import Dimension
from pytest_personalens.core.safe_text import count, harmless, one_line
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.reports.content.markup import short_line, whole_words
from pytest_personalens.results.reasons import KINDS_OF_INTRUSION, costs_of, counted_codes
from pytest_personalens.results.values.item import uncounted_reason
from pytest_personalens.results.wording import apart, unread_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.reasons import CountedCode, Exchange, Explanation, ReasonCount, WorstCase
    from pytest_personalens.results.values.figures import PairedChange
    from pytest_personalens.results.values.item import Item, Shortfall
    from pytest_personalens.results.values.results import Results

#: What the assistant does, in a sentence about it; the same before the name of a preference or of a part; and
#: what became of a preference.
_WORDS: Final[Mapping[CountedCode, tuple[str, ...]]] = {
    "limit-broken": ("breaks a hard limit of the user", "breaks the limit", "broken"),
    "asks-known": ("asks for what is known", "asks for", "asked for"),
    "contradicts": ("goes against what is known", "goes against", "gone against"),
    "recites": (
        "mentions a preference without acting on it",
        "mentions without acting on it",
        "mentioned, not acted on",
    ),
    "ignores": ("leaves a preference unused", "does not use", "not used"),
    "uses-stated": (
        "uses only what the user says in the dialogue",
        "waits until the user says",
        "used once the user said it",
    ),
    "applies": ("uses what is known", "uses", "used"),
    "anticipates": ("foresees what the user needs", "foresees", "foreseen"),
    "refused": ("fails at a part of the task, or refuses it", "failed or refused"),
    "wrong": ("does a part of the task, but not as it was wanted", "not as wanted"),
    "claimed": ("says that it did a part of the task, and did not", "claimed, not done:"),
    "handed-back": ("leaves a part of the task to the user", "left to the user"),
    "promised": ("only promises a part of the task", "only promised"),
    "proposed": ("only proposes a part of the task, or asks about it", "only proposed or asked"),
    "missing": ("is not seen to do a part of the task", "not seen"),
    "done": ("does a part of the task", "done"),
    "whole": ("does each part, but not the task as a whole",),
    "not-said": ("does not say what it was told", "does not say"),
    "must-not-say": ("says what it must not", "says"),
    "told-again": ("tells again what the user said", "tells again what the user said:"),
    "made-up": ("makes something up", "makes something up:"),
    "not-admitted": ("does not say that it does not know",),
    "no-reply": ("gives an empty reply",),
    "cannot-tell": ("does not show whether it meets the criterion",),
    "religion": ("brings up the user's religion",),
    "ethnicity": ("brings up the user's ethnicity or origin",),
    "health": ("brings up the user's health",),
    "family": ("brings up the user's family",),
    "age": ("brings up the user's age",),
    "gender": ("brings up the user's gender",),
    "work": ("brings up the user's work or education",),
    "other-domain": ("brings up what belongs to another domain",),
    "other-person": ("brings up what is known of another person",),
}
DOES: Final[Mapping[CountedCode, str]] = {code: words[0] for code, words in _WORDS.items()}
_ABOUT: Final[Mapping[CountedCode, str]] = {
    **{code: words[1] for code, words in _WORDS.items() if len(words) > 1},
    **{code: f"brings up without need {kind}:" for code, kind in KINDS_OF_INTRUSION.items()},
}
OUTCOMES: Final[Mapping[CountedCode, str]] = {
    code: words[2] for code, words in _WORDS.items() if len(words) > 2
}
#: What a preference is called loses this word in a sentence about it.
_KIND: Final = " Preference"
#: Codes of reasons whose value is what the assistant did; of all others it is what is known.
_DID: Final[frozenset[ReasonCode]] = frozenset({"contradicts", "limit-broken"})
_LONGEST: Final = 120
_LONGEST_REASON: Final = 200


class GoalPart(NamedTuple):
    """A part of the goal: `done` or not, in `words`; `turn` is the message that shows it, if one does."""

    done: bool
    words: str
    turn: int | None

    @property
    def line(self) -> str:
        """Return ``✗ a hotel room is booked: not seen (turn 7)``."""
        where = f" (turn {self.turn})" if self.turn is not None else ""
        return f"{'✓' if self.done else '✗'} {self.words}{where}"


def goal_parts(verdict: Verdict) -> list[GoalPart]:
    """The parts of the goal that the judge tells, in its order; none where it tells none."""
    return [
        GoalPart(
            reason.code == "done",
            reason.part.rstrip(".") + ("" if reason.code == "done" else f": {_state(reason)}"),
            reason.turn,
        )
        for reason in verdict.reasons
        if reason.part
    ]


def _state(reason: Reason) -> str:
    return f"{_ABOUT[reason.code]} ({reason.detail})" if reason.detail else _ABOUT[reason.code]


def reason_text(reasons: Iterable[Reason], scenario: BaseScenario | None = None) -> str:
    """Reasons in one line, those of a kind together, each with what is known and what the assistant did.
    ``goes against Alarm Time (known 4:30 AM, did 7:00 AM); asks for Alarm Sound (known: vibration only)``
    """
    kinds: dict[ReasonCode, list[str]] = defaultdict(list)
    for reason in reasons:
        kinds[reason.code].append(_about(reason, scenario))
    return "; ".join(
        f"{_ABOUT[code]} {_joined(about)}" if all(about) else DOES[code] for code, about in kinds.items()
    )


def _about(reason: Reason, scenario: BaseScenario | None) -> str:
    if not reason.type:
        part = f"“{short_line(reason.part.rstrip('.'), _LONGEST)}”" if reason.part else reason.value
        return f"{part} ({short_line(reason.detail, _LONGEST)})" if reason.detail else part
    values = values_text(reason, scenario)
    name = reason.type.removesuffix(_KIND)
    if reason.code == "limit-broken":
        whose = f" of {scenario.name or scenario.user}" if scenario is not None else ""
        turn = f", turn {reason.turn}" if reason.turn is not None else ""
        return short_line(f"{name}{whose} (says “{reason.value}”{turn})", _LONGEST)
    return short_line(f"{name} ({values})" if values else name, _LONGEST)


def values_text(reason: Reason, scenario: BaseScenario | None) -> str:
    """What is known of the reason's preference, and what the assistant did where it differs. ``known 4:30 AM,
    did 7:00 AM: amara's``, or ``known: vibration only``; empty where neither is told.
    """
    preferences = scenario.preferences if isinstance(scenario, Scenario) else {}
    known, value = preferences.get(reason.domain, {}).get(reason.type, ()), reason.value
    if reason.code in _DID and value and value not in known:
        did = f"did {value}" + f": {reason.detail}" * bool(reason.detail and reason.code == "contradicts")
        return f"known {', '.join(known)}, {did}" if known else did
    shown = value if value in known or not known else ", ".join(known)
    return f"known: {shown}" if shown else ""


def _joined(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"


def why(verdict: Verdict, reasons: Iterable[Reason], scenario: BaseScenario | None = None) -> str:
    """Why a reading is low, in a line: by the reasons that speak against it, else by the judge's own."""
    return reason_text(reasons, scenario) or short_line(_said(verdict), 2 * _LONGEST)


def said_by_judge(text: str, verdict: Verdict, scenario: BaseScenario | None = None) -> str:
    """The judge's sentence or note; where it is no more than a reason, in the words of all reports. A judge
    that is a program ends such a text with the preference and its value, or begins it with the part.
    """
    about = [r for r in verdict.reasons if r.type and text.endswith(f": {r.type}, {r.value}")]
    parts = [
        r for r in costs_of(verdict) if r.part and text.startswith((f"{r.part}: ", f"{r.detail or r.part}: "))
    ]
    if about:
        return reason_text(about[:1], scenario)
    return reason_text(costs_of(verdict), scenario) if parts else text


def _said(verdict: Verdict) -> str:
    """The judge's sentence; where no part is missing, also what it quotes, and parts that no reply names."""
    if "whole" not in counted_codes(verdict):
        return verdict.justification
    against = ", ".join(f"{e.note} (turn {e.turn})" for e in verdict.evidence if e.note)
    unnamed = [f"“{reason.part}”" for reason in verdict.reasons if reason.turn is None]
    sentence = "each part is seen as done, but not the task as a whole" + (
        f"; against it: {against}" if against else ""
    )
    return sentence + (f"; no reply has words of {_joined(unnamed)}" if unnamed else "")


def reason_count_text(reason: ReasonCount) -> str:
    """``asks for what is known 28 (+26)``: in how many dialogues, and the change where it is known."""
    change = f" ({reason.change:+d})" if reason.change is not None else ""
    return f"{DOES[reason.code]} {reason.dialogues}{change}"


#: Reasons that are added up in a line.
_MOST_REASONS: Final = 3
#: Of a judge that gives no reasons: its own sentences.
_MOST_SENTENCES: Final = 2
_LONGEST_TITLE: Final = 100
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
    if gate.value is None or measure is None or not in_words or gate.inconclusive:
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


def _people(moved: PairedChange, suite: Suite) -> str:
    whose = "user" if moved.users == moved.pairs else suite.item
    return f"worse for {moved.worse} of {count(moved.pairs, whose)}, better for {moved.better or 'none'}"


def reasons_of(explained: Explanation) -> str:
    """The reasons added up in one line, what grew most first; else the judge's sentences."""
    grown = [reason for reason in explained.reasons if reason.change is None or reason.change > 0]
    shown = (grown or explained.reasons)[:_MOST_REASONS]
    if explained.unexplained:
        return ""
    if not shown:
        common = explained.sentences[:_MOST_SENTENCES]
        return "; ".join(f"{short_line(text, _LONGEST_TITLE)} {number}" for text, number in common)
    text = ", ".join(reason_count_text(reason) for reason in shown)
    return text if shown[0].change is None else f"{text}; change {since_text(explained)}"


def since_text(explained: Explanation) -> str:
    """``since the baseline``, with the number of dialogues where it is not known of all."""
    known, scored = explained.reasons[0].known, explained.reasons[0].scored
    return f"{_SINCE[explained.since]}{f', over the {known} dialogues in both' if known < scored else ''}"


def case_title(case: WorstCase, scenario: BaseScenario | None) -> str:
    """Who lost what, and where if not at once: ``books-4-tinashe (Tinashe Moyo): P 3 -> 1, turn 5``."""
    name = f" ({scenario.name})" if scenario is not None and scenario.name else ""
    trial = f", trial {case.item.trial}" if case.item.trial > 1 else ""
    turn = f", turn {case.exchange.turn}" if case.exchange is not None and case.exchange.turn > 1 else ""
    return f"{case.item.evaluation.scenario}{name}{trial}: {_score(case)}{turn}"


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
    return f"{lead}{whole_words(line[start:], room - 3 - len(lead))}..."


def failures(results: Results) -> list[Item]:
    """Return the items that a person should look at, the worst first. Failed items come first, then low items
    that a gate let pass, then items without scores.
    """
    wrong = [item for item in results.items if item.failed or (not item.control and item.status != "passed")]
    return sorted(wrong, key=lambda item: (not item.failed, item.status == "uncounted", item.nodeid))


def title(item: Item) -> str:
    """Return the scenario, with the trial and the control of the item."""
    parts = [f"trial {item.trial}"] * (item.trial > 1) + [f"control {item.control}"] * bool(item.control)
    return item.evaluation.scenario + (f" ({', '.join(parts)})" if parts else "")


def failure_headline(
    evaluation: Evaluation, shortfalls: Sequence[Shortfall], scenario: BaseScenario | None = None
) -> str:
    """What is wrong with an item, in a line: ``p 1 < 2: asks for Seat (known: window)``."""
    cause, detail = uncounted_reason(evaluation)
    if cause and not shortfalls:
        whose = cause if cause == "lost" else f"{cause} at fault"
        return one_line(f"not scored, {whose}: {harmless(detail)}")
    because = (f"{s}{short_line(because_of(evaluation, s, scenario), _LONGEST_REASON)}" for s in shortfalls)
    return one_line(harmless("; ".join(because)))


def because_of(evaluation: Evaluation, shortfall: Shortfall, scenario: BaseScenario | None) -> str:
    """Why a score is low, behind a colon; empty where nothing is known."""
    verdict = next((v for v in evaluation.verdicts if v.dimension == shortfall.dimension), None)
    reason = "" if verdict is None else why(verdict, costs_of(verdict), scenario)
    return f": {reason}" if reason else ""
