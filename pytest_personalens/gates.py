"""Gates over a whole run: floors that fail CI, and fail closed when too little could be scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.results import Gate, Results
from pytest_personalens.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.drift.values import Drift


def check_gates(results: Results, *, min_tcr: float | None, min_p: float | None, min_valid: float) -> tuple[Gate, ...]:
    """The verdict of every gate asked for; none is asked for when both floors are None.

    Beside the floors stands the gate ``valid``: the share of items that could be scored must reach `min_valid`,
    because a mean over what is left says nothing about what is missing.
    """
    if min_tcr is None and min_p is None:
        return ()
    return tuple(_gates(results, min_tcr, min_p, min_valid))


def _gates(results: Results, min_tcr: float | None, min_p: float | None, min_valid: float) -> Iterator[Gate]:
    if min_tcr is not None:
        yield _floor(results, "tcr", "task completion rate", Dimension.TASK_COMPLETION, min_tcr)
    if min_p is not None:
        yield _floor(results, "p", "mean personalization", Dimension.PERSONALIZATION, min_p)
    share = results.valid_share
    scored, total = results.overall.scored, results.overall.items + len(results.lost)
    message = f"{scored} of {total} items could be scored"
    if results.uncounted:
        message += f" (not: {', '.join(f'{n} {cause}' for cause, n in results.uncounted.items())})"
    passed = share >= min_valid
    yield Gate(
        name="valid",
        value=round(share, 6),
        floor=min_valid,
        passed=passed,
        message=message if passed else f"{message}; the floor is {min_valid:.0%}",
    )


def judge_gate(drift: Drift) -> Gate:
    """Fails when the judge changed or could not be asked: what it scored then says nothing. The value is the share of verdicts kept."""
    return Gate(name="judge", value=drift.kept, floor=1.0, passed=drift.passed, message=drift.sentence)


def _floor(results: Results, name: str, label: str, dimension: Dimension, floor: float) -> Gate:
    mean = results.overall.means.get(dimension.value)
    if mean is None or mean.value is None:
        return Gate(name=name, value=None, floor=floor, passed=False, message=f"{label}: no item could be scored")
    passed = mean.value >= floor
    sign = ">=" if passed else "<"
    return Gate(
        name=name,
        value=mean.value,
        floor=floor,
        passed=passed,
        message=f"{label} {mean.value:.2f} {sign} {floor:.2f} over {mean.count} scenarios",
    )
