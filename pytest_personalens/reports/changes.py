"""What changed since other results of the same scenarios: as it was tested, or side by side where something else changed too."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.verdict import READINGS
from pytest_personalens.results.comparison import flips_of, left_out, paired
from pytest_personalens.results.means import balanced, scores_of
from pytest_personalens.results.values import Comparison, Difference

if TYPE_CHECKING:
    from pytest_personalens.results.means import Key
    from pytest_personalens.results.values import Results


class Changes(NamedTuple):
    """A comparison; where it was not `tested`, nothing may be said about chance."""

    comparison: Comparison
    tested: bool


def changes_of(results: Results, before: Results | None) -> Changes | None:
    """The comparison that was made with a baseline; else the figures beside those of `before`; else None."""
    if results.comparison is not None:
        return Changes(results.comparison, tested=True)
    return None if before is None else Changes(_side_by_side(before, results), tested=False)


def _side_by_side(before: Results, now: Results) -> Comparison:
    every = {d: balanced(scores_of(before.own, d), scores_of(now.own, d)) for d in READINGS}
    pairs = {dimension: found for dimension, found in every.items() if found}
    then: dict[Key, str] = {item.asked: item.evaluation.scenario for item in before.own}
    scored = {item.asked for item in before.own if item.evaluation.scored}
    compared = {scenario for found in pairs.values() for scenario in found}
    return Comparison(
        baseline="the earlier results",
        level=0.0,
        compared=len(compared),
        differences=tuple(Difference(**paired(dimension, found).model_dump()) for dimension, found in pairs.items()),
        flips=flips_of(now.own, pairs),
        left_out=left_out(then, scored, now.own, compared),
    )
