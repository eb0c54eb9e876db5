"""The fixtures of the plugin.

They give the scenario of an item, its context, the assistant under test, and `personalens` itself.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

from pytest_personalens.core.node_ids import BUILT_IN, file_of
from pytest_personalens.plugin.items import spec_of
from pytest_personalens.plugin.keys import ATTEMPT, RUN, SETTINGS, is_worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.plugin.fixture import Personalens

_NO_PARAMETERS = (
    "personalens: methods of unittest.TestCase and doctests cannot stand for scenarios; write a function, def"
    " test_it(personalens), and let no fixture with autouse=True ask for a fixture of personalens where such"
    " tests are"
)
_ASSISTANT: Final = "personalens_assistant"
_NO_ASSISTANT: Final = f"personalens: no assistant to test; define a fixture {_ASSISTANT} in conftest.py"
_PASTE: Final = f"""

    import pytest

    @pytest.fixture
    def {_ASSISTANT}(personalens_context):
        memory = personalens_context.text()  # what your assistant may know of this user
        return lambda messages: "the reply of your assistant to " + messages[-1]["content"]
"""


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
        _stop(request, _NO_ASSISTANT + (_misspelt(request) or _elsewhere(request)), _PASTE)
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
    return Personalens(
        item=request.node,
        run=stash[RUN],
        scenario=personalens_scenario,
        context=personalens_context,
        assistant=personalens_assistant,
        state=personalens_state,
    )


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


def _misspelt(request: pytest.FixtureRequest) -> str:
    """Return the name that a conftest.py or the test's file nearly has."""
    files = [
        plugin
        for plugin in request.config.pluginmanager.get_plugins()
        if Path(getattr(plugin, "__file__", None) or "").name == "conftest.py"
    ]
    names = {
        name for file in (*files, getattr(request.node, "module", None)) for name in vars(file or object)
    }
    near = difflib.get_close_matches(_ASSISTANT, names - {_ASSISTANT}, n=1, cutoff=0.8)
    return f"; there is {near[0]}: did you mean {_ASSISTANT}?" if near else ""


def _stop(request: pytest.FixtureRequest, message: str, further: str = "") -> NoReturn:
    """Fail this item and stop the run, because every other item would fail alike.

    `further` lines are printed below the message.
    """
    if not is_worker(request.config):
        request.session.shouldfail = message.partition(";")[0] if further else message
    pytest.fail(message + further, pytrace=False)
