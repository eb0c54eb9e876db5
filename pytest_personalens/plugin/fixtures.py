"""The fixtures: the scenario of an item, what is known of its user, the assistant under test, and
`personalens` itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_personalens.core.node_ids import BUILT_IN, file_of
from pytest_personalens.plugin.items import spec_of
from pytest_personalens.plugin.keys import ATTEMPT, RUN, SETTINGS, SYRUPY, is_worker
from pytest_personalens.plugin.pytest_internals import syrupy_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.session import SnapshotSession

    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.plugin.fixture import Personalens

_NO_PARAMETERS = (
    "personalens: methods of unittest.TestCase and doctests cannot stand for scenarios; write a function, def"
    " test_it(personalens), and let no fixture with autouse=True ask for a fixture of personalens where such"
    " tests are"
)
_NO_ASSISTANT = (
    "personalens: no assistant to test; define a fixture personalens_assistant in conftest.py that returns a"
    " callable taking the messages so far ([{'role': ..., 'content': ...}, ...]) and returning the reply's"
    " text"
)


@pytest.fixture
def _personalens_param(request: pytest.FixtureRequest) -> pytest.FixtureRequest:
    """The request, once for all our fixtures, because pytest makes it anew for each that asks."""
    if not hasattr(request, "param"):
        pytest.fail(_NO_PARAMETERS, pytrace=False)
    return request


@pytest.fixture
def personalens_scenario(_personalens_param: pytest.FixtureRequest) -> BaseScenario:
    """The scenario of this item: user, task, situation, and the profile's parts that matter for the task."""
    return _personalens_param.config.stash[RUN].scenario(spec_of(_personalens_param.node))


@pytest.fixture
def personalens_context(
    _personalens_param: pytest.FixtureRequest, personalens_scenario: BaseScenario
) -> Context:
    """What the assistant may know of this user before the dialogue (see --personalens-context): a memory to
    seed.

    In a control (--personalens-control) it is nothing, or what is known of another user.
    """
    _check_scenario(personalens_scenario)
    from pytest_personalens.plugin.prepare import context_of

    item = _personalens_param.node
    attempt = item.stash[ATTEMPT] = item.stash.get(ATTEMPT, 0) + 1
    return context_of(item, item.config.stash[RUN], personalens_scenario, attempt=attempt)


@pytest.fixture(scope="session")
def personalens_assistant(request: pytest.FixtureRequest) -> Callable[[list[dict[str, str]]], str]:
    """The assistant under test: override this fixture with one that returns a callable, messages -> reply."""
    if request.config.stash[SETTINGS].assistant is None:
        _stop(request, _NO_ASSISTANT + _elsewhere(request))
    return lambda messages: ""  # never called: --personalens-assistant names the one under test


@pytest.fixture
def personalens(
    _personalens_param: pytest.FixtureRequest,
    personalens_scenario: BaseScenario,
    personalens_context: Context,
    personalens_assistant: Any,
) -> Personalens:
    """This item's scenario, ready to run: `.check()` simulates, judges and asserts; `.evaluate()` returns the
    Evaluation.
    """
    from pytest_personalens.plugin.fixture import Personalens

    _check_scenario(personalens_scenario)  # for who overrides personalens_context too
    request = _personalens_param
    if not callable(personalens_assistant):
        from pytest_personalens.engine.assistant import how_to_call

        kind = type(personalens_assistant).__name__
        hint = (
            "; write the fixture as a plain function, not 'async def'"
            if kind in ("coroutine", "async_generator")
            else how_to_call(personalens_assistant)
        )
        _stop(
            request,
            f"personalens: the fixture personalens_assistant returned {kind}, which cannot be called{hint}",
        )
    stash = request.config.stash
    settings = stash[SETTINGS]
    if settings.shares_assistant and is_worker(request.config):
        from pytest_personalens.plugin.prefetch import why_not_concurrent

        if problem := why_not_concurrent([request.node], settings.concurrency):
            _stop(request, problem)
    if SYRUPY not in stash:
        stash[SYRUPY] = _syrupy(request)
    return Personalens(
        item=request.node,
        run=stash[RUN],
        scenario=personalens_scenario,
        context=personalens_context,
        assistant=personalens_assistant,
        syrupy=stash[SYRUPY],
    )


def _syrupy(request: pytest.FixtureRequest) -> SnapshotSession:
    """syrupy's session, from its fixture; as syrupy keeps it for itself, where the team has a fixture of
    their own by that name.
    """
    from syrupy.session import SnapshotSession

    of_fixture = getattr(request.getfixturevalue("snapshot"), "session", None)
    session = of_fixture if isinstance(of_fixture, SnapshotSession) else syrupy_session(request.config)
    if not isinstance(session, SnapshotSession):
        _stop(
            request,
            "personalens: the fixture snapshot is not that of syrupy, which keeps our records; call your own"
            " by another name",
        )
    return session


def _check_scenario(value: object) -> None:
    from pytest_personalens.core.scenario import BaseScenario

    if not isinstance(value, BaseScenario):
        pytest.fail(
            f"personalens: the fixture personalens_scenario returned {type(value).__name__}; one that"
            " overrides ours must return a Scenario, such as personalens_scenario.model_copy(update=...)",
            pytrace=False,
        )


def _elsewhere(request: pytest.FixtureRequest) -> str:
    """Where the fixture is that the built-in suite does not see, if that is what runs."""
    if not any(file_of(item.nodeid) == BUILT_IN for item in request.session.items):
        return ""
    conftests = [
        plugin
        for plugin in request.config.pluginmanager.get_plugins()
        if hasattr(plugin, "personalens_assistant")
    ]
    root = request.config.rootpath
    files = [
        Path(file)
        for plugin in conftests
        if (file := getattr(plugin, "__file__", None)) and plugin.__name__ != __package__
    ]
    there = next((f"the one in {os.path.relpath(file, root)} there" for file in files), "it there")
    return (
        f". The built-in suite sees the conftest.py of the root folder only: move {there}, or write a test"
        " that sees yours: def test_it(personalens): personalens.check()"
    )


def _stop(request: pytest.FixtureRequest, message: str) -> NoReturn:
    """Fail this item, and with it a run in which every other would fail alike."""
    if not is_worker(request.config):
        request.session.shouldfail = message
    pytest.fail(message, pytrace=False)
