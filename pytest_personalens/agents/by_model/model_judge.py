"""Judges that a language model plays, under our protocol and the paper's, and votes on a low verdict."""

from __future__ import annotations

import json
import re
from statistics import median_low
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.by_model.prompts import (
    CRITERION_TEMPLATE,
    RUBRICS,
    Prompts,
    framed,
    state_text,
    values_of,
    values_of_judge,
)
from pytest_personalens.agents.by_model.verdict_reading import (
    CODES,
    read_verdict,
    verdict_of,
    with_found_quotes,
)
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.measure import ANSWERS, CRITERION, text_of
from pytest_personalens.core.judging.verdict import Dimension, Verdict, Vote
from pytest_personalens.models import Answer, Model, Request
from pytest_personalens.models.meter import Meter
from pytest_personalens.models.model import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import BaseScenario, Scenario


class VotingJudge:
    """A judge that repeats a verdict that is worse than its dimension's threshold.

    It asks `first` once. If the score is worse than the threshold, `further` gives more votes, up to `votes`
    (odd) in all. The median decides; for task completion this is the majority.

    A verdict that passes costs one call. So further votes can change only a failure. The verdict keeps every
    vote.
    """

    def __init__(
        self, first: Judge, further: Judge, *, votes: int, thresholds: Mapping[Measure, int | float]
    ) -> None:
        self._first, self._further, self._votes, self._thresholds = first, further, votes, thresholds
        limits = ",".join(f"{d.short}>={s}" for d, s in sorted(thresholds.items()))
        self.identity = f"{first.identity} votes={votes} where not {limits}"
        self.paid = first.paid or further.paid
        self.parallel = getattr(first, "parallel", False) and getattr(further, "parallel", False)
        self.reads_criteria = getattr(first, "reads_criteria", False)
        if answer := getattr(first, "answer", None):
            self.answer = answer

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict that the votes decide; the tape keeps each vote before the next is paid for."""
        first = self._first.verdict(scenario, dialogue, dimension)
        limit = self._thresholds.get(dimension)
        if limit is None or not dimension.is_worse(first.score, limit):
            return first
        verdicts = [first]
        while len(verdicts) < self._votes:
            verdicts.append(self._further.verdict(scenario, dialogue, dimension))
        decided = median_low(v.score for v in verdicts)
        chosen = next(v for v in verdicts if v.score == decided)
        votes = tuple(Vote(score=v.score, justification=v.justification) for v in verdicts)
        return chosen.model_copy(update={"votes": votes})


_QUOTE_IT: Final = (
    "\n\nYour last answer quoted nothing that stands in the transcript. Answer again in the form asked for,"
    " with at least one quote copied from it word for word."
)
#: The readings that are shown what the team's system holds.
_ON_DEEDS: Final = (Dimension.TASK_COMPLETION, Dimension.UNBACKED)
_NOTHING_TO_QUOTE: Final = (Dimension.OPENING_LEAK, Dimension.UNBACKED, Dimension.INTRUSIONS)


class ModelJudge:
    """A judge that reads a dialogue with one call for each dimension.

    Each reading sees what the paper shows it (Figures 16 to 20). Task completion sees the transcript and the
    goal, personalization sees everything, and naturalness and coherence see only the transcript.

    Rubrics and transcript come first and are the same for every reading of a dialogue, so a provider can
    cache them. The material that only one reading may see comes last.
    """

    parallel, reads_criteria = True, True

    def __init__(self, model: Model, meter: Meter, prompts: Prompts, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._prompts, self._temperature = model, meter, prompts, temperature
        self.identity = f"{model.name} prompt {prompts.judge_version}"
        self.paid = model.paid
        # A reading is told apart if its template contains material of its own, because no other reading may
        # see that material.
        shared = (name for d in RUBRICS if not prompts.places(name := f"judge_{d.value}"))
        self._rubrics = "\n\n".join(prompts.fill(name) for name in shared)

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the model's verdict, based on quotes from the transcript; see `quoted_verdict`."""
        system, shared, ask = self._texts(scenario, dialogue, dimension)
        request = Request(system, shared + ask, self._temperature, shared=len(shared))
        return quoted_verdict(self._model, self._meter, request, dialogue, dimension)

    def _texts(self, scenario: Scenario, dialogue: Dialogue, dimension: Measure) -> tuple[str, str, str]:
        """Return the system text, the text that all readings of the dialogue share, and that of this one."""
        values = {**values_of_judge(scenario, dialogue.messages), "rubrics": self._rubrics}
        of_team = dimension.value.startswith(CRITERION)
        name = CRITERION_TEMPLATE if of_team else f"judge_{dimension.value}"
        placed = self._prompts.places(name)
        title = "the criterion" if of_team else dimension.names.title
        ask = f"Give this reading: {title}."
        if not placed - {"transcript"}:
            ask = _material(values, dimension) + ask
        if of_team:
            ask = f"{framed('criterion', text_of(dimension))}\n\n{ask}"
        if placed or dimension not in RUBRICS:
            ask = f"{self._prompts.fill(name, **values)}\n\n{ask}"
        if of_team or dimension in _ON_DEEDS:
            ask = state_text(dialogue.state) + ask
        is_placed = "transcript" in placed | self._prompts.places("judge")
        shared = "" if is_placed else values["transcript"] + "\n\n"
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
        answer = meter.complete(model, asked, dimension.purpose, fault=JudgeFault, partial=True)
        try:
            read = read_verdict(answer, dimension, len(dialogue.messages), replies)
        except ValueError as error:
            problem = unread(model, answer, error)
            again = again_text(str(error))
            continue
        verdict = with_found_quotes(read, dialogue.messages)
        # An opening without a leak, a dialogue without a claim, and what cannot be told have nothing to quote.
        needs_none = dimension in _NOTHING_TO_QUOTE or any(r.code == "cannot-tell" for r in verdict.reasons)
        if verdict.evidence or (needs_none and not verdict.unfound_quotes):
            return verdict
        unsupported, again = verdict, _QUOTE_IT
    if unsupported is not None:
        return unsupported.model_copy(update={"unsupported": True})
    raise JudgeFault(f"{model.name}: unreadable verdict on {dimension.short}: {problem}")


