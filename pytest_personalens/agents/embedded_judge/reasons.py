"""The reasons for a score of the embedded judge.

They are one line of text, quotes, and codes that a program can read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.goal import classes
from pytest_personalens.agents.embedded_judge.scores import REACHED
from pytest_personalens.core.tool_calls import in_one_line
from pytest_personalens.core.verdict import Dimension, Evidence, Reason, ReasonCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.embedded_judge.acts import Spoken
    from pytest_personalens.agents.embedded_judge.backing import Backing
    from pytest_personalens.agents.embedded_judge.features import Features
    from pytest_personalens.agents.embedded_judge.goal import Part
    from pytest_personalens.agents.embedded_judge.knowledge import PreferenceFinding

#: The lowest probability at which an act counts as a reason.
_CLEAR: Final = 0.4

Told = tuple[str, tuple[Evidence, ...], tuple[Reason, ...]]


class _Sign(NamedTuple):
    """An act that explains a score, with a note about the statement that performs it."""

    act: str
    role: str
    note: str


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
_NOTES: Final[dict[ReasonCode, str]] = {
    "applies": "applies what is known",
    "anticipates": "foresees it from habits, past or situation",
    "asks-known": "asks for what is known",
    "contradicts": "goes against what is known",
    "recites": "names what it knows and does nothing with it",
    "uses-stated": "the user says it",
    "ignores": "uses nothing of it",
}
_STIFF: Final = (
    _Sign("evasion", "assistant", "beside the point or garbled"),
    _Sign("slip", "assistant", "contradicts what was said"),
    _Sign("boast", "assistant", "recites"),
    _Sign("repeat", "user", "the user has to say it again"),
    _Sign("objection", "user", "the user objects"),
)


def reasons(dimension: Dimension, score: int, features: Features) -> Told:
    """Return one line of justification, its evidence, and the reasons as codes.

    The clearest evidence comes first.
    """
    if dimension is Dimension.TASK_COMPLETION:
        return _completion(score, features)
    if dimension is Dimension.PERSONALIZATION:
        return _personalization(score, features)
    if score == dimension.scale.high:
        return "nothing that jars", (), ()
    why = (
        "stiff, confused or repetitive in places"
        if score > dimension.scale.low
        else "hardly readable as a conversation"
    )
    return why, _evidence(_clear_signs(features.spoken, _STIFF)), ()


def _completion(score: int, features: Features) -> Told:
    states = [
        _state(part, numbers, reached, done=bool(score))
        for part, numbers, reached in zip(
            features.parts, features.part_numbers, features.reached, strict=True
        )
    ]
    calls: tuple[Evidence, ...] = ()
    if features.backed is not None:
        backed = {b.part: b for b in features.backed.parts}
        states = [
            _BACKED[backed[part].backing] if part in backed else state
            for part, state in zip(features.parts, states, strict=True)
        ]
        calls = tuple(
            Evidence.of(b.action.call.turn, in_one_line(b.action.call), _BACKED[b.backing][1])
            for b in features.backed.parts
            if b.action is not None
        )
    codes = tuple(
        Reason(code=code, part=part.text, turn=_turn(part, features))
        for part, (code, _) in zip(features.parts, states, strict=True)
    )
    if score:
        deeds = sorted(
            _clear_signs(features.spoken, (_Sign("deed", "assistant", "done"),)),
            key=lambda f: -f[0].line.turn,
        )
        return "what the goal asks for was done or delivered", calls + _evidence(deeds), codes
    did_nothing = all(code != "done" for code, _ in states)
    if features.empty and (features.backed is None or did_nothing):
        turn, reply = max(
            (turn, m.content) for turn, m in enumerate(features.messages) if m.role == "assistant"
        )
        return (
            f"says nothing of what was asked: {features.empty}",
            (Evidence.of(turn, reply, "nothing of the task"),),
            codes,
        )
    overruled = _overruled(features, states)
    if overruled is not None:
        return overruled
    undone = [
        (part, note) for part, (code, note) in zip(features.parts, states, strict=True) if code != "done"
    ]
    if not undone:
        return "the goal is not seen to be reached", calls + _evidence(_late(features.spoken)), codes
    part, note = undone[0]
    more = f", and {len(undone) - 1} more" if len(undone) > 1 else ""
    return f"{note}: {part.text.rstrip('.')}{more}", calls + _evidence(_late(features.spoken)), codes


def _overruled(features: Features, states: Sequence[tuple[ReasonCode, str]]) -> Told | None:
    """Return the reasons of a rule that overrides the numbers, or None if no rule does."""
    if features.conflicts:
        first = features.conflicts[0]
        part, code = _nearest_part(first.statement, features), "wrong"
        why = f'asked for "{first.asked}", and the reply says "{first.done}"'
        evidence = _evidence(
            [(c.statement, f'asked for "{c.asked}", not for "{c.done}"') for c in features.conflicts]
        )
    elif features.undone is not None:
        part, code = _nearest_part(features.undone, features), "refused"
        why, evidence = "taken back or failed in the end", _evidence([(features.undone, "in the end")])
    elif features.promised is not None:
        (part, promise), code = features.promised, "promised"
        why = f"only promised: {part.text.rstrip('.')}"
        evidence = _evidence([(promise, "only promised")])
    elif features.unanswered is not None:
        part, code = _nearest_part(features.unanswered, features), "wrong"
        why = "the user says at the end that it is not done, and nothing follows"
        evidence = _evidence([(features.unanswered, "the user's last word")])
    else:
        return None
    codes: tuple[Reason, ...] = tuple(
        Reason(code=code if p is part else state, part=p.text, turn=_turn(p, features))
        for p, (state, _) in zip(features.parts, states, strict=True)
    )
    return why, evidence, codes


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
    if numbers.get(f"last: {act}", 0.0) >= _CLEAR:
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
    signs = (
        _Sign("giving up", "user", "the user turns elsewhere"),
        *(_Sign(act, "assistant", note) for act, _, note in _STATES),
    )
    return sorted(
        _clear_signs(statements, (*signs, _Sign("objection", "user", "the user objects"))),
        key=lambda f: -f[0].line.turn,
    )


def unbacked(features: Features) -> Told:
    """The statements that claim what no tool call did, all of them."""
    claims = features.backed.unbacked if features.backed is not None else ()
    evidence = tuple(
        Evidence.of(s.line.turn, s.line.quote, "no successful tool call did this") for s in claims
    )
    if features.backed is None:
        return "the assistant does not tell which tools it called", (), ()
    if not claims:
        return "a tool call stands behind everything that the assistant says it did", (), ()
    turns = sorted({s.line.turn for s in claims})
    where = f"turn{'s' if len(turns) > 1 else ''} {', '.join(map(str, turns))}"
    return f"says that it did what no tool call did, at {where}", evidence, ()


def _personalization(score: int, features: Features) -> Told:
    coded_findings = [_anticipated(f, features.spoken) for f in features.findings]
    order: tuple[ReasonCode, ...] = (
        ("anticipates", "applies", "uses-stated", "asks-known", "contradicts", "recites", "ignores")
        if score > 2
        else ("contradicts", "asks-known", "recites", "ignores", "uses-stated", "applies", "anticipates")
    )
    coded_findings.sort(key=lambda pair: order.index(pair[0]))
    codes = tuple(
        Reason(code=code, domain=f.domain, type=f.type, value=f.value, turn=f.turn)
        for code, f in coded_findings
    )
    wanted = set(order[:2] if score > 2 else order[4:5] if score == 2 else order[:4])
    evidence = tuple(
        Evidence.of(f.turn, f.quote, f"{_NOTES[code]}: {f.type}, {f.value}")
        for code, f in coded_findings
        if code in wanted and f.quote
    )
    if score > 2:
        evidence = evidence or _evidence(
            _clear_signs(features.spoken, (_Sign("use", "assistant", _NOTES["applies"]),))
        )
        why = (
            "foresees from habits and context what nobody asked for"
            if score == 4
            else "applies what is known without being told"
        )
        return why, evidence, codes
    if score == 2:
        return "uses what the user says, and nothing that was known before", evidence, codes
    if features.empty:
        return f"nothing for this user: {features.empty}", evidence, codes
    named = next(((code, f) for code, f in coded_findings if code in order[:4]), None)
    if named is None:
        return "uses nothing that is known of the user, and little of what they say", evidence, codes
    code, f = named
    return f"{_NOTES[code]}: {f.type}, {f.value}", evidence, codes


def _anticipated(
    finding: PreferenceFinding, statements: Sequence[Spoken]
) -> tuple[ReasonCode, PreferenceFinding]:
    if finding.code != "applies":
        return finding.code, finding
    foreseen = any(
        s.line.quote == finding.quote
        and s.line.turn == finding.turn
        and s.acts.get("foresight", 0.0) >= _CLEAR
        for s in statements
    )
    return ("anticipates" if foreseen else "applies"), finding


def _clear_signs(statements: Sequence[Spoken], signs: Sequence[_Sign]) -> list[tuple[Spoken, str]]:
    best: dict[tuple[int, str], tuple[float, Spoken, str]] = {}
    for sign in signs:
        for s in statements:
            key = s.line.turn, s.line.quote
            if (
                s.line.role == sign.role
                and s.acts[sign.act] >= _CLEAR
                and s.acts[sign.act] > best.get(key, (0.0,))[0]
            ):
                best[key] = s.acts[sign.act], s, sign.note
    return [(s, note) for _, s, note in sorted(best.values(), key=lambda b: -b[0])]


def _evidence(noted_statements: Sequence[tuple[Spoken, str]]) -> tuple[Evidence, ...]:
    return tuple(Evidence.of(s.line.turn, s.line.quote, note) for s, note in noted_statements)
