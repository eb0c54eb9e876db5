"""A judge that a language model plays; its answers are parsed strictly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, get_args

from pytest_personalens.agents.by_model.prompts import RUBRICS, Prompts, state_text, values_of
from pytest_personalens.agents.by_model.quotes import with_found_quotes
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import (
    Dimension,
    Evidence,
    PartState,
    PreferenceCode,
    Reason,
    Verdict,
)
from pytest_personalens.models import Completion, Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.scenario import Scenario

_SCORE: Final = re.compile(r"^\W*score\W*[:=][ \t]*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_WHY: Final = re.compile(r"^\W*justification\W*[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_EVIDENCE: Final = re.compile(r"^\W*evidence\W*[:=]\W*turn\s+(\d+)\W+(.+)$", re.IGNORECASE | re.MULTILINE)
_REASON: Final = re.compile(
    r"^\W*reason\W*[:=]\W*([a-z-]+)\s*\|([^|\n]+?)(?:\|\W*turn\s+(\d+).*)?$", re.IGNORECASE | re.MULTILINE
)
#: The codes of the reasons of a reading. The other readings have no reasons. Only a judge that reads what
#: a system stores tells a claim from what is missing.
_CODES: Final[dict[Measure, tuple[str, ...]]] = {
    Dimension.TASK_COMPLETION: tuple(code for code in get_args(PartState) if code != "claimed"),
    Dimension.PERSONALIZATION: get_args(PreferenceCode),
}
_QUOTE_IT: Final = (
    "\n\nYour last answer quoted nothing that stands in the transcript. Answer again in the form asked for,"
    " with at least one quote copied from it word for word."
)
#: The readings that are shown what the team's system holds.
_ON_DEEDS: Final = (Dimension.TASK_COMPLETION, Dimension.UNBACKED)
_NOTHING_TO_QUOTE: Final = (Dimension.OPENING_LEAK, Dimension.UNBACKED)
_WORDS: Final = {"true": 1, "yes": 1, "false": 0, "no": 0}


class ModelJudge:
    """A judge that reads a dialogue with one call for each dimension.

    Each reading sees what the paper shows it (Figures 16 to 20). Task completion sees the transcript and the
    goal, personalization sees everything, and naturalness and coherence see only the transcript.

    Rubrics and transcript come first and are the same for every reading of a dialogue, so a provider can
    cache them. The material that only one reading may see comes last.
    """

    parallel = True

    def __init__(self, model: Model, meter: Meter, prompts: Prompts, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._prompts, self._temperature = model, meter, prompts, temperature
        self.identity = f"{model.name} prompt {prompts.judge_version}"
        self.paid = model.paid
        # A reading is told apart if its template contains material of its own, because no other reading may
        # see that material.
        shared = (name for d in RUBRICS if not prompts.places(name := f"judge_{d.value}"))
        self._rubrics = "\n\n".join(prompts.fill(name) for name in shared)

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the model's verdict, based on quotes from the transcript; see `quoted_verdict`."""
        system, shared, ask = self._texts(scenario, dialogue, dimension)
        request = Request(system, shared + ask, self._temperature, shared=len(shared))
        return quoted_verdict(self._model, self._meter, request, dialogue, dimension)

    def _texts(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> tuple[str, str, str]:
        """Return the system text, the shared text and the text of this reading alone.

        All readings of the dialogue have the shared text.
        """
        values = {
            **values_of(scenario, dialogue.messages, facts=True),
            "intent": scenario.task.intent,  # what the user alone knows is no matter of the judge's
            "rubrics": self._rubrics,
        }
        name = f"judge_{dimension.value}"
        placed = self._prompts.places(name)
        ask = f"Give this reading: {dimension.names.title}."
        if not placed - {"transcript"}:
            ask = _material(values, dimension) + ask
        if placed or dimension not in RUBRICS:
            ask = f"{self._prompts.fill(name, **values)}\n\n{ask}"
        if dimension in _ON_DEEDS:
            ask = state_text(dialogue.state) + ask
        shared = (
            "" if "transcript" in placed | self._prompts.places("judge") else values["transcript"] + "\n\n"
        )
        return self._prompts.fill("judge", **values), shared, ask


def quoted_verdict(
    model: Model, meter: Meter, request: Request, dialogue: Dialogue, dimension: Measure
) -> Verdict:
    """Return the model's verdict on the dialogue that the request shows, based on quotes from it.

    Ask once more if the answer cannot be parsed, or if no quote is in the transcript. If the second answer
    cannot be parsed either, raise `JudgeFault`. If its quotes are not in the transcript either, the verdict
    is kept as `unsupported`.
    """
    replies = sum(m.role == "assistant" for m in dialogue.messages)
    request = request._replace(max_tokens=4000, answer=answer_schema(dimension, replies))
    problem = again = ""
    unsupported: Verdict | None = None
    for _ in range(2):
        asked = request._replace(prompt=request.prompt + again)
        completion = meter.complete(model, asked, f"judge {dimension.short}", fault=JudgeFault)
        try:
            read = read_answer(completion, dimension, len(dialogue.messages), replies)
        except ValueError as error:
            problem = str(error)
            again = again_text(problem)
            continue
        verdict = with_found_quotes(read, dialogue.messages)
        # An opening without a leak, and a dialogue without a claim, have nothing to quote.
        if verdict.evidence or (dimension in _NOTHING_TO_QUOTE and not verdict.unfound_quotes):
            return verdict
        unsupported, again = verdict, _QUOTE_IT
    if unsupported is not None:
        return unsupported.model_copy(update={"unsupported": True})
    raise JudgeFault(f"{model.name}: unreadable verdict on {dimension.short}: {problem}")


def again_text(problem: str) -> str:
    """Return the end of a prompt that asks once more, after an answer that could not be read."""
    return f"\n\nYour last answer could not be read: {problem}. Answer again in the form asked for."


def _material(values: Mapping[str, str], dimension: Dimension) -> str:
    """Return the material of a reading beyond the transcript.

    It is used if the template does not place it.
    """
    intent = f"What they want:\n{values['intent']}"
    if dimension is Dimension.TASK_COMPLETION:
        return f"What counts as completed:\n{values['goal']}\n\n"
    if dimension in (Dimension.PERSONALIZATION, Dimension.PERSONALIZATION_TURNS):
        return f"The person:\n{values['profile']}\n\nWhere they are:\n{values['situation']}\n\n{intent}\n\n"
    if dimension is Dimension.OPENING_LEAK:
        return f"{values['preferences']}\n\n{intent}\n\n"
    return ""


def answer_schema(dimension: Measure, replies: int) -> dict[str, Any]:
    """Return the JSON schema of an answer.

    It has evidence, a justification, reasons, and a score that can only be on the scale.
    """
    low, high = dimension.scale
    score: dict[str, Any] = {"type": "integer", "enum": list(range(low, high + 1))}
    if high == 1:
        score = {"type": "boolean"}
    if dimension is Dimension.PERSONALIZATION_TURNS:
        score = {"type": "array", "items": score, "minItems": replies, "maxItems": replies}
    quote = {
        "type": "object",
        "properties": {"turn": {"type": "integer"}, "quote": {"type": "string"}},
        "required": ["turn", "quote"],
    }
    properties: dict[str, Any] = {
        "evidence": {"type": "array", "items": quote, "maxItems": 4},
        "justification": {"type": "string"},
    }
    if dimension in _CODES:
        properties["reasons"] = {"type": "array", "items": _reason_schema(dimension), "maxItems": 12}
    properties["score"] = score
    return {"type": "object", "properties": properties, "required": list(properties)}


def _reason_schema(dimension: Measure) -> dict[str, Any]:
    about = ("part",) if dimension is Dimension.TASK_COMPLETION else ("domain", "type", "value")
    properties: dict[str, Any] = {"code": {"type": "string", "enum": list(_CODES[dimension])}}
    properties |= {name: {"type": "string"} for name in about}
    properties["turn"] = {"type": ["integer", "null"]}
    return {"type": "object", "properties": properties, "required": list(properties)}


def read_answer(completion: Completion, dimension: Measure, turns: int, replies: int) -> Verdict:
    """Return the verdict in a model's answer, from its tool call or its text.

    Raise ValueError, which says what is wrong. The function never guesses a score.
    """
    if completion.data is not None:
        return _read_data(completion.data, dimension, turns, replies)
    return parse_answer(completion.text, dimension, turns, replies)


def _read_data(data: Mapping[str, Any], dimension: Measure, turns: int, replies: int) -> Verdict:
    why = data.get("justification")
    if not isinstance(why, str) or not why.strip():
        raise ValueError("expected a justification")
    quotes = data.get("evidence")
    evidence = [
        Evidence(turn=q["turn"], quote=str(q["quote"]))
        for q in (quotes if isinstance(quotes, list) else [])
        if isinstance(q, dict) and type(q.get("turn")) is int and 0 <= q["turn"] < turns and q.get("quote")
    ]
    listed = data.get("reasons")
    reasons = [
        _reason(r, dimension, turns)
        for r in (listed if isinstance(listed, list) else [])
        if isinstance(r, dict)
    ]
    raw = data.get("score")
    scores = raw if isinstance(raw, list) else [raw]
    words = [str(s).lower() if isinstance(s, bool) or dimension.scale.high > 1 else repr(s) for s in scores]
    return verdict_of(words, dimension, why, evidence, [r for r in reasons if r is not None], replies)


def _reason(data: Mapping[str, Any], dimension: Measure, turns: int) -> Reason | None:
    """Return the reason, or None if its code does not belong to the reading.

    A reason is not part of the score, so the judge does not ask again because of it.
    """
    if data.get("code") not in _CODES.get(dimension, ()):
        return None
    about = {
        name: " ".join(data[name].split())
        for name in ("domain", "type", "value", "part")
        if isinstance(data.get(name), str)
    }
    turn = data.get("turn")
    return Reason(code=data["code"], turn=turn if type(turn) is int and 0 <= turn < turns else None, **about)


def parse_answer(text: str, dimension: Measure, turns: int, replies: int = 0) -> Verdict:
    r"""Return the verdict in the text form of an answer.

    >>> answer = "Evidence: turn 1: 'a window seat'\nJustification: unasked\nScore: 3"
    >>> parse_answer(answer, Dimension.PERSONALIZATION, 4).score
    3
    """
    scores = _SCORE.findall(text)
    if len(scores) != 1:
        raise ValueError(f"expected one line 'Score: ...', found {len(scores)}")
    words = [w.strip("*_`[]()\"'. ").lower() for w in scores[0].strip("*_`[]()\"'. ").split(",")]
    why = _WHY.search(text)
    if why is None:
        raise ValueError("expected a line 'Justification: ...'")
    evidence = [
        Evidence(turn=int(t), quote=q.strip().strip("'\""))
        for t, q in _EVIDENCE.findall(text)
        if int(t) < turns
    ]
    reasons = [
        _reason(_reason_fields(code, about, turn, dimension), dimension, turns)
        for code, about, turn in _REASON.findall(text)
    ]
    return verdict_of(words, dimension, why[1], evidence, [r for r in reasons if r is not None], replies)


def _reason_fields(code: str, about: str, turn: str, dimension: Measure) -> dict[str, Any]:
    """Return the fields of a line `Reason: code | about | turn`.

    `about` is a part of the goal, or "Domain, type: value".
    """
    fields: dict[str, Any] = {"code": code.lower(), "turn": int(turn) if turn else None}
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
    reasons: list[Reason],
    replies: int,
) -> Verdict:
    """Return the verdict with the scores in `words`.

    Raise ValueError for a wrong number of scores, or for a score off the scale.
    """
    expected = replies if dimension is Dimension.PERSONALIZATION_TURNS else 1
    if len(words) != expected:
        raise ValueError(
            f"expected {'one score' if expected == 1 else f'{expected} scores'}, found {len(words)}"
        )
    low, high = dimension.scale
    scores = []
    for word in words:
        if high == 1:
            if word not in _WORDS:
                raise ValueError(f"expected the score true or false, found {word!r}")
            scores.append(_WORDS[word])
        elif not re.fullmatch(r"\d", word) or not low <= int(word) <= high:
            raise ValueError(f"expected a whole score from {low} to {high}, found {word!r}")
        else:
            scores.append(int(word))
    turns = tuple(scores) if dimension is Dimension.PERSONALIZATION_TURNS else ()
    return Verdict(
        dimension=dimension,
        score=scores[-1],
        justification=why.strip(),
        evidence=tuple(evidence),
        reasons=tuple(reasons),
        turns=turns,
    )
