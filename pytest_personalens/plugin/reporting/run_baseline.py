"""The baseline of a run.

It is read before any test runs. It is refused if a comparison is not possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.options.options import BY_KEY
from pytest_personalens.plugin.reporting.outputs import path_of

if TYPE_CHECKING:
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.results.comparison.baseline import Baseline

_OPTION = BY_KEY["baseline"]


def baseline_of_run(config: pytest.Config, settings: Settings) -> Baseline | None:
    """Return the baseline in the file of the option, or None.

    Raise `pytest.UsageError` for a file that is no baseline.
    """
    if settings.baseline is None:
        return None
    from pytest_personalens.results.comparison.baseline import read_baseline

    path = path_of(config, settings, _OPTION)
    if settings.save_baseline is not None and path_of(config, settings, BY_KEY["save_baseline"]) == path:
        return None  # a file that this run replaces is not compared, even the first time
    try:
        return read_baseline(path)
    except PersonalensError as error:
        source = _OPTION.long if config.getoption(_OPTION.ini) is not None else _OPTION.ini
        raise pytest.UsageError(f"{source}: {error}") from None


def refuse_baseline(baseline: Baseline, run: Run) -> None:
    """Raise `pytest.UsageError` if this run cannot be compared with the baseline."""
    from pytest_personalens.results.comparison.baseline import mismatch_message

    why = baseline.mismatch(run.terms())
    if not why:
        # A dataset may change without a change of its name and version. If so much of it changed that the
        # comparison would fail, the user learns this before the run spends anything. Otherwise the changed
        # scenarios are left out of the comparison.
        changed, both = baseline.changed_scenarios(run.contents())
        if both - len(changed) < run.settings.valid_floor * both:
            why = (
                f"the content of {len(changed)} of its {both} {run.suite.item}s in this sample changed in the"
                f" dataset, such as {changed[0]}"
            )
    if why:
        raise pytest.UsageError(f"{_OPTION.long}: {mismatch_message(str(run.settings.baseline), why)}")
