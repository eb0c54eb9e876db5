"""The hooks by which a plugin or conftest adds models, datasets, agents, observers and report lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.models import Model
    from pytest_personalens.results.values.results import Results


@pytest.hookspec(firstresult=True)
def pytest_personalens_model(spec: str, config: pytest.Config) -> Model | None:
    """Return a language model for a spec, or None if the spec is not yours.

    A spec is a text such as ``acme:large?temperature=0``. The model plays the user
    (``--personalens-user-model``) or judges (``--personalens-judge-model``) with the plugin's own prompts.
    The hook is called once in each process, before collection. Connect lazily.
    """


@pytest.hookspec(firstresult=True)
def pytest_personalens_dataset(spec: str, config: pytest.Config) -> Dataset | None:
    """Return the dataset for ``--personalens-data SPEC``, or None if the spec is not yours."""


@pytest.hookspec(firstresult=True)
def pytest_personalens_user_agent(spec: str, config: pytest.Config) -> UserAgent | None:
    """Return the user agent for ``--personalens-user-model SPEC``, or None if the spec is not yours."""


@pytest.hookspec(firstresult=True)
def pytest_personalens_judge(spec: str, config: pytest.Config) -> Judge | None:
    """Return the judge for ``--personalens-judge-model SPEC``, or None if the spec is not yours."""


@pytest.hookspec
def pytest_personalens_evaluated(item: pytest.Item, scenario: Scenario, evaluation: Evaluation) -> None:
    """Called for every finished evaluation, in the process that ran it: with xdist, a worker."""


@pytest.hookspec
def pytest_personalens_report_lines(results: Results, config: pytest.Config) -> Sequence[str]:  # type: ignore[empty-body]
    """Return further lines for the terminal summary; called once, in the controlling process."""
