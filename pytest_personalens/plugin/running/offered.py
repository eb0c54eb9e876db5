"""Finds a dataset that conftest.py files or plugins offer under a name, for commands outside of a run."""

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
    """Return the dataset of a hook ``pytest_personalens_dataset`` of the working directory, or None.

    Raise `SpecError` if a ``conftest.py`` cannot be loaded or the hook raises.
    """
    hook_caller, said = _Asked(spec), io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        # Modules of this package are already loaded. pytest could not rewrite their asserts any more, and
        # would warn about it.
        status = pytest.main(["--assert=plain"], plugins=[hook_caller])
    if isinstance(hook_caller.problem, DataError):
        raise hook_caller.problem
    if hook_caller.problem is not None:
        raise SpecError(
            f"the dataset {spec!r} cannot be had: {error_text(hook_caller.problem)}", code="PL307"
        )
    if status:
        lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
        lines = lines or [f"exit code {int(status)}"]
        why = next((line for line in lines if "error: " in line), lines[-1]).removeprefix("E   ")
        raise SpecError(f"the dataset {spec!r} cannot be had: pytest cannot start here: {why}", code="PL307")
    return CheckedDataset(hook_caller.found) if hook_caller.found is not None else None
