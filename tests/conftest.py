"""Shared by all tests: a chatbot repository to run the plugin in, and the official data where it is at hand."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

with suppress(ImportError):
    # A run in this process forgets what it imported, and numpy cannot be imported twice.
    import numpy as np  # noqa: F401
from pytest_personalens.core.scenario import Scenario
from tests.support.browser import Page, start
from tests.support.datasets.dinner import small_scenario
from tests.support.processes.preloaded import import_package
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import BOT, PAID, TEST, TOLD
from tests.support.servers.endpoint import Endpoint, play

import_package()


def pytest_collection_finish() -> None:
    """What is there now lives to the end, and the runs within tests look for garbage hundreds of times."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Pytest looks for garbage five times at its end: once is enough, of what the tests left."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's cache of all tests: otherwise each would read all data files as TOML again."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the variables of a CI service."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_", "GITLAB_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def empty_repo(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, cache: Path, no_ci: None
) -> Repository:
    """A repository with nothing in it."""
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(cache))
    # These tests may themselves run on a worker; the run inside must not take itself for one.
    of_workers = [f"PYTEST_XDIST_{name}" for name in ("WORKER", "WORKER_COUNT", "TESTRUNUID")]
    for name in (*of_workers, "PYTEST_ADDOPTS", "HELPBOT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    # The same run prints the same on a developer's terminal and in CI, where pytest cuts no summary.
    monkeypatch.setenv("CI", "true")
    return Repository(pytester)


@pytest.fixture
def repo(empty_repo: Repository) -> Repository:
    """A repository with a bot and one test."""
    empty_repo.write(conftest=BOT, test_bot=TEST)
    return empty_repo


@pytest.fixture
def told(repo: Repository) -> Repository:
    """A repository whose user agent and judge say what its files tell them to."""
    repo.write(conftest=TOLD)
    return repo


@pytest.fixture
def paid(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repo.write(conftest=PAID)
    monkeypatch.setenv("CALLS", str(repo.path / "calls.log"))
    return repo


@pytest.fixture(scope="session")
def official() -> Path:
    """A sample of the official data, which is not part of the project."""
    path = Path(os.environ.get("PERSONALENS_OFFICIAL", ROOT.parent / "shared" / "official"))
    if not (path / "data" / "profile").is_dir():
        pytest.skip("the official PersonaLens data is not at hand (set PERSONALENS_OFFICIAL to a checkout)")
    return path


@pytest.fixture
def scenario() -> Scenario:
    """A small scenario."""
    return small_scenario(
        "train-1",
        "Ada",
        {"Train": {"Preferred Seat Type": ("window",), "Preferred Train Class": ("second class",)}},
        {"Train": "Ada takes her bicycle along and reads maps. She wants the platform beforehand."},
        ("Leeds", "Laptop", "Evening", "Monday", "Quiet"),
        description="The user wants a ticket.",
        intent="You want to buy a ticket to York.",
        goal="A ticket to York is bought and the seat has been stated.",
    )


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser, started once for the pages of all tests."""
    yield from start(tmp_path_factory.mktemp("browser"))


@pytest.fixture
def bots(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The bots of the example project."""
    monkeypatch.syspath_prepend(ROOT / "example_project")
    import helpbot.bot

    yield helpbot.bot
    for name in [n for n in sys.modules if n.split(".")[0] == "helpbot"]:
        del sys.modules[name]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Models behind Bedrock's and OpenAI's protocols on loopback, which play every role well."""
    server = Endpoint()
    server.answer = play
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    yield server
    server.close()
