"""The fixtures of the plugin.

They give the scenario of an item, its context, the assistant under test, and `personalens` itself.
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
    """Return the request, once for all fixtures of this plugin.

    pytest would otherwise make a new one for each of them.
    """
    if not hasattr(request, "param"):
        pytest.fail(_NO_PARAMETERS, pytrace=False)
    return request


@pytest.fixture
def personalens_scenario(_personalens_param: pytest.FixtureRequest) -> BaseScenario:
    """The scenario of this item: user, task, situation and relevant preferences."""
    return _personalens_param.config.stash[RUN].scenario(spec_of(_personalens_param.node))


@pytest.fixture
def personalens_context(
    _personalens_param: pytest.FixtureRequest, personalens_scenario: BaseScenario
) -> Context:
    """The facts that the assistant may know of this user before the dialogue.

    The option --personalens-context decides which. An assistant can store them in its memory. In a control
    (--personalens-control) there are none, or they are those of another user.
    """
    _check_scenario(personalens_scenario)
    from pytest_personalens.plugin.prepare import context_of

    item = _personalens_param.node
    attempt = item.stash[ATTEMPT] = item.stash.get(ATTEMPT, 0) + 1
    return context_of(item, item.config.stash[RUN], personalens_scenario, attempt=attempt)


@pytest.fixture(scope="session")
def personalens_assistant(request: pytest.FixtureRequest) -> Callable[[list[dict[str, str]]], str]:
    """The assistant under test: override this fixture to return a callable, messages -> reply."""
    if request.config.stash[SETTINGS].assistant is None:
        _stop(request, _NO_ASSISTANT + _elsewhere(request))
    return lambda messages: ""  # this is never called, because --personalens-assistant names the assistant


@pytest.fixture(scope="session")
def personalens_state() -> Any:
    """What your system holds: override this fixture to return a mapping, or a callable that returns one.

    The callable may be async. It is called after the dialogue, with the `personalens_context` if it has a
    parameter `context`. The judge holds the state against the facts of the scenario.
    """
    return None


@pytest.fixture
def personalens(
    _personalens_param: pytest.FixtureRequest,
    personalens_scenario: BaseScenario,
    personalens_context: Context,
    personalens_assistant: Any,
    personalens_state: Any,
) -> Personalens:
    """This item's scenario, ready to run.

    `.check()` simulates, judges and asserts the thresholds. `.evaluate()` returns the Evaluation.
    """
    from pytest_personalens.plugin.fixture import Personalens

    _check_scenario(personalens_scenario)  # needed if personalens_context is overridden too
    request = _personalens_param
    if not callable(personalens_assistant):
        from pytest_personalens.engine.assistant_import import how_to_call

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
    if personalens_state is not None:
        from pytest_personalens.engine.state import problem_of

        if problem := problem_of(personalens_state, settings):
            _stop(request, problem)
    if settings.concurrency > 1 and is_worker(request.config):
        from pytest_personalens.plugin.prefetch import why_not_concurrent

        if problem := why_not_concurrent([request.node], settings):
            _stop(request, problem)
    if SYRUPY not in stash:
        stash[SYRUPY] = _syrupy(request)
    return Personalens(
        item=request.node,
        run=stash[RUN],
        scenario=personalens_scenario,
        context=personalens_context,
        assistant=personalens_assistant,
        state=personalens_state,
        syrupy=stash[SYRUPY],
    )


def _syrupy(request: pytest.FixtureRequest) -> SnapshotSession:
    """Return syrupy's session, from its fixture.

    If the team has its own fixture with the same name, the session comes from syrupy's config attribute.
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
    """Return a hint where the fixture is that the built-in suite does not see.

    The hint is empty if no item of the built-in suite runs.
    """
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
    """Fail this item and stop the run, because every other item would fail alike."""
    if not is_worker(request.config):
        request.session.shouldfail = message
    pytest.fail(message, pytrace=False)
