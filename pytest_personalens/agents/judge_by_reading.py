"""A judge that consists of several: one for some readings, and one for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.judging.criteria import ALL_CRITERIA
from pytest_personalens.core.judging.measure import CRITERION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge, Verdict
    from pytest_personalens.core.scenario import BaseScenario


class JudgeByReading:
    """A judge that asks `others` for a reading, unless `by_reading` or `free` has a judge for it.

    Readings of `free` cost nothing. They are made anew each time and no part of the identity, so that what
    was paid for the others stays valid with any version of the free judges.
    """

    def __init__(
        self, others: Judge, by_reading: Mapping[Measure, Judge], free: Mapping[Measure, Judge] = {}
    ) -> None:
        self._others, self._by_reading = others, {**free, **by_reading}
        every = (others, *by_reading.values())
        of_readings = (f"{measure.short}: {judge.identity}" for measure, judge in by_reading.items())
        self.identity = "; ".join((others.identity, *of_readings))
        self.paid = any(judge.paid for judge in every)
        self.parallel = all(getattr(judge, "parallel", False) for judge in every)
        of_criteria = by_reading.get(ALL_CRITERIA, others)
        self.reads_criteria = getattr(of_criteria, "reads_criteria", False)
        if answer := getattr(others, "answer", None):
            self.answer = answer

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict of the judge of this reading."""
        name = ALL_CRITERIA if dimension.startswith(CRITERION) else dimension
        return self._by_reading.get(name, self._others).verdict(scenario, dialogue, dimension)
