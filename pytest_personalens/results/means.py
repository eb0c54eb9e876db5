"""The scores of a run by scenario.

Each scenario counts once, by its mean, for any number of trials and tests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.metric import OfSums, total
from pytest_personalens.results.stats.intervals import interval
from pytest_personalens.results.stats.resampling import bootstrap_interval
from pytest_personalens.results.stats.sums import bootstrap_of_sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Answer
    from pytest_personalens.core.judging.measure import Exact, Measure, Score
    from pytest_personalens.core.judging.metric import Metric, Row
    from pytest_personalens.results.values.item import Item


T = TypeVar("T")
#: A scenario in one test, as in `Item.key`: user, task and test.
Key = tuple[str, ...]
#: The scores of the scored trials, in their order; at least one.
TrialScores = tuple["Exact", ...]
#: A scenario (user and task) -> its means before and after.
Pairs = dict[Key, tuple[Fraction, Fraction]]


def scores_of(items: Iterable[Item], dimension: Measure) -> dict[Key, TrialScores]:
    """Return the scores of each scenario in each test, without rounding.

    Only scenarios with a score are included.
    """
    scores: defaultdict[Key, dict[int, Exact]] = defaultdict(dict)
    for item in items:
        score = item.evaluation.score(dimension) if item.evaluation.scored else None
        if score is not None:
            scores[item.key][item.trial] = dimension.exact(score)
    return {key: tuple(score for _, score in sorted(trials.items())) for key, trials in scores.items()}


def scores_by_turn(read: Iterable[tuple[Key, Sequence[Exact]]]) -> list[dict[Key, list[Exact]]]:
    """Return the scores after the first, second, ... turn.

    `read` gives the scores of each dialogue, turn by turn.
    """
    turns: list[defaultdict[Key, list[Exact]]] = []
    for key, scores in read:
        for number, score in enumerate(scores):
            if number == len(turns):
                turns.append(defaultdict(list))
            turns[number][key].append(score)
    return [dict(scores) for scores in turns]


def scenario_means(scores: Mapping[Key, Sequence[Exact]]) -> dict[Key, Fraction]:
    """Return the mean of each scenario.

    It is the mean over the scenario's tests, and each test counts by the mean of its trials.
    """
    return {
        scenario: sum(means, Fraction()) / len(means)
        for scenario, means in _by_scenario({k: mean(s) for k, s in scores.items()}).items()
    }


def pair_means(before: Mapping[Key, TrialScores], after: Mapping[Key, TrialScores]) -> Pairs:
    """Return the means of the scenarios in both runs, over equal tests and trials.

    Both sides use the same tests and the same number of trials, because a mean over fewer trials varies more.
    The paired test assumes that without a change, each difference could as well have the other sign. That
    holds only if both means vary in the same way. Several tests of one scenario do not count as several
    scenarios.
    """
    sides = {}
    for key in sorted(before.keys() & after.keys()):
        trials = min(len(before[key]), len(after[key]))
        sides[key] = (mean(before[key][:trials]), mean(after[key][:trials]))
    return {
        scenario: (
            sum((b for b, _ in by_test), Fraction()) / len(by_test),
            sum((a for _, a in by_test), Fraction()) / len(by_test),
        )
        for scenario, by_test in _by_scenario(sides).items()
    }


def mean(scores: Sequence[Exact]) -> Fraction:
    """Return the mean of some scores."""
    return Fraction(sum(scores)) / len(scores)


def _by_scenario(by_key: Mapping[Key, T]) -> dict[Key, list[T]]:
    scenarios: defaultdict[Key, list[T]] = defaultdict(list)
    for key, value in by_key.items():
        scenarios[key[:2]].append(value)
    return scenarios


def by_user(values: Mapping[Key, T]) -> list[list[T]]:
    """Return the values of each user's scenarios.

    The scenarios of one user are not independent of each other; different users are.
    """
    users: defaultdict[str, list[T]] = defaultdict(list)
    for key, value in values.items():
        users[key[0]].append(value)
    return list(users.values())


class Estimate(NamedTuple):
    """A mean over `scenarios` of `users`, with its 95 % interval.

    Each scenario counts by its mean over its `dialogues`. The mean is None if nothing has a score. The
    interval is None for fewer than three users.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    scenarios: int = 0
    dialogues: int = 0
    users: int = 0


