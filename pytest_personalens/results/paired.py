"""The same scenarios twice: their mean scores side by side, with the paired test."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.stats.paired import effect_interval, sign_flip
from pytest_personalens.results.values import Paired

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_personalens.core.verdict import Dimension
    from pytest_personalens.results.means import Pairs

_PLACES: Final = 6


def paired(dimension: Dimension, pairs: Pairs, *, rising: bool = False) -> Paired:
    """At least one pair of means (before, after), side by side; `p` is that of a drop, or of a rise where that is the question."""
    changes = changes_in(pairs)
    low, high = effect_interval(changes, dimension.scale.high - dimension.scale.low)
    return Paired(
        dimension=dimension,
        pairs=len(pairs),
        before=round(fmean(before for before, _ in pairs.values()), _PLACES),
        after=round(fmean(after for _, after in pairs.values()), _PLACES),
        change=round(fmean(changes), _PLACES),
        low=round(low, _PLACES),
        high=round(high, _PLACES),
        better=sum(change > 0 for change in changes),
        worse=sum(change < 0 for change in changes),
        p=round(sign_flip([-c for c in changes] if rising else changes).p, _PLACES),
    )


def changes_in(pairs: Pairs) -> list[Fraction]:
    """After - before, one for each pair, in their order."""
    return [after - before for before, after in pairs.values()]