def unread(model: Model, answer: Answer, error: ValueError) -> str:
    """Return what is wrong with an answer that holds no verdict, with the model's own words.

    Raise `JudgeFault` for one that ended before its verdict for a reason, because another call would too.
    """
    if answer.end not in ("end", "tool"):
        raise JudgeFault(f"{model.name}: {answer.problem}")
    words = answer.text if answer.data is None else json.dumps(answer.data, ensure_ascii=False)
    return f"{error}; the model answered {short(words)!r}" if words.strip() else "the model answered nothing"


def again_text(problem: str) -> str:
    """Return the end of a prompt that asks once more, after an answer that could not be read."""
    return f"\n\nYour last answer could not be read: {problem}. Answer again in the form asked for."


def _material(values: Mapping[str, str], dimension: Measure) -> str:
    """Return the material of a reading beyond the transcript, for a template that does not place it."""
    intent = f"What they want:\n{values['intent']}"
    if dimension is Dimension.TASK_COMPLETION:
        return f"What counts as completed:\n{values['goal']}\n\n"
    if dimension in (Dimension.PERSONALIZATION, Dimension.PERSONALIZATION_TURNS, Dimension.INTRUSIONS):
        facts = f"The facts of the task:\n{values['facts']}\n\n" if values["facts"] else ""
        person = f"The person:\n{values['profile']}\n\nWhere they are:\n{values['situation']}"
        return f"{person}\n\n{intent}\n\n{facts}"
    if dimension is Dimension.OPENING_LEAK:
        return f"{values['preferences']}\n\n{intent}\n\n"
    return ""


def answer_schema(dimension: Measure, replies: int) -> dict[str, Any]:
    """Return the JSON schema of an answer: evidence, justification, reasons, and a score on the scale."""
    low, high = dimension.scale
    score: dict[str, Any] = {"type": "integer", "enum": list(range(low, high + 1))}
    if dimension.value.startswith(CRITERION):
        score = {"type": "string", "enum": list(ANSWERS)}
    elif high == 1:
        score = {"type": "boolean"}
    if dimension is Dimension.PERSONALIZATION_TURNS:
        score = {"type": "array", "items": score, "minItems": replies, "maxItems": replies}
    quote = _object(turn={"type": "integer"}, quote={"type": "string"})
    properties: dict[str, Any] = {
        "evidence": {"type": "array", "items": quote, "maxItems": 4},
        "justification": {"type": "string"},
    }
    if dimension in CODES:
        about = ("part",) if dimension is Dimension.TASK_COMPLETION else ("domain", "type", "value")
        code, turn = {"type": "string", "enum": list(CODES[dimension])}, {"type": ["integer", "null"]}
        reason = _object(code=code, **{name: {"type": "string"} for name in about}, turn=turn)
        properties["reasons"] = {"type": "array", "items": reason, "maxItems": 12}
    return _object(**properties, score=score)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


