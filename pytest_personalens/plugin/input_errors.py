"""Turns errors about inputs, which may hold any text, into one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def errors_in_one_line(*, collecting: bool = False) -> Iterator[None]:
    """Turn a `pytest.UsageError` or collection error into one line that cannot control a terminal.

    Before any test runs, `pytest.skip`, `pytest.fail` or `sys.exit` in a custom dataset or agent is such an
    error too. While `collecting`, pytest handles these calls itself.
    """
    try:
        yield
    except (pytest.UsageError, pytest.Collector.CollectError) as error:
        raise type(error)(*map(_with_code, error.args[:1]), *map(as_one_line, error.args[1:])) from None
    except (pytest.fail.Exception, pytest.skip.Exception, SystemExit, GeneratorExit) as error:
        if collecting:
            raise
        from pytest_personalens.core.errors import error_text

        raise pytest.UsageError(
            _with_code(f"personalens: no test is run yet that could end so: {error_text(error)}")
        ) from None


def _with_code(text: object) -> str:
    from pytest_personalens.core.text.error_codes import with_code  # needed only after an error

    return with_code(as_one_line(text))


def as_one_line(text: object) -> str:
    """Return the text as one line that cannot control a terminal."""
    from pytest_personalens.core.text.safe_text import one_line  # needed only after an error

    return one_line(str(text))
