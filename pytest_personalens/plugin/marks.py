"""The settings of one test: what its marks say, where the command line does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.core.errors import SpecError, short_repr
from pytest_personalens.core.option_types import threshold
from pytest_personalens.core.options import BY_KEY, OPTIONS
from pytest_personalens.plugin.option_checks import check_thresholds
from pytest_personalens.plugin.options import read_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.settings import Settings


def settings_of(run: Settings, config: pytest.Config, marks: Sequence[pytest.Mark], where: str) -> Settings:
    """The settings of one test: option before mark before ini. The closest mark wins; raises `SpecError`.

    Our own marks on items carry `domain`, `kind` and `user`, so these keywords of a user's mark restrict the
    draw.
    """
    changed: dict[str, Any] = {}
    for mark in reversed(marks):
        if mark.args:
            raise SpecError(
                f"{where}: the mark personalens takes keywords only, not {short_repr(mark.args[0])}"
            )
        for key, value in mark.kwargs.items():
            option = BY_KEY.get(key)
            if option is None or not option.mark:
                if key in _short_thresholds():
                    changed.setdefault("threshold", {}).update([_mark_threshold(key, value, where)])
                    continue
                allowed = [o.key for o in OPTIONS if o.mark] + list(_short_thresholds())
                raise SpecError(
                    f"{where}: unknown keyword {key!r} of the mark personalens; known: {', '.join(allowed)}"
                )
            try:
                read = read_value(option, value, f"{where}: personalens({key}=...)")
            except pytest.UsageError as error:
                raise SpecError(str(error)) from None
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


def _short_thresholds() -> dict[str, str]:
    from pytest_personalens.core.verdict import Dimension

    return {d.short.replace("-", "_"): d.value for d in Dimension}


def _mark_threshold(key: str, value: object, where: str) -> tuple[str, int]:
    try:
        return threshold(
            f"{_short_thresholds()[key]}>={int(value) if isinstance(value, (int, bool)) else value}"
        )
    except SpecError as error:
        raise SpecError(f"{where}: personalens({key}={short_repr(value)}): {error}") from None
    except Exception as error:  # the __str__ of somebody's own value too
        problem = error if isinstance(error, ValueError) else "expected a whole number"
        raise SpecError(f"{where}: personalens({key}={short_repr(value)}): {problem}") from None
