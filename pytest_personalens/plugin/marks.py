"""The settings of one test: its marks, where the command line says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.core.errors import SpecError, short_repr
from pytest_personalens.core.option_types import threshold
from pytest_personalens.core.options import BY_KEY, OPTIONS
from pytest_personalens.core.suite_names import SUITES
from pytest_personalens.plugin.option_checks import check_thresholds
from pytest_personalens.plugin.options import read_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.measure import Measure
    from pytest_personalens.core.settings import Settings
    from pytest_personalens.core.suite import Suite


def settings_of(run: Settings, config: pytest.Config, marks: Sequence[pytest.Mark], where: str) -> Settings:
    """Return the settings of one test.

    An option comes before a mark, and a mark before the ini file. The closest mark wins. The plugin's own
    marks on items carry `domain`, `kind` and `user`. For this reason, `domain` and `kind` in a user's mark
    restrict the draw. Raise `SpecError` for an invalid mark.
    """
    from pytest_personalens.core.suite import other_suites

    changed: dict[str, Any] = {}
    for mark in reversed(marks):
        if mark.args:
            raise SpecError(
                f"{where}: the mark personalens takes keywords only, not {short_repr(mark.args[0])}"
            )
        for key, value in mark.kwargs.items():
            option = BY_KEY.get(key)
            if option is None or not option.mark:
                if key in (short := _short_thresholds(run.of_suite)):
                    measured = _mark_threshold(run.of_suite, key, value, where)
                    changed.setdefault("threshold", {}).update([measured])
                    continue
                if any(key in _short_thresholds(other) for other in other_suites(run.suite)):
                    continue
                allowed = [o.key for o in OPTIONS if o.mark] + list(short)
                raise SpecError(
                    f"{where}: unknown keyword {key!r} of the mark personalens; known: {', '.join(allowed)}"
                )
            try:
                read = read_value(
                    option, value, f"{where}: personalens({key}=...)", run.suite, configured=True
                )
            except pytest.UsageError as error:
                raise SpecError(str(error)) from None
            if read is None:
                continue
            if key == "threshold":
                changed.setdefault("threshold", {}).update(read)
            else:
                changed[key] = read
    if "threshold" in changed:
        changed["threshold"] = tuple({**dict(run.threshold), **changed["threshold"]}.items())
    settings = run._replace(
        **{k: v for k, v in changed.items() if config.getoption(BY_KEY[k].ini, None) is None}
    )
    check_thresholds(settings.threshold, settings.dimensions, where)
    return settings


def suite_of_marks(marks: Sequence[pytest.Mark], run: Settings, where: str) -> str:
    """Return the suite of a test.

    It is that of the closest mark that names one, else that of the run. Raise `SpecError` for an unknown
    suite.
    """
    named = next((mark.kwargs["suite"] for mark in marks if "suite" in mark.kwargs), run.suite)
    if not isinstance(named, str) or named not in SUITES:
        raise SpecError(
            f"{where}: personalens(suite={short_repr(named)}): expected one of: {', '.join(SUITES)}"
        )
    return named


def _short_thresholds(suite: Suite) -> dict[str, Measure]:
    return {measure.short.replace("-", "_"): measure for measure in suite.measures}


def _mark_threshold(suite: Suite, key: str, value: object, where: str) -> tuple[str, int | float]:
    measure = _short_thresholds(suite)[key]
    way = ">=" if measure.better == "high" else "<="
    try:
        return threshold(f"{measure}{way}{int(value) if isinstance(value, bool) else value}", suite)
    except SpecError as error:
        raise SpecError(f"{where}: personalens({key}={short_repr(value)}): {error}") from None
    except Exception as error:  # also raised by the __str__ of a custom value
        problem = error if isinstance(error, ValueError) else "expected a whole number"
        raise SpecError(f"{where}: personalens({key}={short_repr(value)}): {problem}") from None
