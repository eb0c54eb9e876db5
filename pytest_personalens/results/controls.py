"""Controls: the same scenarios with the context withheld or another user's, and how much better the run
itself was.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, get_args

from pytest_personalens.core.controls import ControlName
from pytest_personalens.core.verdict import READINGS, Dimension
from pytest_personalens.results.comparison import paired
from pytest_personalens.results.means import balanced, scores_of
from pytest_personalens.results.stats.trials import pass_hat, spread
from pytest_personalens.results.summary import by_kind, group
from pytest_personalens.results.values import Arm, Item, Paired, Trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.means import Key


def controls_of(items: Sequence[Item]) -> tuple[Arm, ...]:
    """The controls among `items`, in a fixed order, each beside the items of the run itself."""
    own = [i for i in items if not i.arm]
    controls = []
    for name in get_args(ControlName):
        members = [i for i in items if i.arm == name]
        if name and members:
            lifts = [lift(members, own, dimension) for dimension in READINGS]
            shown = tuple(pair for pair in lifts if pair is not None)
            controls.append(Arm(name=name, overall=group(name, members), kinds=by_kind(members), lift=shown))
    return tuple(controls)


def lift(control: Sequence[Item], own: Sequence[Item], dimension: Dimension) -> Paired | None:
    """How much better the run itself was than a control, by scenario; `p` is that of a rise.

    None without a scenario scored in both.
    """
    pairs = balanced(scores_of(control, dimension), scores_of(own, dimension))
    return paired(dimension, pairs, rising=True) if pairs else None


def passes_of(items: Sequence[Item]) -> dict[Key, tuple[int, int]]:
    """(passed, scored) trials of each scenario in each test, by its thresholds; what could not be scored is
    no trial.
    """
    outcomes: defaultdict[Key, list[bool]] = defaultdict(list)
    for item in items:
        if item.evaluation.scored:
            outcomes[item.key].append(item.status == "passed")
    return {key: (sum(passed), len(passed)) for key, passed in outcomes.items()}


def trials_of(items: Sequence[Item], count: int) -> Trials:
    """What `count` trials of each scenario showed."""
    passes = list(passes_of(items).values())
    means = [pass_hat(passes, k) for k in range(1, count + 1)]
    spreads = {dimension: spread(list(scores_of(items, dimension).values())) for dimension in READINGS}
    return Trials(
        count=count,
        pass_k=tuple(None if mean is None else round(mean, 6) for mean in means),
        spread={dimension: round(value, 6) for dimension, value in spreads.items() if value is not None},
    )
