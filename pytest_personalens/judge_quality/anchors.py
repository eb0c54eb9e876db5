"""The anchors: dialogues that a judge reads when it is adopted and again whenever it is checked."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import BudgetSpent, PersonalensError
from pytest_personalens.core.evaluation import read_dialogue
from pytest_personalens.core.threads import Threads
from pytest_personalens.datasets.embedded import data_folder
from pytest_personalens.judge_quality.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.verdict import Dimension, Judge
    from pytest_personalens.judge_quality.labels import Labelled

#: A judge that fails this often in a row is down: each further reading would only wait for it.
_GIVE_UP: Final = 3


class Anchors(NamedTuple):
    """Dialogues, and a digest of all that a judge may see of them; labels are no part of it."""

    dialogues: tuple[Labelled, ...]
    digest: str


class Readings(NamedTuple):
    """Dimension -> anchor -> score; what could not be read, and why; and why it ended early, if it did."""

    verdicts: dict[Dimension, dict[str, int]]
    faults: tuple[str, ...]
    stopped: str


def open_anchors(path: Path | None = None) -> Anchors:
    """The anchors in a file of labelled dialogues, or those of the package. Raises `DataError`."""
    found = sorted(read_labels(path or data_folder() / "agreement" / "anchors.jsonl"), key=lambda a: a.id)
    # The parts of a goal are how we read it; a judge is shown the goal.
    hidden = {"task": {"parts"}}
    seen = [
        [a.id, a.scenario.model_dump(mode="json", exclude=hidden), a.dialogue.model_dump(mode="json")]
        for a in found
    ]
    return Anchors(tuple(found), hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:32])


def read_anchors(
    anchors: Anchors, judge: Judge, dimensions: Sequence[Dimension], *, at_once: int = 1
) -> Readings:
    """Have `judge` read every anchor on every dimension, `at_once` at a time.

    Faults and a spent budget are told, never raised.
    """
    verdicts: dict[Dimension, dict[str, int]] = {d: {} for d in dimensions}
    faults: list[str] = []
    in_a_row = 0
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
                except BudgetSpent as spent:
                    return Readings(verdicts, tuple(faults), str(spent))
                except PersonalensError as fault:
                    faults.append(f"{anchor.id} {dimension.short}: {fault}")
                    in_a_row += 1
                if in_a_row == _GIVE_UP:
                    return Readings(verdicts, tuple(faults), faults[-1])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return Readings(verdicts, tuple(faults), "")
