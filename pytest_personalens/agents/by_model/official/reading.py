"""Parses a judge's answer as the official code does.

It parses strictly where the bugs of that code are mended.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.verdict import Dimension, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection

_NAMES: Final = {
    Dimension.PERSONALIZATION: "Personalization Score",
    Dimension.PERSONALIZATION_TURNS: "Personalization Score",
    Dimension.NATURALNESS_USER: "Naturalness Score",
    Dimension.NATURALNESS_ASSISTANT: "Naturalness Score",
    Dimension.COHERENCE_USER: "Coherence Score",
    Dimension.COHERENCE_ASSISTANT: "Coherence Score",
}
_JUSTIFICATION: Final = re.compile(r"Justification: (.*?)(?=\n\n|$)", re.DOTALL)
_VERDICT: Final = re.compile(r"VERDICT: (True|False)", re.IGNORECASE)
_LOOSE_VERDICT: Final = re.compile(r"(?:VERDICT\W*|\A\W*)\b(True|False)\b", re.IGNORECASE)
_EXPLANATION: Final = re.compile(r"EXPLANATION:\s*(.+)", re.IGNORECASE | re.DOTALL)
_UNREAD: Final = (
    "no 'VERDICT: True' or 'VERDICT: False' is in the answer, which the official code counts as a task that"
    " failed"
)


def read_official(text: str, dimension: Dimension, replies: int, mended: Collection[str] = ()) -> Verdict:
    """Return the verdict in an answer.

    Raise ValueError for an answer that the official code leaves out of its means, or that is off the scale.

    >>> read_official("Personalization Score: 3.5", Dimension.PERSONALIZATION, 1).score
    3
    """
    if dimension.scale.high == 1:
        return _verdict(text, dimension, strict="verdict" in mended)
    pattern = _strict(_NAMES[dimension]) if "score" in mended else rf"{_NAMES[dimension]}: (\d+)"
    numbers = [int(digits) for digits in re.findall(pattern, text)]
    by_turn = dimension is Dimension.PERSONALIZATION_TURNS
    if len(numbers) < (replies if by_turn else 1) or (by_turn and len(numbers) != replies):
        raise ValueError(
            f"expected {replies if by_turn else 1} x '{_NAMES[dimension]}: ...', found {len(numbers)}"
        )
    scores = numbers if by_turn else numbers[:1]
    low, high = dimension.scale
    if outside := [score for score in scores if not low <= score <= high]:
        raise ValueError(f"expected a score from {low} to {high}, found {outside[0]}")
    why = _JUSTIFICATION.search(text)
    return Verdict(
        dimension=dimension,
        score=scores[-1],
        justification=why[1].strip() if why else "",
        turns=tuple(scores) if by_turn else (),
    )


def _verdict(text: str, dimension: Dimension, *, strict: bool) -> Verdict:
    match = (_LOOSE_VERDICT if strict else _VERDICT).search(text)
    if match is None and strict:
        raise ValueError("expected 'VERDICT: True' or 'VERDICT: False'")
    why = _EXPLANATION.search(text)
    explanation = why[1].strip() if why else text.strip()
    return Verdict(
        dimension=dimension,
        score=int(match is not None and match[1].lower() == "true"),
        justification=explanation if match is not None else f"{_UNREAD}: {explanation}",
    )


def _strict(name: str) -> str:
    """Return a pattern for a whole score after its name, with any marks around both."""
    return rf"{name}[\s:*_`\[(]*(\d+)(?!\d|[.,/]\d)"
