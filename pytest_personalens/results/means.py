"""The scores of a run by scenario, which counts once by its mean, and by group of users."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from math import lcm
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from pytest_personalens.core.judging.measure import Dimension, total
from pytest_personalens.core.options.gate import LEVEL
from pytest_personalens.core.options.option_table import MANNER
from pytest_personalens.results.stats.intervals import interval
from pytest_personalens.results.stats.paired import bootstrap_of_sums, holm
from pytest_personalens.results.values.figures import Figure, Group, Slice, SliceFigure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.answer import Answer
    from pytest_personalens.core.judging.measure import Better, Exact, Measure, Metric, OfSums, Score
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.values.item import Item


T = TypeVar("T")
#: A scenario in one test, as in `Item.key`: user, task and test.
Key = tuple[str, ...]
#: The scores of the scored trials, in their order; at least one.
TrialScores = tuple["Exact", ...]
#: A scenario (user and task) -> its means before and after.
Pairs = dict[Key, tuple[Fraction, Fraction]]


def scores_of(items: Iterable[Item], dimension: Measure) -> dict[Key, TrialScores]:
    """Return the scores of each scenario in each test, without rounding; none without a score."""
    read = ((i.key, i.trial, i.evaluation.score(dimension)) for i in items if i.evaluation.scored)
    return in_order(dimension, read)


def in_order(dimension: Measure, read: Iterable[tuple[Key, int, Score | None]]) -> dict[Key, TrialScores]:
    """Return the exact scores by key, in the order of their trials, of (key, trial, score)."""
    scores: defaultdict[Key, dict[int, Exact]] = defaultdict(dict)
    for key, trial, score in read:
        if score is not None:
            scores[key][trial] = dimension.exact(score)
    return {key: tuple(score for _, score in sorted(trials.items())) for key, trials in scores.items()}


def _scenario_means(scores: Mapping[Key, Sequence[Exact]]) -> dict[Key, Fraction]:
    """Return the mean of each scenario over its tests, where each test counts by the mean of its trials."""
    by_scenario = _by_scenario({key: mean(trials) for key, trials in scores.items()})
    return {scenario: mean(means) for scenario, means in by_scenario.items()}


def pair_means(before: Mapping[Key, TrialScores], after: Mapping[Key, TrialScores]) -> Pairs:
    """Return the means of the scenarios in both runs, over the same tests and equally many trials.

    A mean over fewer trials varies more. The paired test assumes that without a change, each difference could
    as well have the other sign, which holds only if both means vary in the same way. Several tests of one
    scenario do not count as several scenarios.
    """
    sides = {}
    for key in sorted(before.keys() & after.keys()):
        trials = min(len(before[key]), len(after[key]))
        sides[key] = (mean(before[key][:trials]), mean(after[key][:trials]))
    return {
        scenario: (mean([b for b, _ in by_test]), mean([a for _, a in by_test]))
        for scenario, by_test in _by_scenario(sides).items()
    }


def mean(scores: Sequence[Exact]) -> Fraction:
    return Fraction(sum(scores)) / len(scores)


def _by_scenario(by_key: Mapping[Key, T]) -> dict[Key, list[T]]:
    scenarios: defaultdict[Key, list[T]] = defaultdict(list)
    for key, value in by_key.items():
        scenarios[key[:2]].append(value)
    return scenarios


def by_user(values: Mapping[Key, T]) -> list[list[T]]:
    """Return the values of each user's scenarios, which depend on each other; different users do not."""
    users: defaultdict[str, list[T]] = defaultdict(list)
    for key, value in values.items():
        users[key[0]].append(value)
    return list(users.values())


