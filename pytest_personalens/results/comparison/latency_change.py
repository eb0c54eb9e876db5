"""Tests whether replies take longer than in the baseline."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_personalens.results.means import by_user, mean
from pytest_personalens.results.stats.paired import sign_flip
from pytest_personalens.results.values.figures import LatencyChange
from pytest_personalens.results.values.latency import MARGIN, mean_time

if TYPE_CHECKING:
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.results import Results


def compare_latency(baseline: Baseline, results: Results, *, level: float) -> LatencyChange | None:
    """Return how the mean time of a reply changed, over the scenarios that have one in both runs, if any.

    The test is `sign_flip` over users, one-sided. Runs with other numbers of dialogues side by side are not
    compared.
    """
    now = {item.key: value for item in results.own if (value := mean_time(item)) is not None}
    then = {entry.key: entry.latency for entry in baseline.entries if entry.latency is not None}
    both = sorted(now.keys() & then.keys())
    side = results.latency.side_by_side if results.latency is not None else baseline.side_by_side or 1
    if not both or (results.latency is None and not any(then[key] for key in both)):
        return None
    if baseline.side_by_side not in (None, side):
        return LatencyChange(side_by_side=side, then_side_by_side=baseline.side_by_side)
    pairs = {key: (Fraction(str(then[key])), Fraction(str(now[key]))) for key in both}
    changes = by_user({key: before - after for key, (before, after) in pairs.items()})
    before, after = (float(mean([pair[n] for pair in pairs.values()])) for n in (0, 1))
    p = sign_flip([sum(of_user, Fraction()) for of_user in changes]).p
    return LatencyChange(
        side_by_side=side,
        then_side_by_side=side,
        before=round(before, 2),
        after=round(after, 2),
        scenarios=len(pairs),
        p=p,
        slower=p <= level and after - before > MARGIN,
    )
