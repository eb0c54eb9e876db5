"""Reads a verdict in an answer: a filled form, or lines of text. No score is ever guessed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, get_args

from pytest_personalens.core.dialogue.message import call_texts
from pytest_personalens.core.judging.measure import ANSWERS, CRITERION
from pytest_personalens.core.judging.verdict import (
    Dimension,
    Evidence,
    IntrusionCode,
    PartState,
    PreferenceCode,
    Reason,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.models import Answer


#: The marks for words that a quote leaves out.
_GAP: Final = re.compile(r"\.{3,}|\u2026|\[\u2026\]|\[\.\.\.\]")
#: The escapes of the transcript in the prompt, which is JSON with "<" escaped.
_ESCAPED: Final = {"\\n": " ", '\\"': '"', "\\u003c": "<"}
_QUOTE_MARKS: Final = str.maketrans(
    "\u2018\u2019\u201a\u201b`\u00b4\u201c\u201d\u201e\u201f\u00ab\u00bb", "''''''" + '"' * 6
)
_EDGES: Final = " .,;:!?\"'"


def with_found_quotes(verdict: Verdict, messages: Sequence[Message]) -> Verdict:
    """Return the verdict with only the quotes that are in the transcript.

    Each quote stands at a turn that has it. The others are counted and dropped. The comparison ignores
    spaces, case, the kind of quotation marks, and punctuation at the ends of a quote. A quote may leave out
    words where it has "...".
    """
    texts = [_comparable(" ".join((message.content, *_calls(message)))) for message in messages]
    placed = [_placed(evidence, texts) for evidence in verdict.evidence]
    kept = tuple(evidence for evidence in placed if evidence is not None)
    return verdict.model_copy(update={"evidence": kept, "unfound_quotes": len(placed) - len(kept)})


def _calls(message: Message) -> Iterator[str]:
    """The calls of a turn and their results, which a judge is shown too."""
    for call, result in call_texts(message):
        yield call
        yield result or ""


def _placed(evidence: Evidence, texts: Sequence[str]) -> Evidence | None:
    """Return the evidence at its own turn, or at the first turn with its quote; None if nobody said it."""
    parts = [part for piece in _GAP.split(evidence.quote) if (part := _comparable(piece).strip(_EDGES))]
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


def _comparable(text: str) -> str:
    for escaped, plain in _ESCAPED.items():
        text = text.replace(escaped, plain)
    return " ".join(text.translate(_QUOTE_MARKS).casefold().split())


#: What may stand before a name in a line: marks of lists and of emphasis, no quotation marks of JSON.
_MARKS: Final = r"^[ \t]*(?:[-*•>#]+[ \t]*)?(?:\d+[.)][ \t]*)?[*_`]*"
_SCORE: Final = re.compile(
    rf"{_MARKS}score[*_`]*\s*[:=：][ \t]*[*_`]*[ \t]*\n?[ \t]*(\S.*?)\s*$", re.IGNORECASE | re.MULTILINE
)
_WHY: Final = re.compile(rf"{_MARKS}justification[*_`]*\s*[:=：]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_EVIDENCE: Final = re.compile(
    rf"{_MARKS}evidence[*_`]*\s*[:=：]\W*turn\s+(\d+)\W+(.+)$", re.IGNORECASE | re.MULTILINE
)
_REASON: Final = re.compile(
    rf"{_MARKS}reason[*_`]*\s*[:=：]\W*([a-z-]+)\s*\|([^|\n]+?)(?:\|\W*turn\s+(\d+).*)?$",
    re.IGNORECASE | re.MULTILINE,
)
#: Marks that models put around a score, such as those of emphasis and ``</answer>``.
_AROUND: Final = "*_`[](){}\"'. "
_TAG: Final = re.compile(r"</?\w+>")
#: The codes of the reasons of a reading. The other readings have no reasons. Only a judge that reads what
#: a system stores tells a claim from what is missing.
CODES: Final[dict[Measure, tuple[str, ...]]] = {
    Dimension.TASK_COMPLETION: tuple(code for code in get_args(PartState) if code != "claimed"),
    Dimension.PERSONALIZATION: get_args(PreferenceCode),
    Dimension.INTRUSIONS: get_args(IntrusionCode),
}
CANNOT_TELL: Final = "cannot tell"
_WORDS: Final = {"true": 1, "yes": 1, "1": 1, "false": 0, "no": 0, "0": 0}
_NO_TELLING: Final = re.compile(r"(?:cannot|can't|can\W?not)[ _-]?tell\b(?!.*\b(?:yes|no)\b)")
_OR: Final = re.compile(r"\W*(?:or\b|/)")


def read_verdict(answer: Answer, dimension: Measure, turns: int, replies: int) -> Verdict:
    """Return the verdict in an answer, form or text; ValueError says what is wrong. No score is guessed."""
    if answer.data is not None:
        return _of_form(answer.data, dimension, turns, replies)
    return read_lines(answer.text, dimension, turns, replies)


def _of_form(data: Mapping[str, Any], dimension: Measure, turns: int, replies: int) -> Verdict:
    why = data.get("justification")
    if isinstance(why, list) and all(isinstance(w, str) for w in why):
        why = " ".join(filter(None, why))
    if not isinstance(why, str) or not why.strip():
        raise ValueError("expected a justification")
    evidence = [
        Evidence(turn=turn, quote=str(quote["quote"]))
        for quote in map(_quote, _listed(data.get("evidence")))
        if (turn := _integer(quote.get("turn", 0))) is not None and 0 <= turn < turns and quote.get("quote")
    ]
    reasons = [_reason(r, dimension, turns) for r in _listed(data.get("reasons")) if isinstance(r, dict)]
    raw = data.get("score")
    if isinstance(raw, str) and dimension is Dimension.PERSONALIZATION_TURNS:
        raw = raw.strip("[] ").split(",")
    words = [_score_word(each, dimension) for each in (raw if isinstance(raw, list) else [raw])]
    return verdict_of(words, dimension, why, evidence, reasons, replies)


def _listed(value: Any) -> list[Any]:
    """Return a list for a list, for one object in its place, and for either as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return [value]
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _quote(value: Any) -> dict[str, Any]:
    """A quote with its turn. One without a turn is looked for in all turns later."""
    if isinstance(value, dict):
        return value
    found = re.match(r"\s*turn\s+(\d+)\W+(.+)", str(value), re.IGNORECASE | re.DOTALL)
    return {"turn": found[1], "quote": found[2].strip(" \"'")} if found else {"quote": str(value)}


