"""The scores of a run by scenario: it is the scenario that counts, by its mean, however many trials and tests ran it."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.verdict import Dimension
    from pytest_personalens.results.values import Item

T = TypeVar("T")
#: A scenario in one test: `Item.key`, user, task and test.
Key = tuple[str, ...]
#: Scores of the scored trials, in their order; at least one.
Scores = tuple[int, ...]
#: A scenario (user and task) -> its means before and after.
Pairs = dict[Key, tuple[Fraction, Fraction]]


def scores_of(items: Iterable[Item], dimension: Dimension) -> dict[Key, Scores]:
    """The scores of each scenario in each test that has one."""
    found: defaultdict[Key, dict[int, int]] = defaultdict(dict)
    for item in items:
        score = item.evaluation.score(dimension) if item.evaluation.scored else None
        if score is not None:
            found[item.key][item.trial] = score
    return {key: tuple(score for _, score in sorted(trials.items())) for key, trials in found.items()}


def scores_by_turn(read: Iterable[tuple[Key, Sequence[int]]]) -> list[dict[Key, list[int]]]:
    """The scores after the first, second, ... turn, from those of dialogues turn by turn."""
    turns: list[defaultdict[Key, list[int]]] = []
    for key, scores in read:
        for number, score in enumerate(scores):
            if number == len(turns):
                turns.append(defaultdict(list))
            turns[number][key].append(score)
    return [dict(scores) for scores in turns]


def scenario_means(scores: Mapping[Key, Sequence[int]]) -> dict[Key, Fraction]:
    """The mean of each scenario: over its tests, of the means over their trials."""
    return {
        scenario: sum(means, Fraction()) / len(means) for scenario, means in _by_scenario({k: mean(s) for k, s in scores.items()}).items()
    }


def balanced(before: Mapping[Key, Scores], after: Mapping[Key, Scores]) -> Pairs:
    """The means of the scenarios that are in both, over the same tests and as many trials on either side.

    A mean over fewer trials varies more. Had nothing changed, a difference could as well have had the other sign only if both
    of its means vary alike, and that is what the paired test rests on. Tests of one scenario are no further scenarios.
    """
    sides = {}
    for key in sorted(before.keys() & after.keys()):
        trials = min(len(before[key]), len(after[key]))
        sides[key] = (mean(before[key][:trials]), mean(after[key][:trials]))
    return {
        scenario: (sum((b for b, _ in found), Fraction()) / len(found), sum((a for _, a in found), Fraction()) / len(found))
        for scenario, found in _by_scenario(sides).items()
    }


def mean(scores: Sequence[int]) -> Fraction:
    """The mean of some scores."""
    return Fraction(sum(scores), len(scores))


def _by_scenario(found: Mapping[Key, T]) -> dict[Key, list[T]]:
    scenarios: defaultdict[Key, list[T]] = defaultdict(list)
    for key, value in found.items():
        scenarios[key[:2]].append(value)
    return scenarios
