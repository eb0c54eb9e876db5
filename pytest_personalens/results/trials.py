"""Each scenario run several times: how often it passes every time, and how much its scores vary."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_personalens.core.verdict import READINGS
from pytest_personalens.results.means import scores_of
from pytest_personalens.results.stats.trials import pass_hat, spread
from pytest_personalens.results.values import Item, Trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.means import Key


def passes_of(items: Sequence[Item]) -> list[tuple[int, int]]:
    """(passed, scored) trials of each scenario, by its thresholds; what could not be scored is no trial."""
    found: defaultdict[Key, list[bool]] = defaultdict(list)
    for item in items:
        if item.evaluation.scored:
            found[item.key].append(item.status == "passed")
    return [(sum(passed), len(passed)) for passed in found.values()]


def trials_of(items: Sequence[Item], count: int) -> Trials:
    """What `count` trials of each scenario showed."""
    passes = passes_of(items)
    means = [pass_hat(passes, k) for k in range(1, count + 1)]
    spreads = {dimension: spread(list(scores_of(items, dimension).values())) for dimension in READINGS}
    return Trials(
        count=count,
        pass_k=tuple(None if mean is None else round(mean, 6) for mean in means),
        spread={dimension: round(value, 6) for dimension, value in spreads.items() if value is not None},
    )
