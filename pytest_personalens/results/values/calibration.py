"""What labels say of a judge, in a file of ``personalens calibrate``, and rates corrected by it."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from pydantic import ConfigDict, Field, NonNegativeInt, model_validator

from pytest_personalens.core.errors import SpecError, short_repr
from pytest_personalens.core.files.jsonfile import read_versioned
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.measure import Dimension
from pytest_personalens.results.stats.intervals import beta_quantile

if TYPE_CHECKING:
    from pathlib import Path

CALIBRATION_SCHEMA: Final = "personalens-calibration/1"
#: The quantile of the normal distribution for 95 %.
_Z: Final = 1.959964
#: More labels than that are no advice.
_MOST_LABELS: Final = 20_000


class Found(NamedTuple):
    """Labels of one class, and how many of them the judge read alike, which may be foreseen parts."""

    right: float
    of: float

    @property
    def share(self) -> float:
        return self.right / self.of

    @property
    def ends(self) -> tuple[float, float]:
        """The 95 % interval of the share (Jeffreys)."""
        a, b = self.right + 0.5, self.of - self.right + 0.5
        return beta_quantile(0.025, a, b), beta_quantile(0.975, a, b)


class Calibration(Frozen):
    """How a judge read labelled dialogues.

    `completed` of the tasks are done by the labels, and the judge saw `seen_completed` of them; `failed` are
    not, and it saw `seen_failed`. `personalization` maps "label -> judge", such as ``"3 -> 2"``, to a number
    of dialogues.
    """

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-calibration/1"] = Field(default=CALIBRATION_SCHEMA, alias="schema")
    judge: str
    dialogues: int = Field(ge=1)
    completed: int = Field(ge=1)
    seen_completed: NonNegativeInt
    failed: int = Field(ge=1)
    seen_failed: NonNegativeInt
    personalization: dict[Annotated[str, Field(pattern="^[1-4] -> [1-4]$")], NonNegativeInt] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _parts_of_wholes(self) -> Calibration:
        seen = self.seen_completed <= self.completed and self.seen_failed <= self.failed
        if not seen or self.completed + self.failed > self.dialogues:
            raise ValueError("what was seen is at most completed and failed, and these at most dialogues")
        return self

    @property
    def sensitivity(self) -> Found:
        return Found(self.seen_completed, self.completed)

    @property
    def specificity(self) -> Found:
        return Found(self.seen_failed, self.failed)


def read_calibration(path: Path, judge: str) -> Calibration:
    """Return the calibration in the file; `judge` is the identity of the judge of the run, with its votes.

    Raise `DataError` for a file that cannot be used, and `SpecError` for that of another judge, prompts or
    protocol.
    """
    advice = "write it with personalens calibrate"
    found = read_versioned(path, Calibration, CALIBRATION_SCHEMA, what="a calibration", advice=advice)
    others, *of_readings = judge.split("; ")
    begin = f"{Dimension.TASK_COMPLETION.short}: "
    own = next((part.removeprefix(begin) for part in of_readings if part.startswith(begin)), others)
    if found.judge != own:
        raise SpecError(
            f"personalens_calibration: {path.name} is of the judge {short_repr(found.judge, 80)}, and"
            f" task completion is read here by {short_repr(own, 80)}: another judge, other prompts, votes or"
            " another protocol; calibrate this one (personalens calibrate)",
            code="PL202",
        )
    return found


class Corrected(NamedTuple):
    """A corrected rate, 0 to 1, with its 95 % interval."""

    value: float
    low: float
    high: float


def correct(rate: float, n: float, sensitivity: Found, specificity: Found) -> Corrected | None:
    """Return a rate read over `n` independent dialogues, corrected for the judge's errors.

    The value is the estimate of Rogan and Gladen (1978); its interval counts the chance in both samples (Lang
    and Reiczigel 2014). Both are cut to 0 to 1. Return None for a judge that tells the two classes of labels
    no better than chance: then nothing can be corrected.
    """
    beyond_chance = sensitivity.share + specificity.share - 1
    if beyond_chance <= 0:
        return None
    value = (rate + specificity.share - 1) / beyond_chance
    # Two labels and z^2 dialogues more, half of each right, keep the interval honest at 0, at 1 and where
    # labels are few.
    se, of_se = (sensitivity.right + 1) / (sensitivity.of + 2), sensitivity.of + 2
    sp, of_sp = (specificity.right + 1) / (specificity.of + 2), specificity.of + 2
    p, of_p = (n * rate + _Z**2 / 2) / (n + _Z**2), n + _Z**2
    slope = se + sp - 1
    if slope <= 0:
        return Corrected(_cut(value), 0.0, 1.0)
    middle = (p + sp - 1) / slope
    of_true, of_false = middle**2 * se * (1 - se) / of_se, (1 - middle) ** 2 * sp * (1 - sp) / of_sp
    shift = 2 * _Z**2 * (middle * se * (1 - se) / of_se - (1 - middle) * sp * (1 - sp) / of_sp)
    half = _Z * sqrt(p * (1 - p) / of_p + of_true + of_false) / slope
    return Corrected(_cut(value), _cut(middle + shift - half), _cut(middle + shift + half))


def labels_to_decide(
    rate: float, n: float, sensitivity: Found, specificity: Found, limit: float
) -> int | None:
    """Return about how many more labels would have the interval exclude `limit`, all shares as they are.

    None means that no number of labels does, at this number of dialogues.
    """

    def decides(times: float) -> bool:
        more = (Found(f.right * times, f.of * times) for f in (sensitivity, specificity))
        found = correct(rate, n, *more)
        return found is not None and not found.low < limit <= found.high

    have = sensitivity.of + specificity.of
    low, high = 1.0, 2.0
    while not decides(high):
        low, high = high, 2 * high
        if have * high > _MOST_LABELS:
            return None
    while (high - low) * have > 1:
        middle = (low + high) / 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return ceil((high - 1) * have)


def _cut(rate: float) -> float:
    return min(1.0, max(0.0, rate))
