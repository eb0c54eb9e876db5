"""How long the assistant takes for a reply, in seconds: of a dialogue, and of all of a run."""

from __future__ import annotations

from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.values.figures import Latency

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.results.values.item import Item

#: In seconds: where 95 % of the replies take less, the times tell more of the machine than of the assistant,
#: and are not kept.
SHORTEST: Final = 0.5
#: A mean that rose by less than so many seconds is no regression: no person would notice it.
MARGIN: Final = 0.5


def quantile(times: Iterable[float], share: float) -> float | None:
    """Return the time that a share of the times does not exceed (nearest rank); None without any."""
    ranked = sorted(times)
    return ranked[ceil(share * len(ranked)) - 1] if ranked else None


def times_of(items: Iterable[Item]) -> list[float]:
    """Return the seconds of all replies that were timed."""
    return [time for item in items for time in item.evaluation.latencies if time is not None]


def mean_time(item: Item) -> float | None:
    """Return the mean time of the replies of a dialogue in seconds; None if none was timed."""
    times = times_of([item])
    return round(fmean(times), 2) if times else None


def without_short(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items, with every time as 0 if the replies of the run are too short to be measured.

    Equal runs of a scripted assistant give equal results then, however busy the machine is.
    """
    p95 = quantile(times_of(items), 0.95)
    if p95 is None or p95 >= SHORTEST:
        return tuple(items)
    return tuple(map(_as_short, items))


def _as_short(item: Item) -> Item:
    times = tuple(None if time is None else 0.0 for time in item.evaluation.latencies)
    if times == item.evaluation.latencies and not item.evaluation.first_pieces:
        return item
    evaluation = item.evaluation.model_copy(update={"latencies": times, "first_pieces": ()})
    return item.model_copy(update={"evaluation": evaluation})


def latency_of(items: Sequence[Item], side_by_side: int) -> Latency | None:
    """Return the figures of the replies; None where none was measured, or none took long enough."""
    times = times_of(items)
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    if p50 is None or p95 is None or p95 < SHORTEST:
        return None
    first = [time for item in items for time in item.evaluation.first_pieces if time is not None]
    return Latency(
        p50=p50,
        p95=p95,
        replies=len(times),
        replayed=sum(time is None for item in items for time in item.evaluation.latencies),
        first_p50=quantile(first, 0.5),
        first_p95=quantile(first, 0.95),
        side_by_side=side_by_side,
    )


def item_times(item: Item) -> dict[str, float]:
    """Return p50 and p95 of the replies of one dialogue by name; nothing if all are 0 or none was timed."""
    times = times_of([item])
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    return {} if p50 is None or not p95 else {"latency_p50": p50, "latency_p95": p95}
