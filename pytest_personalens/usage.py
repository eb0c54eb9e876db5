"""What is wrong with an input, told in one line, whatever a file, a dataset or an option put into the text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Each text of a `pytest.UsageError` raised inside, and of a collection error, is one line that drives no terminal."""
    try:
        yield
    except (pytest.UsageError, pytest.Collector.CollectError) as error:
        from pytest_personalens.reports.transcript import one_line  # which a run without a fault has no use for

        raise type(error)(*(one_line(str(text)) for text in error.args)) from None
