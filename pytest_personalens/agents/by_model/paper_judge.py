"""A judge under the paper's protocol: a language model with one prompt for each reading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_judge import verdict_of
from pytest_personalens.agents.by_model.prompts import Prompts, values_of
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.verdict import Dimension, Verdict
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue import Dialogue
    from pytest_personalens.core.scenario import Scenario

_HEADING: Final = re.compile(
    r"^\W*(score|verdict|explanation|observations|justification|improvements)\b\W*?:[ \t*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)


class PaperJudge:
    """A judge with its own rubric and material for each reading (Figures 16 to 20).

    The figures are those of the paper. The judge makes one call for each reading and never asks again. The
    score comes first and then its reasons, as text. Personalization also has observations and improvements
    (Figure 17).
    """

    parallel = True

    def __init__(self, model: Model, meter: Meter, prompts: Prompts, *, temperature: float = 0.0) -> None:
        self._model, self._meter, self._prompts, self._temperature = model, meter, prompts, temperature
        self.identity = f"{model.name} paper prompt {prompts.judge_version}"
        self.paid = model.paid

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the model's verdict.

        Raise `JudgeFault` for an unreadable answer.
        """
        values = values_of(scenario, dialogue.messages, facts=False)
        system, prompt = (
            self._prompts.fill(name, **values) for name in ("judge", f"judge_{dimension.value}")
        )
        request = Request(system, prompt, self._temperature, 4000)
        answer = self._meter.complete(self._model, request, f"judge {dimension.short}", fault=JudgeFault).text
        try:
            return read_sections(answer, dimension, sum(m.role == "assistant" for m in dialogue.messages))
        except ValueError as error:
            raise JudgeFault(
                f"{self._model.name}: unreadable verdict on {dimension.short}: {error}"
            ) from None


def read_sections(text: str, dimension: Dimension, replies: int) -> Verdict:
    r"""Return the verdict in an answer that has sections.

    Raise ValueError, which says what is wrong. The function never guesses a score.

    >>> read_sections("Verdict: false\nExplanation: no seat", Dimension.TASK_COMPLETION, 1).score
    0
    """
    parts = _HEADING.split(text)
    named = list(
        zip((name.lower() for name in parts[1::2]), (part.strip() for part in parts[2::2]), strict=True)
    )
    score, why = ("verdict", "explanation") if dimension.scale.high == 1 else ("score", "justification")
    scores = [section for name, section in named if name == score]
    if len(scores) != 1:
        raise ValueError(f"expected one line '{score.capitalize()}: ...', found {len(scores)}")
    sections = dict(named)
    if not sections.get(why):
        raise ValueError(f"expected '{why.capitalize()}: ...'")
    words = [word.strip("*_`[]()\"'. ").lower() for word in scores[0].partition("\n")[0].split(",")]
    verdict = verdict_of(words, dimension, sections[why].strip("*_ "), [], [], replies)
    return verdict.model_copy(
        update={name: _items(sections.get(name, "")) for name in ("observations", "improvements")}
    )


def _items(text: str) -> tuple[str, ...]:
    return tuple(item for part in _ITEM.split(text) if (item := " ".join(part.split())))
