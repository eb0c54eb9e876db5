"""How a run ended, checked in one call."""

from __future__ import annotations

import pytest


def assert_ended(result: pytest.RunResult, status: int, *lines: str, err: str = "") -> pytest.RunResult:
    """Check the exit status, lines of the output in this order, and a line of the errors; return the result.

    The lines are patterns of `fnmatch`.
    """
    assert result.ret == status
    result.stdout.fnmatch_lines(lines)
    if err:
        result.stderr.fnmatch_lines([err])
    return result