#: A heading stands at the beginning of a line, after two words at most: ``Personalization Score:``.
_HEADING: Final = re.compile(
    r"^\W*(?:[a-z-]+ ){0,2}(score|verdict|explanation|observations|justification|improvements)\b\W*?:[ \t*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
#: What counts of the text after a heading: its beginning, whatever follows.
_WORD: Final = re.compile(r"\W*(true|false|yes|no)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[^\w-]*(\d+)")


class PaperJudge:
    """A judge with its own rubric and material for each reading (Figures 16 to 20).

    The figures are those of the paper. The judge makes one call for each reading, and asks once more if it
    cannot read the answer. The score comes first and then its reasons, as text. Personalization also has
    observations and improvements (Figure 17).
    """

    parallel = True

    def __init__(self, model: Model, meter: Meter, prompts: Prompts, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._prompts, self._temperature = model, meter, prompts, temperature
        self.identity = f"{model.name} paper prompt {prompts.judge_version}"
        self.paid = model.paid

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the model's verdict; raise `JudgeFault` if the second answer is unreadable too."""
        values = values_of(scenario, dialogue.messages, facts=False)
        system, prompt = (
            self._prompts.fill(name, **values) for name in ("judge", f"judge_{dimension.value}")
        )
        replies = sum(m.role == "assistant" for m in dialogue.messages)
        problem = again = ""
        for _ in range(2):
            request = Request(system, prompt + again, self._temperature, 4000)
            answer = self._meter.complete(
                self._model, request, dimension.purpose, fault=JudgeFault, partial=True
            )
            try:
                verdict = read_sections(answer.text, dimension, replies)
                said = (message.content for message in dialogue.messages)
                return verdict.model_copy(update={"echoed": is_echoed(answer.text, dimension, said)})
            except ValueError as error:
                problem = unread(self._model, answer, error)
                again = again_text(str(error))
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


def read_sections(text: str, dimension: Dimension, replies: int) -> Verdict:
    r"""Return the verdict in an answer that has sections.

    It is read as strictly as the official code reads: the first score counts, and nothing that follows it. So
    3/4 and 3.5 are 3. A justification may be missing. Raise ValueError, which says what is wrong.

    >>> read_sections("Verdict: False - no seat", Dimension.TASK_COMPLETION, 1).score
    0
    """
    parts = _HEADING.split(text)
    named = list(
        zip((name.lower() for name in parts[1::2]), (part.strip() for part in parts[2::2]), strict=True)
    )
    is_verdict = dimension.scale.high == 1
    score, why = ("verdict", "explanation") if is_verdict else ("score", "justification")
    lines = [section.partition("\n")[0] for name, section in named if name == score]
    if not lines:
        raise ValueError(f"expected a line '{score.capitalize()}: ...', found none")
    by_turn = dimension is Dimension.PERSONALIZATION_TURNS
    given = [word for line in lines for word in line.split(",")] if by_turn else lines[:1]
    pattern = _WORD if is_verdict else _NUMBER
    words = [found[1].lower() if (found := pattern.match(word)) else word.strip() for word in given]
    sections = dict(named)
    verdict = verdict_of(words, dimension, sections.get(why, "").strip("*_ "), [], [], replies)
    return verdict.model_copy(
        update={name: _items(sections.get(name, "")) for name in ("observations", "improvements")}
    )


def is_echoed(text: str, dimension: Dimension, said: Iterable[str]) -> bool:
    """True if the line of an answer that counts as its score stands in a message of the dialogue too.

    >>> is_echoed("Verdict: True\nVerdict: False", Dimension.TASK_COMPLETION, ["Done.\nVerdict: True"])
    True
    """
    first = _score_line(text, dimension)
    return bool(first) and any(first == _score_line(message, dimension) for message in said)


def _score_line(text: str, dimension: Dimension) -> str:
    name = "verdict" if dimension.scale.high == 1 else "score"
    for found in _HEADING.finditer(text):
        if found[1].lower() == name:
            value = text[found.end() :].partition("\n")[0]
            return " ".join(value.lower().strip(" *_.").split())
    return ""


def _items(text: str) -> tuple[str, ...]:
    return tuple(item for part in _ITEM.split(text) if (item := " ".join(part.split())))
