"""The scenarios of two runs that could not be compared, and why."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_personalens.results.means import Key
    from pytest_personalens.results.values.item import Item


def left_out(
    then: Mapping[Key, str],
    scored_then: Collection[Key],
    items: Sequence[Item],
    compared: Collection[Key],
    *,
    by_other_tests: Collection[Key] = (),
    of_other_content: Collection[Key] = (),
    under_other_settings: Collection[Key] = (),
    in_part: Mapping[str, Collection[Key]] = MappingProxyType({}),
) -> dict[str, tuple[str, ...]]:
    """Return the ids of the scenarios that could not be compared, by reason.

    Each scenario is listed under the first reason that holds. `then` holds the ids of the scenarios of the
    other run, and `items` are those of this run. `in_part` maps a reason to scenarios of which only a part
    was compared.
    """
    now: dict[Key, str] = {item.scenario_key: item.evaluation.scenario for item in items}
    scored_now = {item.scenario_key for item in items if item.evaluation.scored}
    reasons: tuple[tuple[str, Collection[Key]], ...] = (
        ("not run now", then.keys() - now.keys()),
        ("not run then", now.keys() - then.keys()),
        ("run by other tests", by_other_tests),
        ("changed in the dataset", of_other_content),
        ("run under other settings", under_other_settings),
        ("not scored now", now.keys() - scored_now),
        ("not scored then", then.keys() - set(scored_then)),
        ("not scored on the same dimensions", then.keys() | now.keys()),
    )
    left = {**then, **now}.keys() - set(compared)
    by_reason: dict[str, tuple[str, ...]] = {}
    for why, keys in reasons:
        if here := left & set(keys):
            by_reason[why] = tuple(sorted(now.get(key) or then[key] for key in here))
            left -= here
    for what, keys in in_part.items():
        if here := set(keys) & set(compared):
            by_reason[what] = tuple(sorted(now[key] for key in here))
    return by_reason
