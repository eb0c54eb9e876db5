"""What is wrong with an input, told in one line, whatever a file,
a dataset or an option put into the text.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import error_text

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def errors_in_one_line(*, collecting: bool = False) -> Iterator[None]:
    """Each text of a `pytest.UsageError` raised inside is one line that drives no terminal; so is that of a
    collection error.

    Where no test is run, a dataset or an agent of somebody's own that calls `pytest.skip`, `pytest.fail` or
    `sys.exit` makes such an error too. While `collecting`, pytest knows what to do with it.
    """
    try:
        yield
    except (pytest.UsageError, pytest.Collector.CollectError) as error:
        raise type(error)(*map(as_one_line, error.args)) from None
    except (pytest.fail.Exception, pytest.skip.Exception, SystemExit, GeneratorExit) as error:
        if collecting:
            raise
        raise pytest.UsageError(
            as_one_line(f"personalens: no test is run yet that could end so: {error_text(error)}")
        ) from None


def as_one_line(text: object) -> str:
    """The text as one line that drives no terminal."""
    from pytest_personalens.core.safe_text import one_line  # which a run without a fault has no use for

    return one_line(str(text))
