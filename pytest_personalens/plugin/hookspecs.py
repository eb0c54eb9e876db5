"""What a plugin or conftest may add: models, datasets, user agents, judges, observers, report lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue import UserAgent
    from pytest_personalens.core.evaluation import Evaluation
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.core.verdict import Judge
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.models import Model
    from pytest_personalens.results.values import Results


@pytest.hookspec(firstresult=True)
def pytest_personalens_model(spec: str, config: pytest.Config) -> Model | None:
    """A language model for a spec such as ``acme:large?temperature=0``, or None if the spec is not yours.

    It plays the user (``--personalens-user-model``) or judges (``--personalens-judge-model``) with the
    plugin's own prompts. Called once a process, before collection; connect lazily.
    """


@pytest.hookspec(firstresult=True)
def pytest_personalens_dataset(spec: str, config: pytest.Config) -> Dataset | None:
    """The dataset meant by ``--personalens-data SPEC``, or None if the spec is not yours."""


@pytest.hookspec(firstresult=True)
def pytest_personalens_user_agent(spec: str, config: pytest.Config) -> UserAgent | None:
    """The user agent meant by ``--personalens-user-model SPEC``, or None if the spec is not yours."""


@pytest.hookspec(firstresult=True)
def pytest_personalens_judge(spec: str, config: pytest.Config) -> Judge | None:
    """The judge meant by ``--personalens-judge-model SPEC``, or None if the spec is not yours."""


@pytest.hookspec
def pytest_personalens_evaluated(item: pytest.Item, scenario: Scenario, evaluation: Evaluation) -> None:
    """Called for every finished evaluation, in the process that ran it (under xdist: a worker)."""


@pytest.hookspec
def pytest_personalens_report_lines(results: Results, config: pytest.Config) -> Sequence[str]:  # type: ignore[empty-body]
    """Further lines for the terminal summary; called once, in the controlling process, with all results."""
