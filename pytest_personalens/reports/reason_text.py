"""The judge's reasons in words: what the assistant did, to which preference or part of the goal."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.scenario import Scenario
from pytest_personalens.reports.markup import short_line
from pytest_personalens.results.reasons import counted_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.core.verdict import Reason, ReasonCode, Verdict
    from pytest_personalens.results.reasons import CountedCode, ReasonCount

#: What the assistant does, in a sentence about it.
DOES: Final[Mapping[CountedCode, str]] = {
    "limit-broken": "breaks a hard limit of the user",
    "asks-known": "asks for what it was told",
    "contradicts": "goes against what it was told",
    "recites": "names what it was told and does nothing with it",
    "ignores": "leaves a preference unused",
    "uses-stated": "uses only what the user says in the dialogue",
    "applies": "uses what it was told",
    "anticipates": "foresees what the user needs",
    "refused": "fails at a part of the task, or refuses it",
    "wrong": "does a part of the task, but not as it was wanted",
    "claimed": "says that it did a part of the task, and did not",
    "handed-back": "leaves a part of the task to the user",
    "promised": "only promises a part of the task",
    "proposed": "only proposes a part of the task, or asks about it",
    "missing": "leaves out a part of the task",
    "done": "does a part of the task",
    "whole": "does each part, but not the task as a whole",
}
#: The same before the name of a preference or of a part.
_ABOUT: Final[Mapping[ReasonCode, str]] = {
    "limit-broken": "breaks a limit:",
    "asks-known": "asks for",
    "contradicts": "goes against",
    "recites": "names without use",
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
    "missing": "left out",
    "done": "done",
}
#: What became of a preference.
OUTCOMES: Final[Mapping[ReasonCode, str]] = {
    "limit-broken": "broken",
    "asks-known": "asked for",
    "contradicts": "gone against",
    "recites": "named and not used",
    "ignores": "not used",
    "uses-stated": "used once the user said it",
    "applies": "used",
    "anticipates": "foreseen",
}
_LONGEST: Final = 120


def reason_text(reasons: Iterable[Reason], scenario: BaseScenario | None = None) -> str:
    """Reasons in one line, those of a kind together, each with what it is about and what is known of it.

    ``asks for Price Range ($20-$60) and Seat Type (window); goes against Genre (drama, known: comedy)``
    """
    kinds: dict[ReasonCode, list[str]] = defaultdict(list)
    for reason in reasons:
        kinds[reason.code].append(_about(reason, scenario))
    return "; ".join(
        f"{_ABOUT[code]} {_joined(about)}" if all(about) else DOES[code] for code, about in kinds.items()
    )


def _about(reason: Reason, scenario: BaseScenario | None) -> str:
    if not reason.type:
        part = f"“{short_line(reason.part.rstrip('.'), _LONGEST)}”" if reason.part else ""
        return f"{part} ({short_line(reason.detail, _LONGEST)})" if reason.detail else part
    preferences = scenario.preferences if isinstance(scenario, Scenario) else {}
    known = preferences.get(reason.domain, {}).get(reason.type, ())
    value = reason.value
    if known and value not in known:  # what the assistant chose, against what is known
        value = f"{value}, known: {', '.join(known)}" if value else ", ".join(known)
    return short_line(f"{reason.type} ({value})" if value else reason.type, _LONGEST)


def _joined(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"


def why(verdict: Verdict, reasons: Iterable[Reason], scenario: BaseScenario | None = None) -> str:
    """Why a reading is low, in a line: by the reasons that speak against it, else by the judge's own."""
    return reason_text(reasons, scenario) or short_line(_said(verdict), 2 * _LONGEST)


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


def counted(reason: ReasonCount) -> str:
    """``asks for what it was told 28 (+26)``: in how many dialogues, and the change where it is known."""
    change = f" ({reason.change:+d})" if reason.change is not None else ""
    return f"{DOES[reason.code]} {reason.dialogues}{change}"
