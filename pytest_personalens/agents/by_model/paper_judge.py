"""A judge under the paper's protocol: a language model with one prompt for each reading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_judge import again_text, unread
from pytest_personalens.agents.by_model.prompts import Prompts, values_of
from pytest_personalens.agents.by_model.verdict_reading import verdict_of
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import Scenario

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
