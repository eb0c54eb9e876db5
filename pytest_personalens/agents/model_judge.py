"""A judge played by a language model, its answers read strictly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.prompts import digest, profile_text, situation_text, template, transcript_text
from pytest_personalens.errors import JudgeFault, PersonalensError
from pytest_personalens.evaluation import Usage
from pytest_personalens.models import Model, Request
from pytest_personalens.verdict import Dimension, Evidence, Verdict

if TYPE_CHECKING:
    from pytest_personalens.dialogue import Dialogue
    from pytest_personalens.scenario import Scenario

_SCORE: Final = re.compile(r"^\W*score\W*[:=]\W*(\S+?)\W*$", re.IGNORECASE | re.MULTILINE)
_WHY: Final = re.compile(r"^\W*justification\W*[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_EVIDENCE: Final = re.compile(r"^\W*evidence\W*[:=]\W*turn\s+(\d+)\W+(.+)$", re.IGNORECASE | re.MULTILINE)
_WORDS: Final = {"true": 1, "yes": 1, "false": 0, "no": 0}


class ModelJudge:
    """Reads a dialogue with one call a dimension.

    Who sees what follows the paper (Figures 16 to 20): task completion the transcript and the goal,
    personalization all, naturalness and coherence the transcript only.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.identity = f"{model.name} prompt {digest('judge', *(f'judge_{d.value}' for d in Dimension))}"
        self.paid = model.paid
        self.usage = Usage()

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """The model's verdict; an unreadable answer is asked for once more, then it is a `JudgeFault`."""
        prompt = template(f"judge_{dimension.value}").substitute(
            profile=profile_text(scenario),
            situation=situation_text(scenario),
            intent=scenario.task.intent,
            goal=scenario.task.goal,
            transcript=transcript_text(dialogue.messages),
        )
        problem = ""
        for _ in range(2):
            ask = f"{prompt}\n\nYour last answer could not be read: {problem}. Answer again in the form asked for." if problem else prompt
            try:
                completion = self._model.complete(Request(template("judge").template, ask, max_tokens=4000))
            except PersonalensError as error:
                raise JudgeFault(f"{self._model.name}: {error}") from error
            self.usage += Usage(calls=1, input_tokens=completion.input_tokens, output_tokens=completion.output_tokens)
            try:
                return parse(completion.text, dimension, len(dialogue.messages))
            except ValueError as error:
                problem = str(error)
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


def parse(text: str, dimension: Dimension, turns: int) -> Verdict:
    """The verdict in a model's answer. Raises ValueError saying what is wrong; never guesses a score.

    >>> parse("Evidence: turn 1: 'a window seat'\\nJustification: unasked\\nScore: 3", Dimension.PERSONALIZATION, 4).score
    3
    """
    scores = _SCORE.findall(text)
    if len(scores) != 1:
        raise ValueError(f"expected one line 'Score: ...', found {len(scores)}")
    word = scores[0].strip("*_`[]()\"'.").lower()
    low, high = dimension.scale
    if dimension is Dimension.TASK_COMPLETION:
        if word not in _WORDS:
            raise ValueError(f"expected 'Score: true' or 'Score: false', found {word!r}")
        score = _WORDS[word]
    elif not re.fullmatch(r"\d", word) or not low <= int(word) <= high:
        raise ValueError(f"expected a whole score from {low} to {high}, found {word!r}")
    else:
        score = int(word)
    why = _WHY.search(text)
    if why is None:
        raise ValueError("expected a line 'Justification: ...'")
    evidence = tuple(Evidence(turn=int(t), quote=q.strip().strip("'\"")) for t, q in _EVIDENCE.findall(text) if int(t) < turns)
    return Verdict(dimension=dimension, score=score, justification=why[1].strip(), evidence=evidence)
