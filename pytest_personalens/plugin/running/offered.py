"""Finds a dataset that conftest.py files or plugins offer under a name.

This is for commands outside of a run.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import DataError, SpecError, error_text
from pytest_personalens.datasets.checked_dataset import CheckedDataset

if TYPE_CHECKING:
    from pytest_personalens.datasets import Dataset


class _Asked:
    """A plugin that calls the hook instead of running tests."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.found: Dataset | None = None
        self.problem: Exception | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        try:
            self.found = config.hook.pytest_personalens_dataset(spec=self.spec, config=config)
        except Exception as error:  # opening a custom dataset may raise anything
            self.problem = error
        return 0


def offered_dataset(spec: str) -> Dataset | None:
    """Return the dataset of the hook ``pytest_personalens_dataset`` for `spec`.

    The hooks are those of the working directory. Return None if no hook offers it. Raise `SpecError` with a
    text of one line if a ``conftest.py`` cannot be loaded or the hook raises.
    """
    hook_caller, said = _Asked(spec), io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        # Modules of this package are already loaded. pytest could not rewrite their asserts any more, and
        # would warn about it.
        status = pytest.main(["--assert=plain"], plugins=[hook_caller])
    if isinstance(hook_caller.problem, DataError):
        raise hook_caller.problem
    if hook_caller.problem is not None:
        raise SpecError(f"the dataset {spec!r} cannot be had: {error_text(hook_caller.problem)}")
    if status:
        raise SpecError(
            f"the dataset {spec!r} cannot be had: pytest cannot start here:"
            f" {_reason(said.getvalue(), int(status))}"
        )
    return CheckedDataset(hook_caller.found) if hook_caller.found is not None else None


def _reason(said: str, status: int) -> str:
    """Return the line of pytest's output that says why it ended.

    It is the first error line, or the last line.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()] or [f"exit code {status}"]
    return next((line for line in lines if "error: " in line), lines[-1]).removeprefix("E   ")
