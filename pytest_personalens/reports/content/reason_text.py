"""The judge's reasons in words: what the assistant did, to which preference or part of the goal."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.scenario import Scenario
from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.results.reasons.reasons import costs_of, counted_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_personalens.core.judging.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.reasons.reasons import CountedCode, ReasonCount

#: What the assistant does, in a sentence about it.
DOES: Final[Mapping[CountedCode, str]] = {
    "limit-broken": "breaks a hard limit of the user",
    "asks-known": "asks for what is known",
    "contradicts": "goes against what is known",
    "recites": "mentions a preference without acting on it",
    "ignores": "leaves a preference unused",
    "uses-stated": "uses only what the user says in the dialogue",
    "applies": "uses what is known",
    "anticipates": "foresees what the user needs",
    "refused": "fails at a part of the task, or refuses it",
    "wrong": "does a part of the task, but not as it was wanted",
    "claimed": "says that it did a part of the task, and did not",
    "handed-back": "leaves a part of the task to the user",
    "promised": "only promises a part of the task",
    "proposed": "only proposes a part of the task, or asks about it",
    "missing": "is not seen to do a part of the task",
    "done": "does a part of the task",
    "whole": "does each part, but not the task as a whole",
    "not-said": "does not say what it was told",
    "must-not-say": "says what it must not",
    "told-again": "tells again what the user said",
    "made-up": "makes something up",
    "not-admitted": "does not say that it does not know",
    "no-reply": "gives an empty reply",
}
#: The same before the name of a preference or of a part.
_ABOUT: Final[Mapping[ReasonCode, str]] = {
    "limit-broken": "breaks the limit",
    "asks-known": "asks for",
    "contradicts": "goes against",
    "recites": "mentions without acting on it",
    "ignores": "does not use",
    "uses-stated": "waits until the user says",
    "applies": "uses",
    "anticipates": "foresees",
    "refused": "failed or refused",
    "wrong": "not as wanted",
    "claimed": "claimed, not done:",
    "handed-back": "left to the user",
    "promised": "only promised",
    "proposed": "only proposed or asked",
    "missing": "not seen",
    "done": "done",
    "not-said": "does not say",
    "must-not-say": "says",
    "told-again": "tells again what the user said:",
    "made-up": "makes something up:",
}
#: What became of a preference.
OUTCOMES: Final[Mapping[ReasonCode, str]] = {
    "limit-broken": "broken",
    "asks-known": "asked for",
    "contradicts": "gone against",
    "recites": "mentioned, not acted on",
    "ignores": "not used",
    "uses-stated": "used once the user said it",
    "applies": "used",
    "anticipates": "foreseen",
}
#: What a preference is called loses this word in a sentence about it.
_KIND: Final = " Preference"
#: Codes of reasons whose value is what the assistant did; of all others it is what is known.
_DID: Final[frozenset[ReasonCode]] = frozenset({"contradicts", "limit-broken"})
_LONGEST: Final = 120


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
