"""The changes since other results of the same scenarios.

They are tested, or only shown if other things changed too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.comparison.compare import compare_untested

if TYPE_CHECKING:
    from pytest_personalens.results.values.changes import Comparison
    from pytest_personalens.results.values.results import Results


class Changes(NamedTuple):
    """A comparison.

    If it was not `tested`, a report must say nothing about significance.
    """

    comparison: Comparison
    tested: bool


def changes_of(results: Results, before: Results | None) -> Changes | None:
    """Return the comparison with a baseline, if there is one.

    Without one, return the differences from `before`, or None if that is not given.
    """
    if results.comparison is not None:
        return Changes(results.comparison, tested=True)
    return None if before is None else Changes(compare_untested(before, results), tested=False)
