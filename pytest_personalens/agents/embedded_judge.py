"""The embedded judge: reads a transcript against goal, profile and situation by rule, without a model.

Its limits: it matches words, so a paraphrase of a preference or a deed in unusual words escapes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.kinds import is_deed
from pytest_personalens.agents.reading import Ask, Clash, Detail, Mention, Reading
from pytest_personalens.agents.text import content, fold, mentions, sentences, stems
from pytest_personalens.errors import JudgeFault
from pytest_personalens.verdict import Dimension, Evidence, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.dialogue import Dialogue, Message
    from pytest_personalens.scenario import Scenario

#: Details of habit or context that an assistant must bring in by itself to count as anticipating.
ANTICIPATION: Final = 6
#: Words of its own that a reply needs to say what was done, beyond that it was done.
SUBSTANCE: Final = 2
_UNDONE: Final = re.compile(
    r"\b(?:nothing is|not (?:yet )?(?:booked|set|sent|bought|done)|isn't (?:booked|set|sent)|still (?:on|open|there)|not yet)\b"
)
_QUOTE: Final = 160
_MOST_EVIDENCE: Final = 4

_GIVEN_UP: Final = re.compile(
    r"\b(?:never mind|forget it|i give up|i'?ll (?:do|sort|manage|book|set|find) it (?:myself|out|on my own)|isn't getting anywhere|useless|waste of|give it up|leave it then)\b"
)
_COMPLAINT: Final = re.compile(
    r"\b(?:i (?:already )?(?:said|told|asked)|told you|you (?:should |ought to )?know|wrong|not (?:that|what|me|a|the|in|at|for)\b|isn't (?:what|right)|hold on|forget (?:it|that)|never mind"
    r"|again|why (?:do|did|would|are)|what\?|as i said|like i said|already)\b|^\W*no[,!. ]"
)
_PENDING: Final = re.compile(
    r"\b(?:i(?:'ll| will)|i(?:'m| am) going to|let me|should be (?:able|ready)|soon|in a moment|working on|as soon as|once you|when you confirm)\b"
)
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
        elif dimension is Dimension.PERSONALIZATION_TURNS:
            return _by_turn(scenario, dialogue)
        elif dimension is Dimension.OPENING_LEAK:
            reason = opening_leak(scenario, dialogue)
        else:
            role = "user" if dimension in (Dimension.NATURALNESS_USER, Dimension.COHERENCE_USER) else "assistant"
            read = naturalness if dimension in (Dimension.NATURALNESS_USER, Dimension.NATURALNESS_ASSISTANT) else coherence
            reason = read(dialogue.messages, role)
        return Verdict(
            dimension=dimension, score=reason.score, justification=reason.why, evidence=_merged(reason.evidence)[:_MOST_EVIDENCE]
        )


def _by_turn(scenario: Scenario, dialogue: Dialogue) -> Verdict:
    """P as it stands after each turn of the assistant (paper, Figure 5)."""
    ends = [i + 1 for i, m in enumerate(dialogue.messages) if m.role == "assistant"]
    reasons = [personalization(scenario, dialogue.model_copy(update={"messages": dialogue.messages[:end]})) for end in ends]
    return Verdict(
        dimension=Dimension.PERSONALIZATION_TURNS,
        score=reasons[-1].score,
        justification=reasons[-1].why,
        evidence=_merged(reasons[-1].evidence)[:_MOST_EVIDENCE],
        turns=tuple(r.score for r in reasons),
    )


def opening_leak(scenario: Scenario, dialogue: Dialogue) -> Reason:
    """1 if the opening names a preference that the intent does not; 0 if it does not."""
    intent = scenario.task.intent
    leaks = [m for m in Reading(scenario, dialogue.messages[:1]).mentions if not mentions(m.value, intent)]
    found = tuple(_evidence(m.turn, m.sentence, f"names {m.type}: {m.value}") for m in leaks)
    return Reason(1, f"states {_names(leaks)}", found) if leaks else Reason(0, "states no preference")


def personalization(scenario: Scenario, dialogue: Dialogue) -> Reason:
    """P by the rubric's meaning (paper, Figure 17).

    1 asks for or contradicts what is known, or names it idly; 2 applies only what was just said; 3 applies
    known preferences unprompted; 4 anticipates from habits and context. What the user had to say first, ask
    for again or put right parts the lower half of the scale from the upper.
    """
    reading = Reading(scenario, dialogue.messages)
    applied = {(m.domain, m.type): m for m in reversed(reading.applied)}
    asked = {(a.domain, a.type): a for a in reversed(reading.asks) if reading.relevant(a.domain, a.type)}
    again = [a for a in reading.asks if a.again]
    complaints = [(t, s) for t, s in _sentences_of(dialogue.messages, "user") if t and _COMPLAINT.search(fold(s))]
    details = reading.details.used
    known = [_evidence(m.turn, m.sentence, f"{m.type}: {m.value}, not said by the user") for m in applied.values()]
    habits = [_evidence(d.turn, d.sentence, f"'{d.word}' is from past interactions or the situation") for d in _one_a_sentence(details)]
    quoted = [_evidence(d.turn, d.sentence, "quotes a past interaction that bears on it") for d in reading.details.quoted]
    clashes = [_evidence(c.turn, c.sentence, f"{c.value} is not this user's {c.type}") for c in reading.clashes]
    asks = [_evidence(a.turn, a.sentence, f"asks for {a.type}, which is known") for a in (*again, *asked.values())]
    idle = [_evidence(m.turn, m.sentence, f"names {m.value} and does nothing with it") for m in reading.dropped]
    idle += [_evidence(d.turn, d.sentence, "claims to know, and does nothing with it") for d in reading.details.claimed]
    cross = [_evidence(t, s, "the user objects") for t, s in complaints]
    told = [_evidence(m.turn, m.sentence, f"the user has to say {m.type}") for m in reading.told]

    if idle and not applied and len(details) < ANTICIPATION:
        return Reason(1, f"names what it knows without using it: {_names(reading.dropped) or 'past interactions'}", tuple(idle))
    if clashes and cross and len(reading.clashes) > len(applied):
        return Reason(1, f"contradicts what is known: {_names(reading.clashes)}", tuple(clashes + cross))
    if again and not applied:
        return Reason(1, f"asks again for what the user has said: {_names(again)}", tuple(asks))
    if len(asked) > 2 and len(asked) > len(applied) and cross:
        return Reason(1, f"keeps asking for what is known: {_names(asked.values())}", tuple(asks))
    if len(cross) > 1 and len(details) < ANTICIPATION:
        return Reason(1, "the user has to object again and again", tuple(cross))
    if told or len(asked) > 1 or (cross and len(details) < ANTICIPATION and len(applied) < 2):
        return Reason(
            2,
            f"uses what the user had to say first: {_names(reading.told) or _names(asked.values()) or 'corrections'}",
            tuple(told + asks + cross),
        )
    if len(details) >= ANTICIPATION:
        return Reason(4, "foresees from habits and context what the user did not ask for", tuple(habits + known))
    if applied or len(details) > 1 or reading.details.quoted:
        return Reason(
            3,
            f"applies what is known without being told: {_names(applied.values()) or 'past interactions'}",
            tuple(known + habits + quoted),
        )
    if not reading.delivered:
        return Reason(1, "neither uses what is known of the user nor does anything", ())
    return Reason(2, "uses nothing that is known of the user", ())


def task_completion(scenario: Scenario, dialogue: Dialogue) -> Reason:
    """TC from the goal (paper, Figure 16): all of it done by the end, and not merely promised, refused or undone."""
    messages = dialogue.messages
    reading = Reading(scenario, messages)
    last = max(i for i, m in enumerate(messages) if m.role == "assistant")
    closing = _evidence(last, messages[last].content, "last reply")
    given_up = [(t, s) for t, s in _sentences_of(messages, "user") if _GIVEN_UP.search(fold(s))]
    if dialogue.truncated:
        return Reason(0, "the turn limit ended the dialogue before the user was served", (closing,))
    if given_up:
        return Reason(0, "the user gave up", tuple(_evidence(t, s, "gives up") for t, s in given_up))
    if _BROKEN.search(messages[last].content):
        return Reason(0, "the last reply breaks off or is garbled", (_evidence(last, messages[last].content[-_QUOTE:], ""),))
    done = [(t, s) for t, s in reading.delivered if not _PENDING.search(fold(s)) and not _UNDONE.search(fold(s))]
    if not done:
        return Reason(0, "nothing was done or delivered", (closing,))
    end = done[-1][0]
    refused = [(t, s) for t, s in reading.refusals if t >= end] + [
        (t, s) for t, s in _sentences_of(messages, "assistant") if t >= end and _UNDONE.search(fold(s))
    ]
    if refused:
        return Reason(0, "the last word on it is a refusal", tuple(_evidence(t, s, "not done") for t, s in refused))
    crossed = [(t, s) for t, s in _sentences_of(messages, "user") if t > end and _COMPLAINT.search(fold(s))]
    if crossed:
        return Reason(
            0, "the user objects to what was done, and nothing better follows", tuple(_evidence(t, s, "objects") for t, s in crossed)
        )
    clashes = [c for c in reading.clashes if c.turn == end and is_deed(c.sentence)]
    if clashes:
        found = tuple(_evidence(c.turn, c.sentence, f"{c.value} is not this user's {c.type}") for c in clashes)
        return Reason(0, f"what was done is not what this user wants: {_names(clashes)}", found)
    missing = reading.undone_domains()
    if missing:
        return Reason(0, f"nothing was done about {', '.join(missing)}", tuple(_evidence(t, s, "done") for t, s in done))
    own = set().union(*(content(messages[t].content) for t, _ in done)) - content(scenario.task.intent)
    own -= set().union(*(content(m.content) for m in messages if m.role == "user"))
    if len(own) < SUBSTANCE:
        return Reason(0, "says that it is done, and nothing of what was done", tuple(_evidence(t, s, "claims") for t, s in done))
    return Reason(1, "what the goal asks for was done or delivered", tuple(_evidence(t, s, "done") for t, s in reversed(done)))


def naturalness(messages: Sequence[Message], role: str) -> Reason:
    """1 to 5 from signs of a machine: the same sentence again, form-filling, boilerplate, garbled text (Figures 18, 19)."""
    turns = [(i, m.content) for i, m in enumerate(messages) if m.role == role]
    flaws = [_evidence(t, s, "said before") for t, s in _repeats(turns)]
    flaws += [_evidence(t, text, "garbled") for t, text in turns if _BROKEN.search(text)]
    flaws += [_evidence(t, text, "reads like a form or a log") for t, text in turns if _form_like(text)]
    return Reason(
        _scaled(len(flaws), len(turns)), "reads naturally" if not flaws else "repetition, boilerplate or garbled text", tuple(flaws)
    )


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
    return Reason(
        _scaled(len(flaws), len(turns)), "each turn follows from the last" if not flaws else "turns that do not follow", tuple(flaws)
    )


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
    return bool(
        re.search(
            r"\b(?:as an ai|error code|invalid input|please specify|required field|missing:|processing your request|\{\w*\}|null)", folded
        )
    )


def _sentences_of(messages: Sequence[Message], role: str) -> list[tuple[int, str]]:
    return [(i, s) for i, m in enumerate(messages) if m.role == role for s in sentences(m.content)]


def _one_a_sentence(details: Sequence[Detail]) -> list[Detail]:
    seen: dict[tuple[int, str], Detail] = {}
    for d in details:
        seen.setdefault((d.turn, d.sentence), d)
    return list(seen.values())


def _names(found: Iterable[Mention | Ask | Clash]) -> str:
    return ", ".join(dict.fromkeys(f.type for f in found))


def _merged(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """One entry for each quote, its notes joined."""
    notes: dict[tuple[int, str], list[str]] = {}
    for e in evidence:
        of_quote = notes.setdefault((e.turn, e.quote), [])
        if e.note and e.note not in of_quote:
            of_quote.append(e.note)
    return tuple(Evidence(turn=t, quote=q, note="; ".join(n[:3])) for (t, q), n in notes.items())


def _evidence(turn: int, quote: str, note: str) -> Evidence:
    quote = " ".join(quote.split())
    return Evidence(turn=turn, quote=quote if len(quote) <= _QUOTE else f"{quote[: _QUOTE - 3]}...", note=note)
