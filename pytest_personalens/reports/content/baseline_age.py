"""From which commit a baseline is, and how old that is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from pytest_personalens.results.comparison.baseline import Baseline


class BaselineAge(NamedTuple):
    """A sentence on the commit and the age, and whether it is older than it should be."""

    text: str
    old: bool


def baseline_age(baseline: Baseline, now: datetime, *, most: int) -> BaselineAge:
    """The age in whole days at `now`, which has a time zone; `most` days are not old."""
    tested = baseline.provenance
    if tested is None or not tested.committed:
        return BaselineAge("The baseline does not say which commit it is of.", False)
    days = max(0, (now - tested.instant).days)
    branch = f" of {tested.branch}" if tested.branch else ""
    text = f"Baseline: commit {tested.short}{branch}, {tested.day}, {count(days, 'day')} old."
    if days <= most:
        return BaselineAge(text, False)
    return BaselineAge(f"{text} That is more than {count(most, 'day')}: save a new one.", True)
