"""Scores by group of users, such as those of one age, and the gap between a group and the rest."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.results.means import estimate, item_scores, scenario_means, scores_of
from pytest_personalens.results.stats.paired import holm
from pytest_personalens.results.values.figures import Slice, SliceFigure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.means import Key
    from pytest_personalens.results.values.item import Item

#: A group with fewer users on either side is not compared: one user would decide.
LEAST_USERS: Final = 3
#: The chance of a significant gap anywhere in a run whose groups do not differ.
LEVEL: Final = 0.05
_DRAWS: Final = 10_000


class Gap(NamedTuple):
    """How much higher the score of a group is than that of the rest, over the tasks that both have.

    `p` is two-sided: the share of random groups of as many users whose gap is at least as large.
    """

    value: float
    p: float
    tasks: int


def slices_of(items: Sequence[Item], suite: Suite) -> tuple[Slice, ...]:
    """Return the figures of each group of users, in the order of the option and of the groups' names.

    A gap is significant if its p passes the procedure of Holm (1979) over all gaps of the run.
    """
    groups = [
        (name, value, [i for i in items if i.slices.get(name) == value])
        for name in dict.fromkeys(name for item in items for name in item.slices)
        for value in sorted({item.slices[name] for item in items if name in item.slices})
    ]
    if not groups:  # nearly all runs
        return ()
    scored = {m: scenario_means(scores_of(items, m)) for m in suite.main}
    gaps = {
        (name, value, measure): gap
        for name, value, own in groups
        for measure in suite.main
        if (gap := gap_of(scored[measure], {i.evaluation.user for i in own})) is not None
    }
    rejected = dict(zip(gaps, holm([gap.p for gap in gaps.values()], LEVEL), strict=True))

    def figures(name: str, value: str, own: Sequence[Item]) -> Iterator[tuple[Measure, SliceFigure]]:
        read = item_scores(own)
        for measure in suite.main:
            e = estimate(read, measure)
            if e.value is None:
                continue
            found: dict[str, float | bool] = {}
            if gap := gaps.get((name, value, measure)):
                found = {"gap": round(gap.value, 6), "p": round(gap.p, 6), "tasks": gap.tasks}
                found["significant"] = rejected[name, value, measure]
            yield measure, SliceFigure(**e.figure(measure.better).model_dump(), **found)

    return tuple(
        Slice(
            demographic=name,
            name=value,
            users=len({i.evaluation.user for i in own}),
            items=len(own),
            scored=sum(i.evaluation.scored for i in own),
            figures={measure.value: figure for measure, figure in figures(name, value, own)},
        )
        for name, value, own in groups
    )


def gap_of(means: Mapping[Key, Fraction], group: Iterable[str]) -> Gap | None:
    """Return the gap between the users of `group` and the others, each task compared with itself.

    `means` holds the mean score of each (user, task). Groups have different tasks, and tasks differ more than
    users do. The gap is therefore the mean over the tasks that both sides have, where a task weighs more if
    more users of both sides have it (the least-squares estimate with an effect for each task). Return None if
    fewer than three users of either side have such a task.

    The test takes the users at random into groups of this size. It keeps each user's scenarios together.
    """
    inside = set(group)
    by_task: defaultdict[str, list[tuple[str, Fraction]]] = defaultdict(list)
    for (user, task, *_), score in means.items():
        by_task[task].append((user, score))
    shared = [
        of_task for of_task in by_task.values() if 0 < sum(u in inside for u, _ in of_task) < len(of_task)
    ]
    users = {user for of_task in shared for user, _ in of_task}
    if min(len(users & inside), len(users - inside)) < LEAST_USERS:
        return None
    total = weights = Fraction()
    beyond: defaultdict[str, Fraction] = defaultdict(Fraction)
    for of_task in shared:
        own = [score for user, score in of_task if user in inside]
        rest = [score for user, score in of_task if user not in inside]
        weight = Fraction(len(own) * len(rest), len(of_task))
        total += weight * (sum(own, Fraction()) / len(own) - sum(rest, Fraction()) / len(rest))
        weights += weight
        mean = (sum(own, Fraction()) + sum(rest, Fraction())) / len(of_task)
        for user, score in of_task:
            beyond[user] += score - mean
    return Gap(float(total / weights), _share_as_large(beyond, users & inside), len(shared))


def largest_gap(slices: Iterable[Slice], measure: Measure) -> tuple[Slice, SliceFigure] | None:
    """Return the group with the largest gap in either direction, or None if none could be compared."""
    compared = [(s, f) for s in slices if (f := s.figures.get(measure.value)) and f.gap is not None]
    return max(compared, key=lambda one: abs(one[1].gap or 0), default=None)


def _share_as_large(beyond: Mapping[str, Fraction], inside: set[str]) -> float:
    """Return the share of random groups whose sum is as far from 0 as that of `inside`.

    The draws count the group itself too (Phipson and Smyth 2010).
    """
    one = lcm(*(value.denominator for value in beyond.values()))
    sums = {user: int(value * one) for user, value in beyond.items()}
    seen, drawn = abs(sum(sums[user] for user in inside)), sorted(sums.values())
    chance = random.Random(repr((len(inside), drawn)))
    hits = sum(abs(sum(chance.sample(drawn, len(inside)))) >= seen for _ in range(_DRAWS))
    return (hits + 1) / (_DRAWS + 1)
