"""The anchors, which a judge reads at its adoption and at every later check, and the file of its verdicts."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pydantic import ConfigDict, Field, model_validator

from pytest_personalens.core.errors import BudgetSpent, DataError, NotJudged, PersonalensError
from pytest_personalens.core.files.jsonfile import read_versioned, to_json
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.evaluation import read_dialogue
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.runtime import Threads
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.judge_quality.agreement.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.judge_quality.agreement.labels import Labelled


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
        return to_json(self)


def read_adopted(path: Path) -> AdoptedJudge:
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


#: The readings stop after this many failures in a row: the judge is down, and each further reading would only
#: wait for it.
_GIVE_UP: Final = 3


class Anchors(NamedTuple):
    """The anchor dialogues, and a digest of what a judge may see of them, which are not the labels."""

    dialogues: tuple[Labelled, ...]
    digest: str


class Readings(NamedTuple):
    """The scores by dimension and anchor, the failed readings, and why they `stopped` early, if so.

    `not_judged` is the number of readings that the judge does not give by its own rules.
    """

    verdicts: dict[Dimension, dict[str, int]]
    faults: tuple[str, ...]
    stopped: str
    not_judged: int = 0


def open_anchors(path: Path | None = None) -> Anchors:
    """Return the anchors of a file, or those of the package; raise `DataError` for a bad file."""
    labelled = sorted(read_labels(path or packaged_file("anchors.jsonl")), key=lambda a: a.id)
    # The parts of a goal belong to the embedded agents. A judge sees only the goal.
    hidden = {"task": {"parts"}}
    seen = [
        [a.id, a.scenario.model_dump(mode="json", exclude=hidden), a.dialogue.model_dump(mode="json")]
        for a in labelled
    ]
    return Anchors(
        tuple(labelled), hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:32]
    )


def read_anchors(
    anchors: Anchors, judge: Judge, dimensions: Sequence[Dimension], *, at_once: int = 1
) -> Readings:
    """Return the readings of every anchor, `at_once` at a time; faults and a spent budget are part of it."""
    verdicts: dict[Dimension, dict[str, int]] = {d: {} for d in dimensions}
    faults: list[str] = []
    in_a_row = not_judged = 0
    wanted = [(anchor, dimension) for anchor in anchors.dialogues for dimension in dimensions]
    pool = Threads(at_once)
    try:
        for start in range(0, len(wanted), at_once):
            part = wanted[start : start + at_once]
            under_way = [
                pool.submit(read_dialogue, judge, anchor.scenario, anchor.dialogue, dimension)
                for anchor, dimension in part
            ]
            for (anchor, dimension), reading in zip(part, under_way, strict=True):
                try:
                    verdicts[dimension][anchor.id] = reading.result().score
                    in_a_row = 0
                except NotJudged:
                    not_judged += 1
                except BudgetSpent as spent:
                    return Readings(verdicts, tuple(faults), str(spent))
                except PersonalensError as fault:
                    faults.append(f"{anchor.id} {dimension.short}: {fault}")
                    in_a_row += 1
                if in_a_row == _GIVE_UP:
                    return Readings(verdicts, tuple(faults), faults[-1])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return Readings(verdicts, tuple(faults), "", not_judged)
