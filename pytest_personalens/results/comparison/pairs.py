"""Pairs of scores of two runs, and the controls of a run as pairs: changes, lifts and their tests."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import comb, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.measure import total
from pytest_personalens.results.means import (
    answers_of,
    by_kind,
    by_user,
    group,
    pair_means,
    scores_of,
    user_sums,
)
from pytest_personalens.results.stats.intervals import mean_interval
from pytest_personalens.results.stats.paired import bootstrap_of_sums, flip_interval, sign_flip, swap_of_sums
from pytest_personalens.results.values.figures import ControlFigures, PairedChange, Trials
from pytest_personalens.results.values.item import Item

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.core.judging.measure import Measure, Metric, Row
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.means import Key, Pairs

#: Figures are rounded to as many places.
PLACES: Final = 6
#: The share beyond each end of an interval of 95 %.
OUTSIDE: Final = 0.025


def compare_pairs(
    measure: Measure, pairs: Pairs, *, improving: bool = False, outside: float = OUTSIDE
) -> PairedChange:
    """Return at least one pair of means (before, after) as a comparison.

    `p` is that of a change for the worse, or of one for the better if `improving`. The interval leaves the
    share `outside` beyond each end, and excludes no change exactly where p is larger.
    """
    changes, span = changes_in(pairs), measure.span
    every = [change for of_user in changes for change in of_user]
    # Positive where the change is the one that is tested for.
    way = measure.sign if improving else -measure.sign
    tested = [[way * change for change in of_user] for of_user in changes]
    p = sign_flip([-sum(of_user, Fraction()) for of_user in tested])
    ends = mean_interval(changes, None if span is None else -span, span, grid=measure.grid)
    if (found := flip_interval(tested, p, outside)) is not None:
        # By the same test as p, so that they never contradict each other.
        ends = found if way > 0 else (-found[1], -found[0])
    low, high = ends or (None, None)
    return PairedChange(
        dimension=measure,
        pairs=len(pairs),
        users=len(changes),
        before=round(fmean(before for before, _ in pairs.values()), PLACES),
        after=round(fmean(after for _, after in pairs.values()), PLACES),
        change=round(fmean(every), PLACES),
        low=None if low is None else round(low, PLACES),
        high=None if high is None else round(high, PLACES),
        better=sum(measure.sign * change > 0 for change in every),
        worse=sum(measure.sign * change < 0 for change in every),
        p=round(p, PLACES),
    )


def changes_in(pairs: Pairs) -> list[list[Fraction]]:
    """Return after - before of each user's scenarios."""
    return by_user({scenario: after - before for scenario, (before, after) in pairs.items()})


def controls_of(items: Sequence[Item], suite: Suite) -> tuple[ControlFigures, ...]:
    """Return the controls among `items` in the order of their suite, each compared with the run itself."""
    own = [i for i in items if not i.control]
    members = {control.name: [i for i in items if i.control == control.name] for control in suite.controls}
    return tuple(
        ControlFigures(
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
    if metric.measure is not None:
        change = lift(control, own, metric.measure)
        return None if change is None else Gain(*change.gain, change.pairs, change.users, change.p)
    of, sign = metric.of, 1 if metric.better == "high" else -1
    assert of is not None
    was, is_now = answers_of(metric, control), answers_of(metric, own)
    both = {key: list(zip(was[key], is_now[key], strict=False)) for key in sorted(was.keys() & is_now)}
    users = [[pair for of_scenario in user for pair in of_scenario] for user in by_user(both)]
    before, after = (user_sums(of, [[pair[side] for pair in pairs] for pairs in users]) for side in (0, 1))
    width = len(before[0]) if before else 0

    def gain(sums: Row) -> float | None:
        then, now = of.figure(of.used(sums[:width])), of.figure(of.used(sums[width:]))
        return None if then is None or now is None else sign * (now - then)

    rows = [b + a for b, a in zip(before, after, strict=True)]
    value = gain(total(rows)) if rows else None
    if value is None:
        return None
    sides = sorted((of.used(b), of.used(a)) for b, a in zip(before, after, strict=True))
    p = swap_of_sums(tuple(sides), of.figure, sign)
    low, high = bootstrap_of_sums(rows, gain, p) or (None, None)
    return Gain(value, low, high, len({key[:2] for key in both}), len(users), p)


def passes_of(items: Sequence[Item]) -> dict[Key, tuple[int, int]]:
    """Return (passed, scored) trials of each scenario in each test, without trials that are "uncounted"."""
    outcomes: defaultdict[Key, list[bool]] = defaultdict(list)
    for item in items:
        if item.status != "uncounted":
            outcomes[item.key].append(item.status == "passed")
    return {key: (sum(passed), len(passed)) for key, passed in outcomes.items()}


def pass_share(passed: int, trials: int, k: int) -> float:
    """Return the share of choices of `k` trials in which all passed, of at least k `trials`: 0 to 1."""
    return comb(passed, k) / comb(trials, k)


def pass_hat(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """Return pass^k, the mean probability that `k` trials all pass, 0 to 1 (tau-bench, Yao et al. 2024).

    `counts` holds (passed, trials) of each scenario. The estimate takes k of a scenario's trials in every
    possible way, which makes it unbiased. Scenarios with fewer than k trials are left out; None if no
    scenario is left.

    >>> pass_hat([(3, 4), (4, 4)], 2)
    0.75
    """
    shares = [pass_share(passed, trials, k) for passed, trials in counts if trials >= k]
    return fmean(shares) if shares else None


def spread(scores: Iterable[Sequence[float | Fraction]]) -> float | None:
    """Return the pooled standard deviation of a score within scenarios, in steps of the scale.

    `scores` holds the scores of the trials of each scenario. Scenarios with fewer than two scores are left
    out; None if no scenario is left.

    >>> spread([[3, 4], [2, 2]])
    0.5
    """
    groups = [group for group in scores if len(group) > 1]
    squares = sum((score - fmean(group)) ** 2 for group in groups for score in group)
    return sqrt(squares / sum(len(group) - 1 for group in groups)) if groups else None


def trials_of(items: Sequence[Item], count: int, suite: Suite) -> Trials:
    """Return the results of `count` trials of each scenario."""
    passes = passes_of(items).values()
    means = [pass_hat(passes, k) for k in range(1, count + 1)]
    spreads = {measure: spread(scores_of(items, measure).values()) for measure in suite.gated}
    return Trials(
        count=count,
        pass_k=tuple(None if mean is None else round(mean, 6) for mean in means),
        spread={measure: round(value, 6) for measure, value in spreads.items() if value is not None},
    )
