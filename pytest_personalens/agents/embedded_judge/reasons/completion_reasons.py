"""The reasons for a score on task completion: what became of each part of the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.reasons import signs
from pytest_personalens.agents.embedded_judge.reasons.signs import CLEAR, Sign, Told, clear_signs
from pytest_personalens.agents.embedded_judge.scores import REACHED
from pytest_personalens.agents.reading.goal import classes
from pytest_personalens.core.dialogue.tool_calls import call_line
from pytest_personalens.core.judging.verdict import Evidence, Reason, ReasonCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.agents.embedded_judge.features import Features
    from pytest_personalens.agents.embedded_judge.tool_calls.backing import Backing
    from pytest_personalens.agents.reading.goal import Part

#: The last state of a part, by the act of the last statement about it.
_STATES: Final[tuple[tuple[str, ReasonCode, str], ...]] = (
    ("failure", "refused", "not done"),
    ("slip", "wrong", "not as it was wanted"),
    ("handing back", "handed-back", "left to the user"),
    ("promise", "promised", "only promised"),
    ("proposal", "proposed", "only proposed"),
    ("question", "proposed", "still a question"),
)
#: The state of a part by what its tool calls make of it.
_BACKED: Final[dict[Backing, tuple[ReasonCode, str]]] = {
    "done": ("done", "done by a tool call"),
    "failed": ("refused", "the tool call failed"),
    "wrong": ("wrong", "the tool call has other values"),
    "claimed": ("missing", "no tool call did it"),
}

#: The same by what the team's system holds.
_STORED: Final[dict[Backing, tuple[ReasonCode, str]]] = {
    "done": ("done", "the system holds it"),
    "failed": ("refused", "what the system holds does not stand"),
    "wrong": ("wrong", "the system holds other values"),
    "claimed": ("claimed", "claimed, not done"),
}


def _notes(features: Features) -> dict[Backing, tuple[ReasonCode, str]]:
    return _BACKED if features.state is None else _STORED


def states(features: Features) -> tuple[Reason, ...]:
    """Return the state of each part of a goal that is not reached."""
    return _coded(features, _states(features, done=False))


def _states(features: Features, *, done: bool) -> list[tuple[ReasonCode, str]]:
    found = [
        _state(part, numbers, reached, done=done)
        for part, numbers, reached in zip(
            features.parts, features.part_numbers, features.reached, strict=True
        )
    ]
    if features.backed is None:
        return found
    backed = {b.part: b for b in features.backed.parts}
    return [
        _notes(features)[backed[part].backing] if part in backed else state
        for part, state in zip(features.parts, found, strict=True)
    ]


def _coded(features: Features, part_states: Sequence[tuple[ReasonCode, str]]) -> tuple[Reason, ...]:
    return tuple(
        Reason(code=code, part=part.text, turn=_turn(part, features))
        for part, (code, _) in zip(features.parts, part_states, strict=True)
    )


def completion(score: int, features: Features) -> Told:
    """Return the reasons for a score on task completion."""
    part_states = _states(features, done=bool(score))
    codes = _coded(features, part_states)
    calls: tuple[Evidence, ...] = ()
    if features.backed is not None:
        calls = tuple(
            Evidence.of(b.action.call.turn, call_line(b.action.call), _notes(features)[b.backing][1])
            for b in features.backed.parts
            if b.action is not None
        )
    if score:
        deeds = sorted(
            clear_signs(features.spoken, (Sign("deed", "assistant", "done"),)),
            key=lambda f: -f[0].line.turn,
        )
        return "what the goal asks for was done or delivered", calls + signs.evidence(deeds), codes
    did_nothing = all(code != "done" for code, _ in part_states)
    if features.empty and (features.backed is None or did_nothing):
        turn, reply = max(
            (turn, m.content) for turn, m in enumerate(features.messages) if m.role == "assistant"
        )
        return (
            f"says nothing of what was asked: {features.empty}",
            (Evidence.of(turn, reply, "nothing of the task"),),
            codes,
        )
    overruled = _overruled(features, part_states)
    if overruled is not None:
        return overruled
    undone = [
        (part, note) for part, (code, note) in zip(features.parts, part_states, strict=True) if code != "done"
    ]
    if not undone:
        return "the goal is not seen to be reached", calls + signs.evidence(_late(features.spoken)), codes
    part, note = undone[0]
    more = f", and {len(undone) - 1} more" if len(undone) > 1 else ""
    return f"{note}: {part.text.rstrip('.')}{more}", calls + signs.evidence(_late(features.spoken)), codes


def _overruled(features: Features, part_states: Sequence[tuple[ReasonCode, str]]) -> Told | None:
    """Return the reasons of a rule that overrides the numbers, or None if no rule does."""
    code: ReasonCode
    if features.conflicts:
        first = features.conflicts[0]
        part, code = _nearest_part(first.statement, features), "wrong"
        why = f'asked for "{first.asked}", and the reply says "{first.done}"'
        evidence = signs.evidence(
            [(c.statement, f'asked for "{c.asked}", not for "{c.done}"') for c in features.conflicts]
        )
    elif features.undone is not None:
        part, code = _nearest_part(features.undone, features), "refused"
        why, evidence = "taken back or failed in the end", signs.evidence([(features.undone, "in the end")])
    elif features.promised is not None:
        (part, promise), code = features.promised, "promised"
        why = f"only promised: {part.text.rstrip('.')}"
        evidence = signs.evidence([(promise, "only promised")])
    elif features.objection is not None:
        part, code = _nearest_part(features.objection, features), "wrong"
        why = "the user says at the end that it is not done, and nothing follows"
        evidence = signs.evidence([(features.objection, "the user's last word")])
    else:
        return None
    overruled = [
        (code, note) if p is part else (state, note)
        for p, (state, note) in zip(features.parts, part_states, strict=True)
    ]
    return why, evidence, _coded(features, overruled)


def _nearest_part(spoken: Spoken, features: Features) -> Part:
    """Return the part of the goal that shares most words with a statement."""
    words = classes(spoken.line.words)
    return max(features.parts, key=lambda part: len(part.words & words))


def _state(part: Part, numbers: Mapping[str, float], reached: float, *, done: bool) -> tuple[ReasonCode, str]:
    if done or reached >= REACHED:
        return "done", "done"
    if "never spoken of" in numbers:
        return "missing", "not seen to be told" if part.to_tell else "not seen to be done"
    act, code, note = max(_STATES, key=lambda s: numbers.get(f"last: {s[0]}", 0.0))
    if numbers.get(f"last: {act}", 0.0) >= CLEAR:
        return code, note
    return "missing", "not seen to be told" if part.to_tell else "not seen to be done"


def _turn(part: Part, features: Features) -> int | None:
    """Return the last message of the assistant with words of the part, or None."""
    turns = [s.spoken.line.turn for s in features.statements if s.words & part.words]
    return max(turns, default=None)


def _late(statements: Sequence[Spoken]) -> list[tuple[Spoken, str]]:
    """Return the statements that speak against completion, the latest first.

    The end of a dialogue decides about completion.
    """
    against = (
        Sign("giving up", "user", "the user turns elsewhere"),
        *(Sign(act, "assistant", note) for act, _, note in _STATES),
    )
    return sorted(
        clear_signs(statements, (*against, Sign("objection", "user", "the user objects"))),
        key=lambda f: -f[0].line.turn,
    )
