"""Cross-validates the training of the embedded judge.

``personalens train LABELS.jsonl... --write FOLDER`` (with scikit-learn installed) learns
tables of weights from labelled dialogues and statements, and writes them. Without ``--write`` it
cross-validates by scenario: it prints how well judges agree with the labels if they are trained without the
scenario.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.judge_quality.training.examples import Example
from pytest_personalens.judge_quality.training.fitting import Tagged, fold_of, predict, train

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDS: Final = 4

Scores = dict[Dimension, int]


def cross_validate(
    chosen: Sequence[Example], statements: Sequence[Tagged] = ()
) -> list[tuple[Scores, Scores]]:
    """Return two sets of scores for each example, by a judge trained without its scenario.

    The first set is for its own profile, the second for the profile of another user.
    """
    scores: list[Any] = [None] * len(chosen)
    with ProcessPoolExecutor(mp_context=get_context(start_method(sys.platform))) as pool:
        for part in pool.map(_held_out, [(chosen, statements, k) for k in range(FOLDS)]):
            for i, both in part:
                scores[i] = both
    return scores


def start_method(platform: str) -> str:
    """Return how `multiprocessing` starts a process on a platform, named as in `sys.platform`.

    A fork shares the data that is already read. Windows has no forks, and on macOS they can crash.
    """
    return "fork" if platform == "linux" else "spawn"


def _held_out(
    work: tuple[Sequence[Example], Sequence[Tagged], int],
) -> list[tuple[int, tuple[Scores, Scores]]]:
    chosen, statements, k = work
    outside = [i for i, e in enumerate(chosen) if fold_of(e.labelled.group, FOLDS) == k]
    trained = train([e for i, e in enumerate(chosen) if i not in set(outside)], statements)
    return [(i, (predict(trained, chosen[i]), predict(trained, chosen[i], other_user=True))) for i in outside]
