"""Options that depend on the suite: which it takes, and which belong to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.suite_names import FIRST_SUITE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.options.options import Option
    from pytest_personalens.core.suite.suite import Suite

#: Marks a value that only another suite has, because one configuration may serve several suites.
OF_ANOTHER: Final = object()


def read_text(option: Option, text: str, suite: str | None, *, configured: bool) -> Any:
    """Return the value of a text, or `OF_ANOTHER`.

    Raise ValueError or `SpecError` for a text that cannot be read.
    """
    if option.read is not None:
        return option.read(text)
    from pytest_personalens.core.suite.suite import other_suites

    try:
        return option.value(text, _suite(suite))
    except (ValueError, SpecError):
        if configured and any(_reads(option, text, other) for other in other_suites(_suite(suite).name)):
            return OF_ANOTHER
        raise


def default_of(option: Option, values: Mapping[str, Any]) -> Any:
    """Return the default of an option in the suite of the run.

    `values` holds the options that were read before it.
    """
    if values.get("sample") is None or "suite" not in values:
        return option.default
    return _suite(values["suite"]).defaults.get(option.key, option.default)


def means_nothing(option: Option, suite: str | None, config: pytest.Config) -> bool:
    """True for an option that its suite does not take.

    Raise `pytest.UsageError` if the command line gives such an option. The configuration may have it.
    """
    if suite is None or option.key not in _suite(suite).lacks:
        return False
    if config.getoption(option.ini, None) in (None, False):
        return True
    raise pytest.UsageError(f"{option.long}: means nothing in the suite {suite}; leave it out")


def _reads(option: Option, text: str, suite: Suite) -> bool:
    try:
        option.value(text, suite)
    except (ValueError, SpecError):
        return False
    return True


def _suite(name: str | None) -> Suite:
    from pytest_personalens.core.suite.suite import get_suite

    return get_suite(name or FIRST_SUITE)
