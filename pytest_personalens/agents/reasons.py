"""Why the embedded judge scores as it does: the sentences that speak most clearly for a score, and what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.reading import Reading
from pytest_personalens.verdict import Dimension, Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.acts import Spoken
    from pytest_personalens.agents.features import Features
    from pytest_personalens.scenario import Scenario

#: An act is named as a reason from this probability on.
_CLEAR: Final = 0.4


class _Sign(NamedTuple):
    """An act that speaks for a score, and what a sentence shows that does it."""

    act: str
    role: str
    note: str


_USED: Final = (
    _Sign("foresight", "assistant", "foresees it from habits, past or situation"),
    _Sign("use", "assistant", "applies what is known"),
)
_MISSED: Final = (
    _Sign("asking the known", "assistant", "asks for what is known"),
    _Sign("contradiction", "assistant", "goes against what is known"),
    _Sign("boast", "assistant", "names what it knows and does nothing with it"),
    _Sign("repeat", "user", "the user has to say it again"),
    _Sign("objection", "user", "the user objects"),
    _Sign("evasion", "assistant", "beside the point"),
)
_TOLD: Final = (_Sign("answer", "user", "the user has to say it"), _Sign("objection", "user", "the user puts it right"), *_MISSED)
_DONE: Final = (_Sign("deed", "assistant", "done"),)
_UNDONE: Final = (
    _Sign("giving up", "user", "the user turns elsewhere"),
    _Sign("failure", "assistant", "not done"),
    _Sign("slip", "assistant", "not as it was wanted"),
    _Sign("promise", "assistant", "only promised"),
    _Sign("handing back", "assistant", "left to the user"),
    _Sign("evasion", "assistant", "beside the point"),
    _Sign("objection", "user", "the user objects"),
    _Sign("question", "assistant", "asks on"),
    _Sign("proposal", "assistant", "proposes only"),
)
_PAST: Final = {
    "forged": "hidden, forged or machine text, which is not judged",
    "judge": "speaks to a judge, which is not judged",
    "log": "machine text, which is not judged",
    "unread": "cannot be read",
    "claim": "claims to know, and does nothing with it",
    "list": "lists what it knows, and does nothing with it",
    "empty": "says that it is done, and nothing of what",
    "recital": "recites what it knows",
}
_STIFF: Final = (
    _Sign("evasion", "assistant", "beside the point or garbled"),
    _Sign("slip", "assistant", "contradicts what was said"),
    _Sign("boast", "assistant", "recites"),
    _Sign("repeat", "user", "the user has to say it again"),
    _Sign("objection", "user", "the user objects"),
)


def reasons(scenario: Scenario, dimension: Dimension, score: int, features: Features) -> tuple[str, tuple[Evidence, ...]]:
    """One line of justification and the evidence for it, the clearest first."""
    said = features.spoken
    if dimension is Dimension.TASK_COMPLETION:
        if score:
            return _told("what the goal asks for was done or delivered", _found(said, _DONE), late=True)
        least = features.numbers["goal: least domain"] < _CLEAR / 2 and len(scenario.domains) > 1
        return _told(
            "a part of the goal is not seen to be done" if least else "the goal is not seen to be reached", _found(said, _UNDONE), late=True
        )
    if dimension is Dimension.PERSONALIZATION:
        return _personalization(scenario, score, features)
    low, high = dimension.scale
    if score == high:
        return "nothing that jars", ()
    return _told("stiff, confused or repetitive in places" if score > low else "hardly readable as a conversation", _found(said, _STIFF))


def _personalization(scenario: Scenario, score: int, features: Features) -> tuple[str, tuple[Evidence, ...]]:
    said = features.spoken
    if score >= 3:
        applied = {(m.turn, m.sentence): m for m in Reading(scenario, features.messages).applied}
        found = [
            (line, f"{note}: {m.type}, {m.value}" if (m := applied.get((line.line.turn, line.line.text))) else note)
            for line, note in _found(said, _USED)
        ]
        why = "foresees from habits and context what nobody asked for" if score == 4 else "applies what is known without being told"
        return _told(why, found)
    if score == 2:
        return _told("uses what the user says, and nothing that was known before", _found(said, _TOLD))
    found = _found(said, _MISSED)
    boasts = tuple(Evidence.of(s.turn, s.sentence, _PAST[s.kind]) for s in features.suspects)
    if boasts and (len(boasts) >= len(found) or not found):
        return boasts[0].note, boasts
    return _told(found[0][1] if found else "uses nothing that is known of the user, and little of what they say", found)


def _found(said: Sequence[Spoken], signs: Sequence[_Sign]) -> list[tuple[Spoken, str]]:
    best: dict[tuple[int, str], tuple[float, Spoken, str]] = {}
    for sign in signs:
        for s in said:
            key = s.line.turn, s.line.text
            if s.line.role == sign.role and s.acts[sign.act] >= _CLEAR and s.acts[sign.act] > best.get(key, (0.0,))[0]:
                best[key] = s.acts[sign.act], s, sign.note
    return [(s, note) for _, s, note in sorted(best.values(), key=lambda b: -b[0])]


def _told(why: str, found: Sequence[tuple[Spoken, str]], *, late: bool = False) -> tuple[str, tuple[Evidence, ...]]:
    """The reason with its evidence; what comes `late` in a dialogue decides whether a task was completed."""
    chosen = sorted(found, key=lambda f: -f[0].line.turn) if late else found
    return why, tuple(Evidence.of(s.line.turn, s.line.text, note) for s, note in chosen)
