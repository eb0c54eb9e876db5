"""The file that stores the verdicts of a judge at its adoption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import read_versioned, to_json
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.verdict import Dimension

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: Final = "personalens-judge/1"


class Scored(Frozen):
    """The scores of one item; `dialogue` is a digest of its transcript."""

    dialogue: str
    scores: dict[Dimension, int]


class AdoptedJudge(Frozen):
    """The verdicts of a judge on the anchors, and the scores of its run.

    The run is the one in which the judge was adopted. `exact` is true for a judge that gives equal verdicts
    on equal dialogues. `setup` holds the settings, other than judge and assistant, that shape scores.
    `scores` has a key ``DATASET VERSION/SCENARIO`` for each item that could be scored.
    """

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-judge/1"] = Field(default=SCHEMA, alias="schema")
    judge: str
    exact: bool
    anchors: str
    verdicts: dict[Dimension, dict[str, int]]
    assistant: str
    setup: dict[str, str]
    scores: dict[str, Scored] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _on_scale(self) -> AdoptedJudge:
        readings = [(d, s) for d, scores in self.verdicts.items() for s in scores.values()]
        readings += [(d, s) for item in self.scores.values() for d, s in item.scores.items()]
        for dimension, score in readings:
            dimension.check(score)
        return self

    def text(self) -> str:
        """Return the content of the file, with sorted keys."""
        return to_json(self)


def read_adopted(path: Path) -> AdoptedJudge:
    """Return the adopted judge of a file; `DataError` says in one line what is wrong with it."""
    if not path.exists():
        raise DataError(
            path,
            "cannot be read: No such file or directory; write it with --personalens-adopt-judge",
            code="PL201",
        )
    return read_versioned(
        path,
        AdoptedJudge,
        SCHEMA,
        what="a baseline of --personalens-adopt-judge",
        advice="restore it, or adopt the judge again",
    )
