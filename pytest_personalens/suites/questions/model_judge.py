"""A judge that a language model plays: whether an answer is right, and whether a preference is followed."""

from __future__ import annotations

import hashlib
import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.by_model.model_judge import again_text
from pytest_personalens.agents.by_model.prompts import transcript_text
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.models import Completion, Model, Request
from pytest_personalens.suites.questions.embedded_judge import ChoiceReader
from pytest_personalens.suites.questions.values import CHOICE, PREF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.suites.questions.values import Question

_TOML: Final = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
_PROMPTS: Final = tomllib.loads(_TOML)
_LINE: Final = r"^\W*{}\W*[:=][ \t]*(.+?)\s*$"


class QuestionsModelJudge(ChoiceReader):
    """A judge that reads a reply with one call; a choice is read without a call."""

    parallel = True

    def __init__(self, model: Model, meter: Meter, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._temperature = model, meter, temperature
        self.identity = f"{model.name} questions {hashlib.sha256(_TOML.encode()).hexdigest()[:8]}"
        self.paid = model.paid

    def verdict(self, scenario: Question, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the reading; ask once more if the answer cannot be read, and then raise `JudgeFault`."""
        if dimension == CHOICE:
            return self.choice(scenario, dialogue)
        faults: dict[str, str] = _PROMPTS["faults"][dimension.value]
        rules = [_PROMPTS["rules"].get(domain, "") for domain in scenario.domains]
        if scenario.expected.rubric:
            rules = [_PROMPTS["rubric"]]
        listed = "\n".join(f"- {name}: {meaning}" for name, meaning in faults.items())
        system = _PROMPTS["system"].format(faults=listed, rules="\n".join(filter(None, rules))).strip()
        what = "The preference that the person stated before" if dimension == PREF else "What is expected"
        prompt = f"{transcript_text(dialogue.messages)}\n\n{what}: {scenario.expected.answer}"
        problem = again = ""
        for _ in range(2):
            request = Request(system, prompt + again, self._temperature, answer=_schema(faults))
            completion = self._meter.complete(
                self._model, request, f"judge {dimension.short}", fault=JudgeFault
            )
            try:
                return _read(completion, dimension, faults)
            except ValueError as error:
                problem, again = str(error), again_text(str(error))
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


def _schema(faults: Mapping[str, str]) -> dict[str, Any]:
    properties = {
        "justification": {"type": "string"},
        "faults": {"type": "array", "items": {"type": "string", "enum": list(faults)}},
        "score": {"type": "boolean"},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _read(completion: Completion, dimension: Measure, faults: Mapping[str, str]) -> Verdict:
    """Return the verdict in a model's answer. Raise ValueError for faults and a score that disagree."""
    if completion.data is not None:
        data = completion.data
        listed, why, score = data.get("faults", []), data.get("justification"), str(data.get("score")).lower()
    else:
        found = {
            name: re.findall(_LINE.format(name), completion.text, re.IGNORECASE | re.MULTILINE)
            for name in ("faults", "justification", "score")
        }
        if missing := next((name for name, lines in found.items() if len(lines) != 1), ""):
            raise ValueError(f"expected one line '{missing.capitalize()}: ...'")
        text = found["faults"][0].strip("*_`[]()\"'. ").lower()
        listed = [] if text == "none" else [part.strip() for part in text.split(",")]
        why, score = found["justification"][0], found["score"][0].strip("*_`. ").lower()
    if not isinstance(listed, list) or not all(name in faults for name in listed):
        raise ValueError(f"expected faults among {', '.join(faults)}, or none")
    if not isinstance(why, str) or not why.strip():
        raise ValueError("expected a justification")
    if score not in ("true", "false") or (score == "true") == bool(listed):
        raise ValueError("expected the score true without faults, and false with one or more")
    named = f"{', '.join(listed)}: " if listed and dimension == PREF else ""
    return Verdict(dimension=dimension, score=int(score == "true"), justification=f"{named}{why.strip()}")
