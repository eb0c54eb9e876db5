"""The reasons for a score of the embedded judge.

They are one line of text, quotes, and codes that a program can read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.reasons import signs
from pytest_personalens.agents.embedded_judge.reasons.personalization_reasons import personalization
from pytest_personalens.agents.embedded_judge.reasons.signs import Sign, Told, clear_signs
from pytest_personalens.core.judging.verdict import Dimension, Evidence

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_judge.features import Features

_STIFF: Final = (
    Sign("evasion", "assistant", "beside the point or garbled"),
    Sign("slip", "assistant", "contradicts what was said"),
    Sign("boast", "assistant", "recites"),
    Sign("repeat", "user", "the user has to say it again"),
    Sign("objection", "user", "the user objects"),
)


def reasons(dimension: Dimension, score: int, features: Features) -> Told:
    """Return one line of justification, its evidence, and the reasons as codes.

    The clearest evidence comes first.
    """
    if dimension is Dimension.PERSONALIZATION:
        return personalization(score, features)
    if score == dimension.scale.high:
        return "nothing that jars", (), ()
    why = (
        "stiff, confused or repetitive in places"
        if score > dimension.scale.low
        else "hardly readable as a conversation"
    )
    return why, signs.evidence(clear_signs(features.spoken, _STIFF)), ()


def unbacked(features: Features) -> Told:
    """The statements that claim what no tool call did, all of them."""
    claims = features.backed.unbacked if features.backed is not None else ()
    stored = features.state is not None
    note = "the system holds nothing of this" if stored else "no successful tool call did this"
    evidence = tuple(Evidence.of(s.line.turn, s.line.quote, note) for s in claims)
    if features.backed is None:
        return "the assistant does not tell which tools it called", (), ()
    if not claims:
        what = "the system holds" if stored else "a tool call stands behind"
        return f"{what} everything that the assistant says it did", (), ()
    turns = sorted({s.line.turn for s in claims})
    where = f"turn{'s' if len(turns) > 1 else ''} {', '.join(map(str, turns))}"
    what = "the system does not hold" if stored else "no tool call did"
    return f"says that it did what {what}, at {where}", evidence, ()
