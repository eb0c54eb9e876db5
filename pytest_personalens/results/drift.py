"""What is kept of a judge when it is adopted, and what a later check finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pytest_personalens.core.scenario import Frozen
from pytest_personalens.core.verdict import MeasureField

if TYPE_CHECKING:
    pass


class Shift(Frozen):
    """How the readings on one dimension moved from the baseline.

    `changed` of `compared` differ, `far` of them by a flip or by more than one step; `mean` is the mean
    difference and `p` the two-sided exact sign test's. `beyond_judge`, for scores whose dimension the judge
    reads otherwise: the two-sided p that they moved no other way than the anchors with the same score did.
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
    """What adopting or checking the judge came to; `sentence` begins with the `outcome`.

    "the judge did not change" stands where there were no scores to compare.
    """

    outcome: DriftOutcome
    sentence: str
    judge: str = Field(description="Identity of the judge of this run.")
    anchors: tuple[Shift, ...] = Field(
        default=(), description="The readings of the anchor dialogues, against the adopted ones."
    )
    scores: tuple[Shift, ...] = Field(
        default=(), description="This run's scores against the baseline's, by scenario."
    )
    kept: float | None = Field(
        default=None, description="Share of the anchor verdicts that are as they were."
    )
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """False if the judge changed, or if that could not be found out."""
        return self.outcome in (
            "your assistant changed",
            "neither changed",
            "the judge did not change",
            "the judge was adopted",
        )
