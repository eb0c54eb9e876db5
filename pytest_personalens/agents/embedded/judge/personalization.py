"""Personalization: twelve things that are counted, and the score that their sum gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.judge.intrusions import intrusions
from pytest_personalens.agents.embedded.judge.task_verdicts import broken_reasons
from pytest_personalens.agents.embedded.reader.statements import is_taste
from pytest_personalens.agents.embedded.reader.text import content, mentions, plain
from pytest_personalens.agents.embedded.reader.typed_values import said_in
from pytest_personalens.core.judging.verdict import MOST_EVIDENCE, Dimension, Evidence, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.embedded.judge.read_dialogue import Reading
    from pytest_personalens.agents.embedded.reader.statements import Facts, Statement
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.verdict import PreferenceCode
    from pytest_personalens.core.scenario import Scenario

#: What each counted thing adds to `START`. Shares run from 0 to 1, and what occurs or not is 1 or 0. The sum is
#: rounded to the nearest score, from 1 to 4. Fitted on `by-hand.jsonl` and other files that are no test.
START: Final = 1.5
POINTS: Final[Mapping[str, float]] = {
    "share of preferences used unasked": 0.25,
    "a preference is used unasked": 1.0,
    "a known preference is asked for": -0.75,
    "the user has to correct a preference": -1.75,
    "a preference is only named": -1.5,
    "share of preferences that nothing uses": 0.5,
    "details of the past in what is done or told, of 8": 1.75,
    "details of the past that are only named, of 4": 1.0,
    "a reason that rests on a detail of the past": 0.5,
    "a value goes against a preference": -0.25,
    "a value of the task agrees with a preference": 0.25,
    "questions in the first reply, of 4": -0.75,
}
_NAMES_ONLY: Final = re.compile(
    r"\b(?:i (?:know|remember|recall|see|have noted)|as (?:someone|a|an) \w+|our records|your (?:profile|preferences?|history|records?)|you (?:love|like|enjoy|prefer|are a|favou?r)|knowing (?:you|how)|i(?:'ve| have) (?:not forgotten|noted)|on file)\b"
)
_BECAUSE: Final = re.compile(
    r"\b(?:so (?:that )?(?:you|your|it|there|no|the|she|he|they)|because|since|which leaves|in time for|well (?:before|after|within)|far from|away from|keep\w* clear|no clash|as (?:last|always|usual|before|you)|your usual|like last|this time|just in case|free for|without)\b"
)
_NAME: Final = re.compile(
    r"(?<![.!?:] )(?<!^)\b[A-ZÀ-ÞŁŚŽ][\w'’&.-]*(?:(?: (?:de|of|the|and|&|la|le|du|van|von|in|on|der|den))* [A-ZÀ-ÞŁŚŽ0-9][\w'’&.-]*)*"
)
#: A question for a detail, whatever its words are about: "What time?"
_WHICH: Final = re.compile(
    r"(?:^|[,:;.] |\band )(?:what|which|when|where|who|how (?:many|much|long|often))\b"
)
_NOTES: Final[Mapping[PreferenceCode, str]] = {
    "contradicts": "goes against what is known",
    "asks-known": "asks for what is known",
    "recites": "names what it knows and does nothing with it",
    "applies": "applies what is known",
    "uses-stated": "the user says it",
    "ignores": "uses nothing of it",
}
_ORDER: Final = tuple(_NOTES)
#: A longer word of the past is a detail of its own.
_LONG: Final = 6


class Use(NamedTuple):
    """What became of a preference that matters to the task, and where it was seen."""

    code: PreferenceCode
    domain: str
    type: str
    value: str
    turn: int
    quote: str = ""


def uses(reading: Reading) -> list[Use]:
    """Return the use of each preference that matters to the task, or of all if the task names none."""
    scenario = reading.scenario
    every = [(domain, kind) for domain in scenario.domains for kind in scenario.preferences.get(domain, {})]
    found = [
        _use(reading, domain, kind)
        for domain, kind in scenario.task.relevant or every
        if scenario.preferences.get(domain, {}).get(kind)
    ]
    return _with_calls(reading, found)


def _use(reading: Reading, domain: str, kind: str) -> Use:
    scenario, said, facts = reading.scenario, reading.said, reading.facts
    user = [(n, m.content) for n, m in enumerate(reading.messages) if m.role == "user"]
    values = scenario.preferences[domain][kind]

    def says(text: str) -> str:
        return next((v for v in values if said_in(v, text, "item", facts.synonyms)), "")

    first = next(((s, value) for s in said if (value := says(s.text))), None)
    stated = next(((turn, value) for turn, text in user if (value := says(text))), None)
    if first and (stated is None or first[0].turn < stated[0]):
        s, value = first
        code: PreferenceCode = "applies"
        if _NAMES_ONLY.search(plain(s.text)) and s.act != "done":
            code = "recites"
        elif s.act == "asked" and s.turn == 1 and " or " in s.text:
            code = "asks-known"
        return Use(code, domain, kind, value, s.turn, s.text)
    if stated is None:
        types = scenario.words[domain].types if domain in scenario.words else {}
        others = {*types[kind].values} - {*values} if kind in types else set[str]()
        before = " ".join((scenario.task.intent, *(text for _, text in user)))
        for s in (s for s in said if s.act == "done" and others):
            other = next((v for v in types[kind].values if v in others and mentions(v, s.text)), "")
            if other and not mentions(other, before):
                return Use("contradicts", domain, kind, other, s.turn, s.text)
        last = max((s.turn for s in said), default=len(reading.messages) - 1)
        return Use("ignores", domain, kind, values[0], last)
    turn, value = stated
    # What the task leaves to the user to tell corrects nothing.
    left = any(value in f.right for f in facts.all if f.known == "told")
    if turn == 0 or left:
        return Use("uses-stated", domain, kind, value, turn, dict(user)[turn])
    question = next((s for s in said if s.turn == turn - 1 and _asks(s, facts)), None)
    if question:
        return Use("asks-known", domain, kind, value, question.turn, question.text)
    return Use("contradicts", domain, kind, value, turn, dict(user)[turn])


def _asks(s: Statement, facts: Facts) -> bool:
    """True for a question about the task or a preference; "is this what you had in mind?" asks for nothing."""
    return s.act == "asked" and bool(s.values or s.words & facts.topic or _WHICH.search(plain(s.text)))


def counted(reading: Reading, found: Sequence[Use]) -> dict[str, float]:
    """Return the twelve things by the names of `POINTS`."""
    messages, codes, total = reading.messages, [use.code for use in found], max(1, len(found))
    asked = "asks-known" in codes or _asks_past(reading)
    shown, named, reason = _past(reading)
    questions = sum(s.turn <= 1 and _asks(s, reading.facts) for s in reading.said)
    against = {messages[u.turn].role for u in found if u.code == "contradicts"}
    states = {r.state for r in reading.readings.values() if is_taste(r.fact)}
    numbers = (
        codes.count("applies") / total,
        float("applies" in codes),
        float(asked),
        float("user" in against),
        float("recites" in codes),
        codes.count("ignores") / total,
        min(shown, 8) / 8,
        min(named, 4) / 4,
        float(reason),
        # What the user had to correct is counted above, and no second time.
        float("assistant" in against or "contradicted" in states),
        float("affirmed" in states),
        min(questions, 4) / 4,
    )
    return dict(zip(POINTS, numbers, strict=True))


def _asks_past(reading: Reading) -> bool:
    """True if the user has to answer a question with a fact that the history tells, such as the reference of a booking."""
    messages, facts = reading.messages, reading.facts
    known = {fact.name for fact in facts.all if fact.known == "history"}
    questions = {s.turn for s in reading.said if _asks(s, facts)}
    for turn, message in enumerate(messages):
        if turn - 1 in questions and (told := known & facts.told_by(message.content)):
            before = (reading.scenario.task.intent, *(m.content for m in messages[:turn]))
            if not all(any(name in facts.told_by(text) for text in before) for name in told):
                return True
    return False


def _past(reading: Reading) -> tuple[int, int, bool]:
    """Return how many details of the past are used, how many are only named, and if one of them is a reason.

    A detail is a name, a number or a long word of the past that neither the task nor the user said before.
    """
    scenario, said = reading.scenario, reading.said
    held = (v for types in scenario.preferences.values() for values in types.values() for v in values)
    history = " ".join((*scenario.summaries.values(), *held))
    rare = frozenset().union(
        *map(content, _NAME.findall(history)), (w for w in content(history) if w.isdigit() or len(w) > _LONG)
    )
    rare -= content(scenario.name) | content(scenario.task.goal) | content(scenario.task.intent)
    user = [(turn, content(m.content)) for turn, m in enumerate(reading.messages) if m.role == "user"]
    details = {
        word for s in said for word in (s.words & rare).difference(*(w for turn, w in user if turn < s.turn))
    }
    shown = {
        word
        for s in said
        if s.act in ("done", "offered") or (s.act == "told" and not _NAMES_ONLY.search(plain(s.text)))
        for word in s.words & details
    }
    reason = any(s.words & details and _BECAUSE.search(plain(s.text)) for s in said)
    return len(shown), len(details - shown), reason


def score(numbers: Mapping[str, float]) -> int:
    """Return the score from 1 to 4 of the twelve things."""
    return max(1, min(4, round(START + sum(POINTS[name] * number for name, number in numbers.items()))))


def verdict(reading: Reading) -> Verdict:
    """Return the verdict on personalization; an assistant that breaks a limit of the user has the lowest score."""
    found = uses(reading)
    numbers = counted(reading, found)
    points = 1 if reading.broken else score(numbers)
    if too_much := intrusions(reading):
        # An assistant that intrudes has at most 3, and what it says too much earns nothing.
        less = reading.without(i.statement for i in too_much if i.statement.act != "done")
        points = min(points, 3, score(counted(less, uses(less))))
    found.sort(key=lambda use: _ORDER.index(use.code))
    evidence = [
        Evidence.of(b.statement.turn, b.statement.text, f"breaks {b.limit.name}: {b.said}")
        for b in reading.broken
    ]
    evidence += [
        Evidence.of(u.turn, u.quote, f"{_NOTES[u.code]}: {u.type}, {u.value}") for u in found if u.quote
    ]
    reasons = [*broken_reasons(reading)]
    reasons += [Reason(code=u.code, domain=u.domain, type=u.type, value=u.value, turn=u.turn) for u in found]
    return Verdict(
        dimension=Dimension.PERSONALIZATION,
        score=points,
        justification=_why(reading, points, found, numbers),
        evidence=tuple(evidence[:MOST_EVIDENCE]),
        reasons=tuple(reasons),
    )


def _why(reading: Reading, points: int, found: Sequence[Use], numbers: Mapping[str, float]) -> str:
    if reading.broken:
        first = reading.broken[0]
        return f"breaks a hard limit of {reading.scenario.name or reading.scenario.user}: {first.limit.name} ({first.said})"
    said = [f"{_NOTES[u.code]}: {u.type}, {u.value}" for u in found if (u.code == "applies") == (points > 2)]
    if not said:
        most = max(numbers, key=lambda name: numbers[name] * POINTS[name] * (1 if points > 2 else -1))
        said = [most if numbers[most] else "uses little that is known of the user"]
    return "; ".join([*said[:3], *([f"a 4 takes {_lacking(numbers)}"] if points == 3 else [])])


def _lacking(numbers: Mapping[str, float]) -> str:
    """Return what costs a 3 the most, such as ``more: details of the past in what is done or told, 2 of 8``."""
    if score(numbers) > 3:
        return "less: words that the task does not need"
    unused = "share of preferences that nothing uses"  # it has points and is no merit
    lost = {name: max(POINTS[name], 0) - POINTS[name] * n for name, n in numbers.items() if name != unused}
    most = max(lost, key=lambda name: lost[name])
    name, _, limit = most.partition(", of ")
    told = f"{name}, {numbers[most] * int(limit):.0f} of {limit}" if limit else name
    return f"{'more' if POINTS[most] > 0 else 'less'}: {told}"


def _with_calls(reading: Reading, found: list[Use]) -> list[Use]:
    """Return the uses, where a preference that no words use is applied by the arguments of a call."""
    if not reading.dialogue.acts or all(use.code != "ignores" for use in found):
        return found
    from pytest_personalens.agents.embedded.judge.by_calls import actions

    made = [action for action in actions(reading.messages) if action.did]

    def applied(use: Use) -> Use:
        for value in reading.scenario.preferences[use.domain][use.type] if use.code == "ignores" else ():
            for action in made:
                if said_in(value, action.text, "item", reading.facts.synonyms):
                    return use._replace(
                        code="applies", value=value, turn=action.call.turn, quote=repr(action.call)
                    )
        return use

    return [applied(use) for use in found]


def opening_leak(scenario: Scenario, dialogue: Dialogue) -> Verdict:
    """Return 1 if the opening names a preference that the intent does not, else 0."""
    opening = dialogue.messages[0].content
    leaks = [
        (kind, value)
        for types in scenario.preferences.values()
        for kind, values in types.items()
        for value in values
        if mentions(value, opening) and not mentions(value, scenario.task.intent)
    ]
    named = ", ".join(dict.fromkeys(kind for kind, _ in leaks))
    return Verdict(
        dimension=Dimension.OPENING_LEAK,
        score=int(bool(leaks)),
        justification=f"states {named}" if leaks else "states no preference",
        evidence=tuple(
            Evidence.of(0, opening, f"names {kind}: {value}") for kind, value in leaks[:MOST_EVIDENCE]
        ),
    )
