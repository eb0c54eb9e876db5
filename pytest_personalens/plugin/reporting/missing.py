"""Finds the items without a result.

They were lost with their worker, or not evaluated.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.text.node_ids import parse_case, skipped_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.plugin.reporting.reported import Reported


class Missing(NamedTuple):
    """The node ids of items without a result, in the form for `summarize`."""

    lost: list[str]
    unevaluated: list[str]
    skipped: list[str]
    of_controls: list[str]
    missing_by_group: Counter[str]


def missing_items(
    reported: Reported, refs: Mapping[str, ScenarioRef], ids: Collection[str], skipped: Iterable[str]
) -> Missing:
    """Return the items without a result.

    `refs` is the sample by id, `ids` are the ids of all scenarios, and `skipped` are the files that skipped
    themselves.
    """
    done = reported.items
    gone = {n: parse_case(n, ids) for n in reported.crashed - set(done)}
    lost = {
        n: (case.control, *_groups(refs.get(case.scenario))) for n, case in gone.items() if case is not None
    }
    others = {n: of for n, of in reported.unevaluated.items() if n not in done and n not in lost}
    # A file that skipped itself has at least one test of the whole sample.
    others |= {skipped_id(file, ref.id): ("", *_groups(ref)) for file in skipped for ref in refs.values()}
    every = {**lost, **others}
    return Missing(
        lost=sorted(lost),
        unevaluated=sorted(others),
        skipped=sorted(others.keys() & reported.skipped),
        of_controls=sorted(n for n, (control, *_) in every.items() if control),
        missing_by_group=Counter(
            group for control, *groups in every.values() if not control for group in groups
        ),
    )


def _groups(ref: ScenarioRef | None) -> tuple[str, ...]:
    """Return the groups of a scenario's items, which gates use."""
    return (ref.kind, *ref.domains) if ref is not None else ()
