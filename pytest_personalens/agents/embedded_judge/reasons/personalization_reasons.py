"""The reasons for a score on personalization: what became of each preference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.reasons import signs
from pytest_personalens.agents.embedded_judge.reasons.signs import CLEAR, Sign, Told, clear_signs
from pytest_personalens.core.judging.verdict import Evidence, Reason, ReasonCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.agents.embedded_judge.acts.knowledge import PreferenceFinding
    from pytest_personalens.agents.embedded_judge.features import Features

_NOTES: Final[dict[ReasonCode, str]] = {
    "limit-broken": "breaks a hard limit",
    "applies": "applies what is known",
    "anticipates": "foresees it from habits, past or situation",
    "asks-known": "asks for what is known",
    "contradicts": "goes against what is known",
    "recites": "names what it knows and does nothing with it",
    "uses-stated": "the user says it",
    "ignores": "uses nothing of it",
}

_USES: Final = frozenset[ReasonCode]({"applies", "anticipates"})
#: Up to this score an assistant uses nothing that was known.
_LITTLE: Final = 2


def personalization(score: int, features: Features) -> Told:
    """Return the reasons for a score on personalization."""
    if features.broken:
        return _broken(features)
    coded_findings = [_anticipated(f, features.spoken) for f in features.findings]
    if score <= _LITTLE:  # a known value that changes nothing is named, and not used
        coded_findings = [("recites" if code in _USES else code, f) for code, f in coded_findings]
    order: tuple[ReasonCode, ...] = (
        ("anticipates", "applies", "uses-stated", "asks-known", "contradicts", "recites", "ignores")
        if score > _LITTLE
        else ("contradicts", "asks-known", "recites", "ignores", "uses-stated")
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
        evidence = evidence or signs.evidence(
            clear_signs(features.spoken, (Sign("use", "assistant", _NOTES["applies"]),))
        )
        why = (
            "foresees from habits and context what nobody asked for"
            if score == 4
            else "applies what is known without being told"
        )
        return why, evidence, codes
    if score == 2:
        only = "only names what" if any(code == "recites" for code, _ in coded_findings) else "nothing that"
        return f"uses what the user says, and {only} was known before", evidence, codes
    if features.empty:
        return f"nothing for this user: {features.empty}", evidence, codes
    named = next(((code, f) for code, f in coded_findings if code in order[:4]), None)
    if named is None:
        return "uses nothing that is known of the user, and little of what they say", evidence, codes
    code, f = named
    return f"{_NOTES[code]}: {f.type}, {f.value}", evidence, codes


def _broken(features: Features) -> Told:
    """Return the reasons for the lowest score of an assistant that breaks a limit, whatever else it used."""
    first = features.broken[0]
    codes = tuple(
        Reason(
            code="limit-broken", type=b.limit.name, value=b.said, turn=b.statement.turn, detail=b.limit.text
        )
        for b in features.broken
    )
    rest = tuple(
        Reason(code=code, domain=f.domain, type=f.type, value=f.value, turn=f.turn)
        for code, f in (_anticipated(f, features.spoken) for f in features.findings)
    )
    evidence = tuple(
        Evidence.of(b.statement.turn, b.statement.quote, f"breaks {b.limit.name}: {b.said}")
        for b in features.broken
    )
    return f"breaks a hard limit: {first.limit.name} ({first.said})", evidence, (*codes, *rest)


def _anticipated(
    finding: PreferenceFinding, statements: Sequence[Spoken]
) -> tuple[ReasonCode, PreferenceFinding]:
    if finding.code != "applies":
        return finding.code, finding
    foreseen = any(
        s.line.quote == finding.quote
        and s.line.turn == finding.turn
        and s.acts.get("foresight", 0.0) >= CLEAR
        for s in statements
    )
    return ("anticipates" if foreseen else "applies"), finding
