"""The anchors: dialogues that a judge reads at its adoption and at every later check."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import BudgetSpent, NotJudged, PersonalensError
from pytest_personalens.core.judging.evaluation import read_dialogue
from pytest_personalens.core.runtime import Threads
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.judge_quality.agreement.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.judging.verdict import Dimension, Judge
    from pytest_personalens.judge_quality.agreement.labels import Labelled

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
