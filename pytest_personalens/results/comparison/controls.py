"""Controls, the same scenarios without the context or with another user's, and trials of each scenario."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.judging.metric import OfSums
from pytest_personalens.results.comparison.pairs import compare_pairs
from pytest_personalens.results.means import answers_of, by_user, pair_means, scores_of, user_sums
from pytest_personalens.results.stats.resampling import bootstrap_interval, swap_test
from pytest_personalens.results.stats.sums import bootstrap_of_sums, swap_of_sums
from pytest_personalens.results.stats.trials import pass_hat, spread
from pytest_personalens.results.summary import by_kind, group
from pytest_personalens.results.values.changes import Arm, PairedChange
from pytest_personalens.results.values.figures import Trials
from pytest_personalens.results.values.item import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.judging.evaluation import Answer
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.metric import Metric, Row
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.means import Key
    from pytest_personalens.results.stats.intervals import Interval


def controls_of(items: Sequence[Item], suite: Suite) -> tuple[Arm, ...]:
    """Return the controls among `items` in the order of their suite, each compared with the run itself."""
    own = [i for i in items if not i.arm]
    members = {arm.name: [i for i in items if i.arm == arm.name] for arm in suite.arms}
    return tuple(
        Arm(
            name=name,
            overall=group(name, control, suite, whole=True),
            kinds=by_kind(control, suite),
            lift=tuple(filter(None, (lift(control, own, measure) for measure in suite.gated))),
        )
        for name, control in members.items()
        if control
    )


def lift(control: Sequence[Item], own: Sequence[Item], measure: Measure) -> PairedChange | None:
    """Return how much better the run itself was than a control, by scenario; None without a score in both.

    `p` is that of a rise, or of a fall if low scores are good.
    """
    pairs = pair_means(scores_of(control, measure), scores_of(own, measure))
    return compare_pairs(measure, pairs, improving=True) if pairs else None


class Gain(NamedTuple):
    """How much better the run itself is than a control in one figure.

    It is over `pairs` scenarios of `users` in both. `low` to `high` is the 95 % interval, and `p` is
    one-sided, for a gain.
    """

    value: float
    low: float | None
    high: float | None
    pairs: int
    users: int
    p: float


def gain_of(metric: Metric, control: Sequence[Item], own: Sequence[Item]) -> Gain | None:
    """Return the gain in any metric; None if the scenarios in both do not determine it."""
    if metric.measure is None:
        return _gain_of_answers(metric, control, own)
    change = lift(control, own, metric.measure)
    return None if change is None else Gain(*change.gain, change.pairs, change.users, change.p)


def _gain_of_answers(metric: Metric, control: Sequence[Item], own: Sequence[Item]) -> Gain | None:
    of, sign = metric.of, 1 if metric.better == "high" else -1
    assert of is not None
    before, after = answers_of(metric, control), answers_of(metric, own)
    both = {
        key: list(zip(before[key], after[key], strict=False)) for key in sorted(before.keys() & after.keys())
    }

    def gain(pairs: Sequence[tuple[Answer, Answer]]) -> float | None:
        was, is_now = of([pair[0] for pair in pairs]), of([pair[1] for pair in pairs])
        return None if was is None or is_now is None else sign * (is_now - was)

    users = [[pair for of_scenario in user for pair in of_scenario] for user in by_user(both)]
    value = gain([pair for pairs in users for pair in pairs]) if users else None
    if value is None:
        return None
    if isinstance(of, OfSums):
        ends, p = _of_sums(of, sign, users)
    else:
        p = swap_test(users, lambda pairs: -math.inf if (gained := gain(pairs)) is None else gained).p
        ends = bootstrap_interval(users, gain, p)
    low, high = ends or (None, None)
    return Gain(value, low, high, len({key[:2] for key in both}), len(users), p)


def _of_sums(
    of: OfSums, sign: int, users: Sequence[Sequence[tuple[Answer, Answer]]]
) -> tuple[Interval | None, float]:
    """Return the interval of a gain in a figure of sums, and its p."""
    before, after = (user_sums(of, [[pair[side] for pair in pairs] for pairs in users]) for side in (0, 1))
    width = len(before[0])

    def gain(sums: Row) -> float | None:
        was, is_now = of.figure(of.used(sums[:width])), of.figure(of.used(sums[width:]))
        return None if was is None or is_now is None else sign * (is_now - was)

    pairs = [(of.used(b), of.used(a)) for b, a in zip(before, after, strict=True)]
    p = swap_of_sums(pairs, of.figure, sign).p
    return bootstrap_of_sums([b + a for b, a in zip(before, after, strict=True)], gain, p), p


def passes_of(items: Sequence[Item]) -> dict[Key, tuple[int, int]]:
    """Return (passed, scored) trials of each scenario in each test, without trials that are "uncounted"."""
    outcomes: defaultdict[Key, list[bool]] = defaultdict(list)
    for item in items:
        if item.status != "uncounted":
            outcomes[item.key].append(item.status == "passed")
    return {key: (sum(passed), len(passed)) for key, passed in outcomes.items()}


def trials_of(items: Sequence[Item], count: int, suite: Suite) -> Trials:
    """Return the results of `count` trials of each scenario."""
    passes = list(passes_of(items).values())
    means = [pass_hat(passes, k) for k in range(1, count + 1)]
    spreads = {measure: spread(list(scores_of(items, measure).values())) for measure in suite.gated}
    return Trials(
        count=count,
        pass_k=tuple(None if mean is None else round(mean, 6) for mean in means),
        spread={measure: round(value, 6) for measure, value in spreads.items() if value is not None},
    )