class Estimate(NamedTuple):
    """A mean over `scenarios` of `users`, with its 95 % interval, which is None for fewer than three users.

    Each scenario counts by its mean over its `dialogues`. The mean is None if nothing has a score.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    scenarios: int = 0
    dialogues: int = 0
    users: int = 0

    def figure(self, better: Better) -> Figure:
        """Return the estimate as a figure, rounded: the last bits of a sum may depend on the platform."""
        value, low, high = (None if x is None else round(x, 6) for x in self[:3])
        return Figure(value=value, count=self.dialogues, low=low, high=high, better=better)


def estimate(items: Iterable[Item], dimension: Measure, *, ends: bool = True) -> Estimate:
    """Return the mean score on `dimension`, with its interval unless not `ends`, which takes time.

    The trials of a scenario are not independent of each other, and neither are the scenarios of a user. The
    interval is therefore one over users, and each scenario counts by its mean.
    """
    return _estimate_over(scores_of(items, dimension), dimension, ends=ends)


def by_turn(items: Iterable[Item], *, ends: bool = True) -> list[Estimate]:
    """Return personalization after the first, second, ... turn, over the dialogues with a reading by turn.

    The reply to the user's goodbye is left out: the score would be lower because of the user's opinion on the
    turn before.
    """
    turns: list[defaultdict[Key, list[Exact]]] = []
    for item in (item for item in items if item.evaluation.scored):
        scores = next((v.turns for v in item.evaluation.verdicts if v.turns), ())
        ended = item.evaluation.dialogue.end in ("user", "unserved")
        for number, score in enumerate(scores[:-1] if ended else scores):
            if number == len(turns):
                turns.append(defaultdict(list))
            turns[number][item.key].append(int(score))
    return [_estimate_over(scores, Dimension.PERSONALIZATION_TURNS, ends=ends) for scores in turns]


def figure_of(metric: Metric, items: Sequence[Item], *, ends: bool = True) -> Estimate:
    """Return the value of a metric: the mean of its measure, or its own figure of the answers."""
    if metric.measure is not None:
        return estimate(items, metric.measure, ends=ends)
    of, answers = metric.of, answers_of(metric, items)
    assert of is not None
    every = [answer for of_scenario in answers.values() for answer in of_scenario]
    value = of(every) if every else None
    if value is None:
        return Estimate(None, dialogues=len(every))
    users = [[a for of_scenario in user for a in of_scenario] for user in by_user(answers)]
    found = bootstrap_of_sums([of.used(sums) for sums in user_sums(of, users)], of.figure) if ends else None
    low, high = found or (None, None)
    return Estimate(value, low, high, len({key[:2] for key in answers}), len(every), len(users))


def user_sums(of: OfSums, users: Sequence[Sequence[Answer]]) -> list[tuple[Exact, ...]]:
    rows = iter(of.rows([answer for answers in users for answer in answers]))
    return [total([next(rows) for _ in answers]) for answers in users]


def answers_of(metric: Metric, items: Iterable[Item]) -> dict[Key, list[Answer]]:
    """Return the answers for a metric by scenario and test, of all trials in their order."""
    answers: defaultdict[Key, list[Answer]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.trial):
        answer, kind = item.evaluation.answer, item.evaluation.kind
        if answer is None or (answer.value is None and not metric.counts_unread):
            continue
        if not metric.kinds or kind in metric.kinds:
            answers[item.key].append(answer)
    return dict(answers)


def _estimate_over(
    scores: Mapping[Key, Sequence[Exact]], dimension: Measure, *, ends: bool = True
) -> Estimate:
    if not scores:
        return Estimate(None)
    dialogues = sum(map(len, scores.values()))
    single = dialogues == len({key[:2] for key in scores})
    means: Mapping[Key, Exact] = (
        {key: score for key, (score,) in scores.items()} if single else _scenario_means(scores)
    )
    users = by_user(means)
    found = interval(users, dimension.low, dimension.high, dimension.grid) if ends else None
    low, high = found or (None, None)
    return Estimate(fmean(means.values()), low, high, len(means), dialogues, len(users))


def group(name: str, items: Sequence[Item], suite: Suite, *, whole: bool = False) -> Group:
    """Return the figures of some items; only a `whole` run or control gets intervals, which take time."""
    found = {m.value: (estimate(items, m, ends=whole), m.better) for m in suite.measures}
    found |= {m.name: (figure_of(m, items, ends=whole), m.better) for m in suite.metrics if m.of is not None}
    figures = {name: e.figure(better) for name, (e, better) in found.items() if e.dialogues}
    return Group(name=name, items=len(items), scored=sum(i.evaluation.scored for i in items), figures=figures)


def by_kind(items: Sequence[Item], suite: Suite) -> tuple[Group, ...]:
    present = {i.evaluation.kind for i in items}
    kinds = [kind for kind in suite.kinds if kind in present]
    return tuple(group(k, [i for i in items if i.evaluation.kind == k], suite) for k in kinds)


#: A group with fewer users on either side is not compared: one user would decide.
LEAST_USERS: Final = 3
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
    scored = {m: _scenario_means(scores_of(items, m)) for m in suite.main} if groups else {}
    gaps = {
        (name, value, measure): gap
        for name, value, own in groups
        if name != MANNER  # a user may have scenarios in several manners
        for measure, means in scored.items()
        if (gap := gap_of(means, {i.evaluation.user for i in own})) is not None
    }
    corrected = dict(zip(gaps, holm([gap.p for gap in gaps.values()]), strict=True))

    def figure(estimate: Estimate, name: str, value: str, measure: Measure) -> SliceFigure:
        found: dict[str, Any] = estimate.figure(measure.better).model_dump()
        if gap := gaps.get(one := (name, value, measure)):
            found |= {"gap": round(gap.value, 6), "p": round(gap.p, 6), "tasks": gap.tasks}
            found["significant"] = corrected[one] <= LEVEL
        return SliceFigure(**found)

    return tuple(
        Slice(
            demographic=name,
            name=value,
            users=len({i.evaluation.user for i in own}),
            items=len(own),
            scored=sum(i.evaluation.scored for i in own),
            figures={
                measure.value: figure(found, name, value, measure)
                for measure in suite.main
                if (found := estimate(own, measure)).value is not None
            },
        )
        for name, value, own in groups
    )


def gap_of(means: Mapping[Key, Fraction], group: set[str]) -> Gap | None:
    """Return the gap between the users of `group` and the others, each task compared with itself.

    `means` holds the mean score of each (user, task). Groups have different tasks, and tasks differ more than
    users do. The gap is therefore the mean over the tasks that both sides have, where a task weighs more if
    more users of both sides have it (the least-squares estimate with an effect for each task). Return None if
    fewer than three users of either side have such a task.

    The test takes the users at random into groups of this size, 10,000 times and once as they are (Phipson
    and Smyth 2010). It keeps each user's scenarios together.
    """
    by_task: defaultdict[str, list[tuple[str, Fraction]]] = defaultdict(list)
    for (user, task, *_), score in means.items():
        by_task[task].append((user, score))
    shared = [
        of_task for of_task in by_task.values() if 0 < sum(u in group for u, _ in of_task) < len(of_task)
    ]
    beyond: defaultdict[str, Fraction] = defaultdict(Fraction)
    weights = Fraction()
    for of_task in shared:
        own = sum(user in group for user, _ in of_task)
        weights += Fraction(own * (len(of_task) - own), len(of_task))
        middle = mean([score for _, score in of_task])
        for user, score in of_task:
            beyond[user] += score - middle
    inside = beyond.keys() & group
    if min(len(inside), len(beyond) - len(inside)) < LEAST_USERS:
        return None
    one = lcm(*(value.denominator for value in beyond.values()))
    drawn = sorted(int(value * one) for value in beyond.values())
    seen = int(sum(beyond[user] for user in inside) * one)
    chance = random.Random(repr((len(inside), drawn)))
    hits = sum(abs(sum(chance.sample(drawn, len(inside)))) >= abs(seen) for _ in range(_DRAWS))
    return Gap(float(Fraction(seen, one) / weights), (hits + 1) / (_DRAWS + 1), len(shared))


def largest_gap(slices: Iterable[Slice], measure: Measure) -> tuple[Slice, SliceFigure] | None:
    """Return the group with the largest gap in either direction, or None if none could be compared."""
    compared = [(s, f) for s in slices if (f := s.figures.get(measure.value)) and f.gap is not None]
    return max(compared, key=lambda one: abs(one[1].gap or 0), default=None)
