"""Figures of some items with their intervals, over scenarios and not over trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.stats.intervals import bootstrap, wilson
from pytest_personalens.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.results import Item


class Estimate(NamedTuple):
    """A mean over `scenarios`, each by its mean over its `dialogues`, and its 95 % interval; all None where nothing is scored."""

    value: float | None
    low: float | None = None
    high: float | None = None
    scenarios: int = 0
    dialogues: int = 0


class Reading(NamedTuple):
    """The scores of a scored item; `key` is its scenario, user and task."""

    key: tuple[str, ...]
    scores: Mapping[Dimension, int]
    turns: tuple[int, ...]


def readings(items: Iterable[Item]) -> list[Reading]:
    """The scored ones among `items`, looked up once for all the figures that they are part of."""
    return [
        Reading(
            item.asked,
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
    scores: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for one in read:
        if dimension in one.scores:
            scores[one.key].append(one.scores[dimension])
    return _over(list(scores.values()), dimension)


def by_turn(read: Iterable[Reading]) -> list[Estimate]:
    """Personalization as it stood after the first, second, ... turn of the assistant, where it was read by turn."""
    turns: list[defaultdict[tuple[str, ...], list[int]]] = []
    for one in read:
        for number, score in enumerate(one.turns):
            if number == len(turns):
                turns.append(defaultdict(list))
            turns[number][one.key].append(score)
    return [_over(list(scores.values()), Dimension.PERSONALIZATION_TURNS) for scores in turns]


def score_counts(read: Iterable[Reading], dimension: Dimension) -> list[int]:
    """How many have each score of the dimension's scale, from its lowest."""
    found = Counter(one.scores.get(dimension) for one in read)
    low, high = dimension.scale
    return [found[score] for score in range(low, high + 1)]


def _over(scenarios: Sequence[Sequence[int]], dimension: Dimension) -> Estimate:
    if not scenarios:
        return Estimate(None)
    dialogues = sum(map(len, scenarios))
    low, high = dimension.scale
    if (low, high) == (0, 1) and dialogues == len(scenarios):
        ends = wilson(sum(map(sum, scenarios)), dialogues)
    else:
        ends = bootstrap([Fraction(sum(s), len(s)) if len(s) > 1 else s[0] for s in scenarios], low, high)
    return Estimate(fmean(sum(s) / len(s) for s in scenarios), *ends, scenarios=len(scenarios), dialogues=dialogues)
