"""Confirm on fail: the judge votes again before a verdict fails an item."""

from __future__ import annotations

from statistics import median_low
from typing import TYPE_CHECKING

from pytest_personalens.core.judging.verdict import Verdict, Vote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import BaseScenario


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