class ItemScores(NamedTuple):
    """The scores of a scored item.

    `turns` holds P after each turn of the assistant, without its reply to the user's goodbye.
    """

    key: Key
    scores: Mapping[Measure, Score]
    turns: tuple[int, ...]


def item_scores(items: Iterable[Item]) -> list[ItemScores]:
    """Return the scores of the scored items.

    The function reads each item once for all figures.
    """
    return [
        ItemScores(
            item.key,
            {v.dimension: v.score for v in item.evaluation.verdicts},
            _turns(item),
        )
        for item in items
        if item.evaluation.scored
    ]


def _turns(item: Item) -> tuple[int, ...]:
    """Return P turn by turn.

    The reply to a goodbye is left out. Its score would be lower because of the user's opinion on the turn
    before.
    """
    turns = next((v.turns for v in item.evaluation.verdicts if v.turns), ())
    own = turns[:-1] if item.evaluation.dialogue.end == "user" else turns
    return tuple(map(int, own))


def estimate(read: Iterable[ItemScores], dimension: Measure) -> Estimate:
    """Return the mean score on `dimension`.

    The trials of a scenario are not independent of each other, and neither are the scenarios of a user. The
    interval is therefore one over users, and each scenario counts by its mean.
    """
    scores: defaultdict[Key, list[Exact]] = defaultdict(list)
    for one in read:
        if dimension in one.scores:
            scores[one.key].append(dimension.exact(one.scores[dimension]))
    return _over(scores, dimension)


def by_turn(
    read: Iterable[ItemScores], dimension: Measure = Dimension.PERSONALIZATION_TURNS
) -> list[Estimate]:
    """Return personalization after the first, second, ... turn of the assistant.

    It covers the dialogues with a reading by turn.
    """
    turns = scores_by_turn((one.key, one.turns) for one in read)
    return [_over(scores, dimension) for scores in turns]


def figure_of(metric: Metric, items: Sequence[Item]) -> Estimate:
    """Return the value of a metric over some items.

    It is the mean of its measure, or the metric's own figure of their answers.
    """
    if metric.measure is not None:
        return estimate(item_scores(items), metric.measure)
    assert metric.of is not None
    answers = answers_of(metric, items)
    every = [answer for of_scenario in answers.values() for answer in of_scenario]
    value = metric.of(every) if every else None
    if value is None:
        return Estimate(None, dialogues=len(every))
    users = [[a for of_scenario in user for a in of_scenario] for user in by_user(answers)]
    if isinstance(of := metric.of, OfSums):
        ends = bootstrap_of_sums(user_sums(of, users), lambda sums: of.figure(of.used(sums)))
    else:
        ends = bootstrap_interval(users, of)
    low, high = ends or (None, None)
    return Estimate(value, low, high, len({key[:2] for key in answers}), len(every), len(users))


def user_sums(of: OfSums, users: Sequence[Sequence[Answer]]) -> list[Row]:
    """Return the sums over the answers of each user."""
    rows = iter(of.rows([answer for answers in users for answer in answers]))
    return [total([next(rows) for _ in answers]) for answers in users]


def answers_of(metric: Metric, items: Iterable[Item]) -> dict[Key, list[Answer]]:
    """Return the answers for a metric, by scenario and test.

    They come from all trials, in their order.
    """
    answers: defaultdict[Key, list[Answer]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.trial):
        answer, kind = item.evaluation.answer, item.evaluation.kind
        if answer is None or (answer.value is None and not metric.counts_unread):
            continue
        if not metric.kinds or kind in metric.kinds:
            answers[item.key].append(answer)
    return dict(answers)


def score_counts(read: Iterable[ItemScores], dimension: Measure) -> list[int]:
    """Return the number of items with each score of the dimension's scale.

    The lowest score comes first.
    """
    counts = Counter(one.scores.get(dimension) for one in read)
    low, high = int(dimension.low or 0), int(dimension.high or 0)
    return [counts[score] for score in range(low, high + 1)]


def _over(scores: Mapping[Key, Sequence[Exact]], dimension: Measure) -> Estimate:
    if not scores:
        return Estimate(None)
    dialogues = sum(map(len, scores.values()))
    single = dialogues == len({key[:2] for key in scores})
    means: Mapping[Key, Exact] = (
        {key: score for key, (score,) in scores.items()} if single else scenario_means(scores)
    )
    users = by_user(means)
    least, most = interval(users, dimension.low, dimension.high, dimension.grid) or (None, None)
    return Estimate(fmean(means.values()), least, most, len(means), dialogues, len(users))
