"""Looks up the quotes of a model judge in the transcript.

A quote that nobody said is no evidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.dialogue.tool_calls import call_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.judging.verdict import Evidence, Verdict

#: The marks for words that a quote leaves out.
_GAP: Final = re.compile(r"\.{3,}|\u2026|\[\u2026\]|\[\.\.\.\]")
#: The escapes of the transcript in the prompt, which is JSON with "<" escaped.
_ESCAPED: Final = {"\\n": " ", '\\"': '"', "\\u003c": "<"}
_MARKS: Final = str.maketrans(
    "\u2018\u2019\u201a\u201b`\u00b4\u201c\u201d\u201e\u201f\u00ab\u00bb", "''''''" + '"' * 6
)
_EDGES: Final = " .,;:!?\"'"


def with_found_quotes(verdict: Verdict, messages: Sequence[Message]) -> Verdict:
    """Return the verdict with only the quotes that are in the transcript.

    Each quote stands at a turn that has it. The others are counted and dropped. The comparison ignores
    spaces, case, the kind of quotation marks, and punctuation at the ends of a quote. A quote may leave out
    words where it has "...".
    """
    texts = [_folded(" ".join((message.content, *_calls(message)))) for message in messages]
    placed = [_placed(evidence, texts) for evidence in verdict.evidence]
    kept = tuple(evidence for evidence in placed if evidence is not None)
    return verdict.model_copy(update={"evidence": kept, "unfound_quotes": len(placed) - len(kept)})


def _calls(message: Message) -> Iterator[str]:
    """The calls of a turn and their results, which a judge is shown too."""
    for call, result in call_texts(message):
        yield call
        yield result or ""


def _placed(evidence: Evidence, texts: Sequence[str]) -> Evidence | None:
    """Return the evidence at its own turn, or at the first turn with its quote.

    Return None if nobody said it.
    """
    parts = [part for piece in _GAP.split(evidence.quote) if (part := _folded(piece).strip(_EDGES))]
    turns = [turn for turn, text in enumerate(texts) if parts and _in_order(parts, text)]
    if not turns or evidence.turn in turns:
        return evidence if turns else None
    return evidence.model_copy(update={"turn": turns[0]})


def _in_order(parts: Sequence[str], text: str) -> bool:
    place = 0
    for part in parts:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _folded(text: str) -> str:
    for escaped, plain in _ESCAPED.items():
        text = text.replace(escaped, plain)
    return " ".join(text.translate(_MARKS).casefold().split())
