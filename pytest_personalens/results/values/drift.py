"""The result of adopting or checking a judge."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.verdict import MeasureField


class Shift(Frozen):
    """The change of the readings on one dimension since the baseline.

    `changed` of `compared` readings differ; `far` of them differ by a flip or by more than one step. `mean`
    is the mean difference, and `p` that of the two-sided exact sign test. `beyond_judge` is set for scores on
    a dimension that the judge now reads otherwise: the two-sided p of the hypothesis that the scores moved in
    the same way as the anchors with the same score.
    """

    dimension: MeasureField
    compared: int
    changed: int
    far: int
    mean: float
    p: float
    beyond_judge: float | None = None


DriftOutcome = Literal[
    "the judge changed", "your assistant changed", "both changed", "neither changed",
    "the judge did not change", "the judge could not be checked", "the judge was adopted",
    "the judge could not be adopted",
]  # fmt: skip


class Drift(Frozen):
    """The result of adopting or checking the judge; `sentence` begins with the `outcome`.

    `anchors` are the readings of the anchor dialogues against the adopted ones, and `kept` is the share of
    them that are as they were. `scores` are this run's against the baseline's, by scenario; the outcome is
    "the judge did not change" if there were none to compare.
    """

    outcome: DriftOutcome
    sentence: str
    judge: str = Field(description="Identity of the judge of this run.")
    anchors: tuple[Shift, ...] = ()
    scores: tuple[Shift, ...] = ()
    kept: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """False if the judge changed, or if the check could not decide that."""
        return self.outcome in (
            "your assistant changed", "neither changed", "the judge did not change", "the judge was adopted",
        )  # fmt: skip
