"""Figures of some items with their intervals, over scenarios and not over trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.verdict import Dimension
from pytest_personalens.results.means import scenario_means, scores_by_turn
from pytest_personalens.results.stats.intervals import bootstrap, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from pytest_personalens.results.means import Key
    from pytest_personalens.results.values import Item


class Estimate(NamedTuple):
    """A mean over `scenarios`, each by its mean over its `dialogues`, and its 95 % interval; all None where nothing is scored."""

    value: float | None
    low: float | None = None
    high: float | None = None
    scenarios: int = 0
    dialogues: int = 0


class Reading(NamedTuple):
    """The scores of a scored item."""

    key: Key
    scores: Mapping[Dimension, int]
    turns: tuple[int, ...]


def readings(items: Iterable[Item]) -> list[Reading]:
    """The scored ones among `items`, looked up once for all the figures that they are part of."""
    return [
        Reading(
            item.key,
            {v.dimension: v.score for v in item.evaluation.verdicts},
            next((v.turns for v in item.evaluation.verdicts if v.turns), ()),
        )
        for item in items
        if item.evaluation.scored
    ]


def estimate(read: Iterable[Reading], dimension: Dimension) -> Estimate:
    """The mean score on `dimension`.

    Trials of a scenario are no more independent than its sentences are: the interval is one over scenarios, by Wilson for a
    rate of single trials, else by the bootstrap of their means.
    """
    scores: defaultdict[Key, list[int]] = defaultdict(list)
    for one in read:
        if dimension in one.scores:
            scores[one.key].append(one.scores[dimension])
    return _over(scores, dimension)


def by_turn(read: Iterable[Reading]) -> list[Estimate]:
    """Personalization as it stood after the first, second, ... turn of the assistant, where it was read by turn."""
    turns = scores_by_turn((one.key, one.turns) for one in read)
    return [_over(scores, Dimension.PERSONALIZATION_TURNS) for scores in turns]


def score_counts(read: Iterable[Reading], dimension: Dimension) -> list[int]:
    """How many have each score of the dimension's scale, from its lowest."""
    found = Counter(one.scores.get(dimension) for one in read)
    low, high = dimension.scale
    return [found[score] for score in range(low, high + 1)]


def _over(scores: Mapping[Key, Sequence[int]], dimension: Dimension) -> Estimate:
    if not scores:
        return Estimate(None)
    dialogues, (low, high) = sum(map(len, scores.values())), dimension.scale
    if single := dialogues == len({key[:2] for key in scores}):
        means: Sequence[Fraction | int] = [score for (score,) in scores.values()]
    else:
        means = list(scenario_means(scores).values())
    ends = wilson(float(sum(means)), dialogues) if single and (low, high) == (0, 1) else bootstrap(means, low, high)
    return Estimate(fmean(means), *ends, scenarios=len(means), dialogues=dialogues)
