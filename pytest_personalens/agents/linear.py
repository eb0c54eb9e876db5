"""Linear models whose weights are text: whole hundredths, so that every machine comes to the same sum; and lists of words."""

from __future__ import annotations

import json
from importlib.resources import files
from math import exp
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Weights and sums are kept in hundredths of a logit.
UNIT: Final = 100
#: The name of the weight that every example has.
BIAS: Final = ""


class Binary:
    """Several yes-or-no questions about a set of cues, each answered by a sum of weights."""

    def __init__(self, weights: Mapping[str, Mapping[str, int]]) -> None:
        self.questions = tuple(weights)
        self._bias = [w.get(BIAS, 0) for w in weights.values()]
        self._by_cue: dict[str, list[tuple[int, int]]] = {}
        for i, of_question in enumerate(weights.values()):
            for cue, weight in of_question.items():
                if cue != BIAS:
                    self._by_cue.setdefault(cue, []).append((i, weight))

    def probabilities(self, cues: Iterable[str]) -> dict[str, float]:
        """The probability of each question's yes, to three decimals."""
        sums = list(self._bias)
        for cue in cues:
            for i, weight in self._by_cue.get(cue, ()):
                sums[i] += weight
        return {q: round(1 / (1 + exp(-max(-2000, min(2000, s)) / UNIT)), 3) for q, s in zip(self.questions, sums, strict=True)}


class Steps:
    """A score on a scale: one linear question for each step up from the lowest, over named numbers."""

    def __init__(self, low: int, steps: Iterable[Mapping[str, int]]) -> None:
        self.low, self._steps = low, tuple(steps)

    def score(self, numbers: Mapping[str, float]) -> int:
        """The lowest score plus the steps that are taken; each number counts in thousandths."""
        whole = {name: round(1000 * value) for name, value in numbers.items()}
        return self.low + sum(_sum(step, whole) > 0 for step in self._steps)

    def shares(self, numbers: Mapping[str, float], step: int) -> dict[str, int]:
        """What each number adds to the question of `step`, from 0."""
        weights = self._steps[min(step, len(self._steps) - 1)]
        return {name: weights[name] * round(1000 * value) for name, value in numbers.items() if weights.get(name)}


def _sum(weights: Mapping[str, int], whole: Mapping[str, int]) -> int:
    return 1000 * weights.get(BIAS, 0) + sum(weight * whole.get(name, 0) for name, weight in weights.items() if name != BIAS)


@once
def weights(name: str) -> Any:
    """The weights in the package's text file `name`."""
    return json.loads(_text(f"{name}.json"))


@once
def words(name: str) -> frozenset[str]:
    """The package's list of words `name`.

    ``words``: what the judge has met often enough to read, in lower case. ``common``: stems that assistants use whoever the user is;
    such a word shows no knowledge of this one.
    """
    return frozenset(_text(f"{name}.txt").split())


def _text(file: str) -> str:
    return (files("pytest_personalens.agents") / "weights" / file).read_text(encoding="utf-8")
