"""Errors about inputs for pytest: one line, which may hold any text, with its code at the end."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Codes of an option that cannot be read, of a mark, and of a call that ends a run before its first test.
_OPTION, _MARK, _ENDED = "PL101", "PL107", "PL103"


def input_error(text: str, *, code: str = _OPTION) -> pytest.UsageError:
    """Return an error that ends the run before its first test, with exit code 4."""
    error = pytest.UsageError(text)
    error.code = code or _OPTION  # type: ignore[attr-defined]  # pytest lets nobody make a class of it
    return error


class CollectionError(pytest.Collector.CollectError):
    """Ends the collection of a test; `code` is that of the error."""

    def __init__(self, text: str, *, code: str = _MARK) -> None:
        super().__init__(text)
        self.code = code or _MARK


@contextmanager
def errors_in_one_line(*, collecting: bool = False) -> Iterator[None]:
    """Turn a `pytest.UsageError`, a collection error or one of ours into one line that cannot control a
    terminal.

    Before any test runs, `pytest.skip`, `pytest.fail` or `sys.exit` in a custom dataset or agent is such an
    error too. While `collecting`, pytest handles these calls itself.
    """
    try:
        yield
    except (pytest.UsageError, pytest.Collector.CollectError) as error:
        kind = pytest.UsageError if isinstance(error, pytest.UsageError) else pytest.Collector.CollectError
        text = _coded(error.args[0] if error.args else "", getattr(error, "code", _OPTION))
        raise kind(text, *map(as_one_line, error.args[1:])) from None
    except (pytest.fail.Exception, pytest.skip.Exception, SystemExit, GeneratorExit) as error:
        if collecting:
            raise
        from pytest_personalens.core.errors import error_text

        ended = f"personalens: no test is run yet that could end so: {error_text(error)}"
        raise pytest.UsageError(_coded(ended, _ENDED)) from None
    except Exception as error:
        from pytest_personalens.core.errors import PersonalensError

        if collecting or not isinstance(error, PersonalensError):
            raise
        raise pytest.UsageError(_coded(error, error.code)) from None


def _coded(text: object, code: str) -> str:
    from pytest_personalens.core.errors import with_code  # needed only after an error

    return with_code(as_one_line(text), code)


def as_one_line(text: object) -> str:
    """Return the text as one line that cannot control a terminal."""
    from pytest_personalens.core.safe_text import one_line  # needed only after an error

    return one_line(str(text))
