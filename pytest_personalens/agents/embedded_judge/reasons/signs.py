"""The statements that explain a score, as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Evidence, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken

#: The lowest probability at which an act counts as a reason.
CLEAR: Final = 0.4

#: One line of justification, its evidence, and the reasons as codes.
Told = tuple[str, tuple[Evidence, ...], tuple[Reason, ...]]


class Sign(NamedTuple):
    """An act that explains a score, with a note about the statement that performs it."""

    act: str
    role: str
    note: str


def clear_signs(statements: Sequence[Spoken], signs: Sequence[Sign]) -> list[tuple[Spoken, str]]:
    """Return the statements that clearly perform one of the acts, the clearest first, each with its note."""
    best: dict[tuple[int, str], tuple[float, Spoken, str]] = {}
    for sign in signs:
        for s in statements:
            key = s.line.turn, s.line.quote
            if (
                s.line.role == sign.role
                and s.acts[sign.act] >= CLEAR
                and s.acts[sign.act] > best.get(key, (0.0,))[0]
            ):
                best[key] = s.acts[sign.act], s, sign.note
    return [(s, note) for _, s, note in sorted(best.values(), key=lambda b: -b[0])]


def evidence(noted_statements: Sequence[tuple[Spoken, str]]) -> tuple[Evidence, ...]:
    """Return the statements as evidence."""
    return tuple(Evidence.of(s.line.turn, s.line.quote, note) for s, note in noted_statements)