def _integer(value: Any) -> int | None:
    """Return the number that a value can only mean, such as 3.0, "3" or "turn 3"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(?:turn\s*)?(\d+)\s*", value, re.IGNORECASE)):
        return int(found[1])
    return int(value) if isinstance(value, int | float) and value == int(value) else None


def _score_word(value: Any, dimension: Measure) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return plain_score(value, dimension) if isinstance(value, str) else str(value)


def plain_score(text: str, dimension: Measure) -> str:
    """Return the score that a text can only mean, such as the 2 of "2/4" or "2 - a reason"; else the text.

    >>> plain_score("2 or 3", Dimension.PERSONALIZATION)
    '2 or 3'
    """
    text = _TAG.sub("", text).strip(_AROUND).lower()
    high = dimension.scale.high
    if high == 1:
        if dimension.startswith(CRITERION) and _NO_TELLING.match(text):
            return CANNOT_TELL
        found = re.match(r"(true|yes|false|no|1|0)\b(.*)", text, re.DOTALL)
        against = r"\bfalse\b" if found and _WORDS[found[1]] else r"\btrue\b"
        return text if found is None or _OR.match(found[2]) or re.search(against, found[2]) else found[1]
    found = re.match(
        rf"(\d+)(?:\.0+)?(?:\s*\(?(?:/|out of|of)\s*{high}\b\)?)?(?=$|[^\w./])(.*)", text, re.DOTALL
    )
    # Another number would be a second reading.
    return text if found is None or _OR.match(found[2]) or re.search(r"\d", found[2]) else found[1]


def _reason(data: Mapping[str, Any], dimension: Measure, turns: int) -> Reason | None:
    """Return the reason; None for a code of another reading, for which the judge does not ask again."""
    if data.get("code") not in CODES.get(dimension, ()):
        return None
    named = ((name, data.get(name)) for name in ("domain", "type", "value", "part"))
    about = {name: " ".join(text.split()) for name, text in named if isinstance(text, str)}
    turn = _integer(data.get("turn"))
    return Reason(code=data["code"], turn=turn if turn is not None and 0 <= turn < turns else None, **about)


def read_lines(text: str, dimension: Measure, turns: int, replies: int = 0) -> Verdict:
    r"""Return the verdict in the text form of an answer.

    >>> answer = "Evidence: turn 1: 'a window seat'\nJustification: unasked\nScore: 3"
    >>> read_lines(answer, Dimension.PERSONALIZATION, 4).score
    3
    """
    scores = list(dict.fromkeys(_SCORE.findall(text)))
    if len(scores) != 1:
        shown = f": {', '.join(map(repr, scores[:3]))}" if scores else ""
        raise ValueError(f"expected one line 'Score: ...', found {len(scores)}{shown}")
    if (why := _WHY.search(text)) is None:
        raise ValueError("expected a line 'Justification: ...'")
    data = {
        "score": _TAG.sub("", scores[0]).strip(_AROUND),
        "justification": why[1].strip().strip("*_`"),
        "evidence": [{"turn": t, "quote": q.strip().strip("'\"")} for t, q in _EVIDENCE.findall(text)],
        "reasons": [_reason_fields(c, about, t, dimension) for c, about, t in _REASON.findall(text)],
    }
    return _of_form(data, dimension, turns, replies)


def _reason_fields(code: str, about: str, turn: str, dimension: Measure) -> dict[str, Any]:
    """Return the fields of a line ``Reason: code | about | turn``; about: a part, or "Domain, type: value"."""
    fields = {"code": code.lower(), "turn": turn}
    if dimension is Dimension.TASK_COMPLETION:
        return fields | {"part": about}
    place, _, value = about.partition(":")
    domain, _, kind = place.rpartition(",")
    return fields | {"domain": domain, "type": kind, "value": value}


def verdict_of(
    words: list[str],
    dimension: Measure,
    why: str,
    evidence: list[Evidence],
    reasons: Sequence[Reason | None],
    replies: int,
) -> Verdict:
    """Return the verdict with the scores in `words`; ValueError for a wrong number, or off the scale."""
    expected = replies if dimension is Dimension.PERSONALIZATION_TURNS else 1
    if len(words) != expected:
        wanted = "one score" if expected == 1 else f"{expected} scores"
        raise ValueError(f"expected {wanted}, found {len(words)}")
    low, high = dimension.scale
    scores = []
    for word in words:
        if word == CANNOT_TELL and dimension.startswith(CRITERION):
            scores, reasons = [ANSWERS[word]], [Reason(code="cannot-tell")]
        elif high == 1:
            if word not in _WORDS:
                known = ", ".join(ANSWERS) if dimension.startswith(CRITERION) else "true or false"
                raise ValueError(f"expected the score {known}, found {word[:80]!r}")
            scores.append(_WORDS[word])
        elif not re.fullmatch(r"\d", word) or not low <= int(word) <= high:
            raise ValueError(f"expected a whole score from {low} to {high}, found {word[:80]!r}")
        else:
            scores.append(int(word))
    turns = tuple(scores) if dimension is Dimension.PERSONALIZATION_TURNS else ()
    return Verdict(
        dimension=dimension,
        score=scores[-1],
        justification=why.strip(),
        evidence=tuple(evidence),
        reasons=tuple(reason for reason in reasons if reason is not None),
        turns=turns,
    )
