"""Hooks of a run that judges stored dialogues: it needs neither the team's tests nor its assistant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.plugin.collection.collection import is_whole_repository

if TYPE_CHECKING:
    from pathlib import Path


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    # The built-in suite judges them all. Tests that the command line names judge them with their own asserts.
    return True if is_whole_repository(config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: Any) -> object | None:
    if fixturedef.argname != "personalens_assistant":
        return None

    def assistant(messages: object) -> str:
        raise AssertionError("nobody answers in a run that judges stored dialogues")

    fixturedef.cached_result = (assistant, fixturedef.cache_key(request), None)
    return assistant
