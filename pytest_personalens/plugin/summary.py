"""The section of the terminal summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.safe_text import harmless
from pytest_personalens.reports.terminal import summary_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_personalens.results.values import Results


def write_summary(
    reporter: pytest.TerminalReporter, results: Results, extra: Sequence[str], written: Sequence[str], records: str = ""
) -> None:
    """The section ``personalens`` of the terminal summary. `records` says what to do about those that are missing or stale, if any are."""
    verbosity = reporter.config.get_verbosity()
    reporter.write_sep("=", "personalens")
    for text, style in summary_lines(results, verbose=verbosity > 0, domains=verbosity >= 0, written=written, records=records):
        reporter.write_line(harmless(text), **dict.fromkeys(style, True))
    for line in extra:
        reporter.write_line(harmless(line))
