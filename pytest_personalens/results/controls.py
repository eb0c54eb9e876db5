"""Controls: the same scenarios with the context withheld or another user's, and how much better the run itself was."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from pytest_personalens.core.settings import ArmName
from pytest_personalens.core.verdict import READINGS, Dimension
from pytest_personalens.results.means import balanced, scores_of
from pytest_personalens.results.paired import paired
from pytest_personalens.results.summary import by_kind, group
from pytest_personalens.results.values import Arm, Item, Paired

if TYPE_CHECKING:
    from collections.abc import Sequence


def arms_of(items: Sequence[Item]) -> tuple[Arm, ...]:
    """The controls among `items`, in a fixed order, each beside the items of the run itself."""
    own = [i for i in items if not i.arm]
    found = []
    for name in get_args(ArmName):
        members = [i for i in items if i.arm == name]
        if name and members:
            lifts = [lift(members, own, dimension) for dimension in READINGS]
            shown = tuple(pair for pair in lifts if pair is not None)
            found.append(Arm(name=name, overall=group(name, members), kinds=by_kind(members), lift=shown))
    return tuple(found)


def lift(control: Sequence[Item], own: Sequence[Item], dimension: Dimension) -> Paired | None:
    """How much better the run itself was than a control, by scenario; `p` is that of a rise. None without a scenario scored in both."""
    pairs = balanced(scores_of(control, dimension), scores_of(own, dimension))
    return paired(dimension, pairs, rising=True) if pairs else None
