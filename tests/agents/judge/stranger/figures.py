"""How the embedded judge reads the stranger's assistants over the thirty scenarios."""

from __future__ import annotations

from functools import cache
from statistics import mean
from typing import Final, NamedTuple

from pytest_personalens import Dimension, Evaluation, evaluate
from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.agents.judge.stranger.assistants import plain

SIZE: Final = 30
SEED: Final = "stranger"
TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
#: What each assistant was written to deserve. P of the bad one is open: some use what they know to do the
#: wrong thing.
DESERVED: Final[dict[str, dict[Dimension, tuple[int, ...]]]] = {
    "good": {TC: (1,), P: (3, 4)},
    "impersonal": {TC: (1,), P: (1, 2)},
    "bad": {TC: (0,), P: (1, 2, 3, 4)},
}


class Figures(NamedTuple):
    """Means and shares over the scenarios, 0 to 1 but for `p`."""

    tcr: float
    tc_right: float
    p: float
    p_right: float
    fours: float


@cache
def evaluations(assistant: str) -> dict[str, Evaluation]:
    """Scenario id -> its evaluation with that assistant."""
    dataset = EmbeddedDataset()
    scenarios = [dataset.load(ref) for ref in draw(dataset, SIZE, seed=SEED).refs]
    return {
        s.id: evaluate(s, plain(assistant, s.id), EmbeddedUserAgent(), EmbeddedJudge()) for s in scenarios
    }


def figures(assistant: str) -> Figures:
    """The figures of the assistant."""
    scores = {d: scores_of(assistant, d) for d in (TC, P)}
    right = {d: mean(score in DESERVED[assistant][d] for score in scores[d]) for d in (TC, P)}
    return Figures(
        mean(scores[TC]), right[TC], mean(scores[P]), right[P], mean(score == 4 for score in scores[P])
    )


def scores_of(assistant: str, dimension: Dimension) -> list[int]:
    """The assistant's scores on the dimension, one for each scenario."""
    found = [evaluation.score(dimension) for evaluation in evaluations(assistant).values()]
    assert None not in found, f"{assistant}: not every dialogue could be read on {dimension.short}"
    return [int(score) for score in found if score is not None]
