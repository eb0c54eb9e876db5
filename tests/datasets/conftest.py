"""Shared by the tests of datasets: every scenario of the embedded benchmark, loaded once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_personalens.core.scenario import Scenario, ScenarioRef
from pytest_personalens.datasets import EmbeddedDataset

Every = Mapping[ScenarioRef, Scenario]


@pytest.fixture(scope="session")
def every_scenario() -> Every:
    """Every scenario of the embedded benchmark by its name."""
    dataset = EmbeddedDataset()
    return {ref: dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)}
