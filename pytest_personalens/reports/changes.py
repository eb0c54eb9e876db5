"""What changed since other results of the same scenarios: as it was tested, or side by side where something
else changed too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.comparison import compare_untested

if TYPE_CHECKING:
    from pytest_personalens.results.values import Comparison, Results


class Changes(NamedTuple):
    """A comparison; where it was not `tested`, nothing may be said about chance."""

    comparison: Comparison
    tested: bool


def changes_of(results: Results, before: Results | None) -> Changes | None:
    """The comparison that was made with a baseline; else the figures beside those of `before`; else None."""
    if results.comparison is not None:
        return Changes(results.comparison, tested=True)
    return None if before is None else Changes(compare_untested(before, results), tested=False)
