"""A judge that a language model plays: whether an answer is right, and whether a preference is followed."""

from __future__ import annotations

import hashlib
import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.by_model.model_judge import again_text, unread
from pytest_personalens.agents.by_model.prompts import framed, transcript_text
from pytest_personalens.agents.by_model.verdict_reading import plain_score
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.models import Answer, Model, Request
from pytest_personalens.suites.questions.questions import PREF, ChoiceReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.suites.questions.questions import Question

_TOML: Final = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
_PROMPTS: Final = tomllib.loads(_TOML)
_LINE: Final = r"^[ \t>*_`#-]*{}[*_`]*[ \t]*[:=\uff1a][ \t]*(.+?)\s*$"


class QuestionsModelJudge(ChoiceReader):
    """A judge that reads a reply with one call; a choice is read without it, by the embedded judge."""

    parallel = True

    def __init__(self, model: Model, meter: Meter, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._temperature = model, meter, temperature
        self.identity = f"{model.name} questions {hashlib.sha256(_TOML.encode()).hexdigest()[:8]}"
        self.paid = model.paid

    def verdict(self, scenario: Question, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the reading; ask once more if the answer cannot be read, and then raise `JudgeFault`."""
        faults: dict[str, str] = _PROMPTS["faults"][dimension.value]
        rules = [_PROMPTS["rules"].get(domain, "") for domain in scenario.domains]
        if scenario.expected.rubric:
            rules = [_PROMPTS["rubric"]]
        listed = "\n".join(f"- {name}: {meaning}" for name, meaning in faults.items())
        system = _PROMPTS["system"].format(faults=listed, rules="\n".join(filter(None, rules))).strip()
        what = "The preference that the person stated before" if dimension == PREF else "What is expected"
        expected = framed("expected", scenario.expected.answer)
        prompt = f"{transcript_text(dialogue.messages)}\n\n{what}:\n{expected}"
        problem = again = ""
        for _ in range(2):
            request = Request(system, prompt + again, self._temperature, answer=_schema(faults))
            answer = self._meter.complete(
                self._model, request, f"judge {dimension.short}", fault=JudgeFault, partial=True
            )
            try:
                return _read(answer, dimension, faults)
            except ValueError as error:
                problem, again = unread(self._model, answer, error), again_text(str(error))
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


def _schema(faults: Mapping[str, str]) -> dict[str, Any]:
    properties = {
        "justification": {"type": "string"},
        "faults": {"type": "array", "items": {"type": "string", "enum": list(faults)}},
        "score": {"type": "boolean"},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _read(answer: Answer, dimension: Measure, faults: Mapping[str, str]) -> Verdict:
    """Return the verdict in a model's answer. Raise ValueError for faults and a score that disagree."""
    if answer.data is not None:
        data = answer.data
        listed, why, score = data.get("faults") or [], data.get("justification"), str(data.get("score"))
        listed = [part.strip() for part in listed.split(",")] if isinstance(listed, str) else listed
    else:
        flags = re.IGNORECASE | re.MULTILINE
        found = {
            name: list(dict.fromkeys(re.findall(_LINE.format(name), answer.text, flags)))
            for name in ("faults", "justification", "score")
        }
        if missing := next((name for name, lines in found.items() if len(lines) != 1), ""):
            raise ValueError(f"expected one line '{missing.capitalize()}: ...'")
        listed = [part.strip() for part in found["faults"][0].strip("*_`[]()\"'. ").lower().split(",")]
        why, score = found["justification"][0].strip("*_` "), found["score"][0]
    score = plain_score(score, dimension)
    score = {"1": "true", "yes": "true", "0": "false", "no": "false"}.get(score, score)
    listed = [] if listed in (["none"], [""]) else listed
    if not isinstance(listed, list) or not all(name in faults for name in listed):
        raise ValueError(f"expected faults among {', '.join(faults)}, or none")
    if not isinstance(why, str) or not why.strip():
        raise ValueError("expected a justification")
    if score not in ("true", "false") or (score == "true") == bool(listed):
        raise ValueError("expected the score true without faults, and false with one or more")
    named = f"{', '.join(listed)}: " if listed and dimension == PREF else ""
    return Verdict(dimension=dimension, score=int(score == "true"), justification=f"{named}{why.strip()}")
