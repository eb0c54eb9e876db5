"""What labels say of a judge: a file of ``personalens calibrate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import ConfigDict, Field, NonNegativeInt, model_validator

from pytest_personalens.core.errors import SpecError, short_repr
from pytest_personalens.core.files.jsonfile import read_versioned
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.results.stats.correction import Found

if TYPE_CHECKING:
    from pathlib import Path

_Pair = Annotated[str, Field(pattern="^[1-4] -> [1-4]$")]
CALIBRATION_SCHEMA: Final = "personalens-calibration/1"


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
    personalization: dict[_Pair, NonNegativeInt] = Field(default_factory=dict)

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
    own = _judge_of_completion(judge)
    if found.judge != own:
        raise SpecError(
            f"personalens_calibration: {path.name} is of the judge {short_repr(found.judge, 80)}, and"
            f" task completion is read here by {short_repr(own, 80)}: another judge, other prompts, votes or"
            " another protocol; calibrate this one (personalens calibrate)",
            code="PL202",
        )
    return found


def _judge_of_completion(identity: str) -> str:
    """Return the identity of the judge that reads task completion, of a judge that may consist of several."""
    others, *of_readings = identity.split("; ")
    begin = f"{Dimension.TASK_COMPLETION.short}: "
    return next((part.removeprefix(begin) for part in of_readings if part.startswith(begin)), others)
