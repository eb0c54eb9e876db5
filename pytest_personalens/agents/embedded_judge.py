"""The embedded judge: reads a transcript against goal, profile and situation by rule, without a model.

Its limits: it matches words, so a paraphrase of a preference or a deed in unusual words escapes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.reading import Reading, is_deed, is_question
from pytest_personalens.agents.text import content, fold, sentences, stems
from pytest_personalens.errors import JudgeFault
from pytest_personalens.verdict import Dimension, Evidence, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.dialogue import Dialogue, Message
    from pytest_personalens.scenario import Scenario

#: Details of habit or context that an assistant must bring in by itself to count as anticipating.
ANTICIPATION: Final = 4
#: Details that show, without any preference named, that what is known was used.
USED: Final = 2
_QUOTE: Final = 160
_MOST_EVIDENCE: Final = 4

_GIVEN_UP: Final = re.compile(
    r"\b(?:never mind|forget it|i give up|i'?ll (?:do|sort|manage|book|set|find) it (?:myself|out|on my own)|isn't getting anywhere|useless|waste of|give it up|leave it then)\b"
)
_PENDING: Final = re.compile(r"\b(?:i(?:'ll| will)|i(?:'m| am) going to|let me|should be (?:able|ready)|soon|in a moment|working on|as soon as|once you|when you confirm)\b")
_BROKEN: Final = re.compile(r"\ufffd|<\||\|>|\b(\w+)(?: \1){3,}\b")


class Reason(NamedTuple):
    """A score with its justification and evidence."""

    score: int
    why: str
    evidence: tuple[Evidence, ...] = ()


class EmbeddedJudge:
    """Deterministic and free; tells a good assistant from a bad one, but is no substitute for a model or a person."""

    identity = "embedded-judge 1"
    paid = False

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """The reading on `dimension`."""
        if not any(m.role == "assistant" for m in dialogue.messages):
            raise JudgeFault("the transcript has no turn of the assistant")
        if dimension is Dimension.TASK_COMPLETION:
            reason = task_completion(scenario, dialogue)
        elif dimension is Dimension.PERSONALIZATION:
            reason = personalization(scenario, dialogue)
        else:
            role = "user" if dimension in (Dimension.NATURALNESS_USER, Dimension.COHERENCE_USER) else "assistant"
            read = naturalness if dimension in (Dimension.NATURALNESS_USER, Dimension.NATURALNESS_ASSISTANT) else coherence
            reason = read(dialogue.messages, role)
        return Verdict(dimension=dimension, score=reason.score, justification=reason.why, evidence=reason.evidence[:_MOST_EVIDENCE])


def personalization(scenario: Scenario, dialogue: Dialogue) -> Reason:
    """P by the rubric's meaning (paper, Figure 17).

    1 asks for or contradicts what is known, or names it idly; 2 applies only what was just said; 3 applies
    known preferences unprompted; 4 anticipates from habits and context.
    """
    reading = Reading(scenario, dialogue.messages)
    applied = {(m.domain, m.type): m for m in reversed(reading.applied)}
    asked = {(a.domain, a.type): a for a in reversed(reading.asks) if not a.again and reading.relevant(a.domain, a.type)}
    again = [a for a in reading.asks if a.again]
    clashes = [c for c in reading.clashes if (c.domain, c.type) not in applied]
    details = reading.details
    shown = [_evidence(m.turn, m.sentence, f"{m.type}: {m.value}, not said by the user") for m in applied.values()]
    habits = [_evidence(d.turn, d.sentence, f"'{d.word}' is from past interactions or the situation") for d in _one_a_sentence(details)]
    if clashes and len(clashes) >= len(applied):
        found = [_evidence(c.turn, c.sentence, f"{c.value} is not this user's {c.type}") for c in clashes]
        return Reason(1, f"contradicts what is known: {_names(clashes)}", tuple(found))
    if again and not applied:
        found = [_evidence(a.turn, a.sentence, f"asks for {a.type} again") for a in again]
        return Reason(1, f"asks again for what the user has said: {_names(again)}", tuple(found))
    if len(asked) > 2 and len(asked) > len(applied):
        found = [_evidence(a.turn, a.sentence, f"{a.type} is known") for a in asked.values()]
        return Reason(1, f"asks for what is known: {_names(asked.values())}", tuple(found))
    if len(details) >= ANTICIPATION and not asked and not clashes:
        return Reason(4, "draws on habits and context without being told", tuple(habits + shown))
    if reading.dropped and not applied and len(details) < USED:
        found = [_evidence(m.turn, m.sentence, f"names {m.value} and does nothing with it") for m in reading.dropped]
        return Reason(1, f"names what it knows without using it: {_names(reading.dropped)}", tuple(found))
    if len(applied) > len(asked) or (len(details) >= USED and not asked):
        if len(applied) >= 2 and len(details) >= USED and not asked:
            return Reason(4, "applies preferences unprompted and draws on habits and context", tuple(habits + shown))
        return Reason(3, f"applies what is known unprompted: {_names(applied.values()) or 'past interactions'}", tuple(shown + habits))
    if asked:
        found = [_evidence(a.turn, a.sentence, f"{a.type} is known") for a in asked.values()]
        return Reason(2, f"asks for what is known before using it: {_names(asked.values())}", tuple(found))
    echoes = [_evidence(m.turn, m.sentence, f"{m.value}, as the user had said") for m in reading.echoed]
    if echoes:
        return Reason(2, "uses only what the user said in this conversation", tuple(echoes))
    return Reason(2, "uses nothing that is known of the user, and asks for nothing", ())


def task_completion(scenario: Scenario, dialogue: Dialogue) -> Reason:
    """TC from the goal (paper, Figure 16): all of it done by the end, and not merely promised, refused or undone."""
    reading = Reading(scenario, dialogue.messages)
    last = max(i for i, m in enumerate(dialogue.messages) if m.role == "assistant")
    deeds = [(t, s) for t, s in reading.deeds if not _PENDING.search(fold(s))]
    given_up = [(t, s) for t, s in _sentences_of(dialogue.messages, "user") if _GIVEN_UP.search(fold(s))]
    if dialogue.truncated:
        return Reason(0, "the turn limit ended the dialogue before the user was served", (_evidence(last, dialogue.messages[last].content, ""),))
    if given_up:
        return Reason(0, "the user gave up", tuple(_evidence(t, s, "gives up") for t, s in given_up))
    if _BROKEN.search(dialogue.messages[last].content):
        return Reason(0, "the last reply breaks off or is garbled", (_evidence(last, dialogue.messages[last].content[-_QUOTE:], ""),))
    if not deeds:
        return Reason(0, "nothing was done or delivered", (_evidence(last, dialogue.messages[last].content, "last reply"),))
    refused = [(t, s) for t, s in reading.refusals if t >= deeds[-1][0]]
    if refused:
        return Reason(0, "the last word on it is a refusal", tuple(_evidence(t, s, "refuses") for t, s in refused))
    clashes = [c for c in reading.clashes if not _put_right(reading, c.turn, c.domain, c.type)]
    if clashes:
        found = tuple(_evidence(c.turn, c.sentence, f"{c.value} is not this user's {c.type}") for c in clashes)
        return Reason(0, f"what was done is not what the goal asks for: {_names(clashes)}", found)
    missing = reading.undone_domains()
    if missing:
        return Reason(0, f"nothing was done about {', '.join(missing)}", tuple(_evidence(t, s, "done") for t, s in deeds))
    ends_asking = is_question(_last_sentence(dialogue.messages[last].content)) and deeds[-1][0] < last - 2
    wanted = content(scenario.task.goal) | content(scenario.task.intent)
    said = set().union(*(stems(s) for _, s in deeds), *(stems(dialogue.messages[t].content) for t, _ in deeds))
    if ends_asking or not wanted & said:
        return Reason(0, "what was done is not what was asked for", tuple(_evidence(t, s, "done instead") for t, s in deeds))
    return Reason(1, "what the goal asks for was done or delivered", tuple(_evidence(t, s, "done") for t, s in reversed(deeds)))


def naturalness(messages: Sequence[Message], role: str) -> Reason:
    """1 to 5 from signs of a machine: the same sentence again, form-filling, boilerplate, garbled text (Figures 18, 19)."""
    turns = [(i, m.content) for i, m in enumerate(messages) if m.role == role]
    flaws = [_evidence(t, s, "said before") for t, s in _repeats(turns)]
    flaws += [_evidence(t, text, "garbled") for t, text in turns if _BROKEN.search(text)]
    flaws += [_evidence(t, text, "reads like a form or a log") for t, text in turns if _form_like(text)]
    return Reason(_scaled(len(flaws), len(turns)), "reads naturally" if not flaws else "repetition, boilerplate or garbled text", tuple(flaws))


def coherence(messages: Sequence[Message], role: str) -> Reason:
    """1 to 5 from breaks: a turn that shares no word with what it answers, or repeats itself (Figures 19, 20)."""
    turns = [(i, m.content) for i, m in enumerate(messages) if m.role == role]
    flaws = [_evidence(t, s, "said before") for t, s in _repeats(turns)]
    seen: set[str] = set()
    for i, message in enumerate(messages):
        words = content(message.content)
        if message.role == role and i and len(words) > 6 and not words & seen:
            flaws.append(_evidence(i, message.content, "has nothing to do with what was said"))
        seen |= words
    flaws += [_evidence(t, text, "garbled") for t, text in turns if _BROKEN.search(text)]
    return Reason(_scaled(len(flaws), len(turns)), "each turn follows from the last" if not flaws else "turns that do not follow", tuple(flaws))


def _scaled(flaws: int, turns: int) -> int:
    share = flaws / max(1, turns)
    return 5 - sum(share > bound for bound in (0.0, 0.2, 0.45, 0.8))


def _repeats(turns: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    seen: set[str] = set()
    found = []
    for turn, text in turns:
        for sentence in sentences(text):
            if len(stems(sentence)) >= 4 and fold(sentence) in seen:
                found.append((turn, sentence))
            seen.add(fold(sentence))
    return found


def _form_like(text: str) -> bool:
    folded = fold(text)
    return bool(re.search(r"\b(?:as an ai|error code|invalid input|please specify|required field|missing:|processing your request|\{\w*\}|null)", folded))


def _put_right(reading: Reading, turn: int, domain: str, name: str) -> bool:
    return any(m.role == "assistant" and m.turn > turn and (m.domain, m.type) == (domain, name) for m in reading.mentions)


def _sentences_of(messages: Sequence[Message], role: str) -> list[tuple[int, str]]:
    return [(i, s) for i, m in enumerate(messages) if m.role == role for s in sentences(m.content)]


def _last_sentence(text: str) -> str:
    found = sentences(text)
    return found[-1] if found else text


def _one_a_sentence(details: Sequence[object]) -> list[object]:
    seen: dict[tuple[int, str], object] = {}
    for d in details:
        seen.setdefault((d.turn, d.sentence), d)  # type: ignore[attr-defined]
    return list(seen.values())


def _names(found: object) -> str:
    return ", ".join(dict.fromkeys(f.type for f in found))  # type: ignore[attr-defined]


def _evidence(turn: int, quote: str, note: str) -> Evidence:
    quote = " ".join(quote.split())
    return Evidence(turn=turn, quote=quote if len(quote) <= _QUOTE else f"{quote[: _QUOTE - 3]}...", note=note)
