"""pytest's side: hooks, fixtures, options, records, and the controlling process."""

from __future__ import annotations

import gc
import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_personalens.core.node_ids import BUILT_IN, file_of
from pytest_personalens.plugin import hookspecs
from pytest_personalens.plugin.input_errors import as_one_line, errors_in_one_line
from pytest_personalens.plugin.items import (
    PARAM,
    asks_for_ours,
    is_scenario_item,
    is_to_be_evaluated,
    spec_of,
    to_be_evaluated,
)
from pytest_personalens.plugin.keys import ATTEMPT, IN_TURN, RUN, SETTINGS, SYRUPY
from pytest_personalens.plugin.options import (
    add_options,
    check_paths,
    gates_without_sample,
    hint_of_node_ids,
    read_settings,
    refuse_an_empty_run,
    settings_of,
)
from pytest_personalens.plugin.pytest_internals import files_not_collected, run_instead_of_tests, shorten_crash, syrupy_session

# Everything heavy is imported where a run first needs it: a plain pytest run must not pay for this plugin.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from syrupy.session import SnapshotSession

    from pytest_personalens.core.scenario import Context, Scenario
    from pytest_personalens.plugin.fixture import Personalens
    from pytest_personalens.plugin.xdist import Deaths

#: The workers of this run that died, where several dialogues run in each.
DEATHS: pytest.StashKey[Deaths] = pytest.StashKey()

_LARGE = 10_000  # scenarios
_NO_SAMPLE = "personalens: give --personalens-sample N (or personalens_sample in the configuration) to run this"
_TWO_SNAPSHOTS = (
    "personalens: pytest-snapshot and syrupy, which keeps our records, have the option --snapshot-update both, and pytest cannot start "
    "with the two; run with -p no:snapshot, or with -p no:syrupy where no test of personalens is run, or uninstall pytest-snapshot"
)
_NO_PARAMETERS = (
    "personalens: methods of unittest.TestCase and doctests cannot stand for scenarios; write a function, def test_it(personalens), and "
    "let no fixture with autouse=True ask for a fixture of personalens where such tests are"
)
_NO_ASSISTANT = (
    "personalens: no assistant to test; define a fixture personalens_assistant in conftest.py that returns a callable "
    "taking the messages so far ([{'role': ..., 'content': ...}, ...]) and returning the reply's text"
)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # Both want --snapshot-update, and whichever pytest loads second ends it with a traceback. Looked up by name, which is quick.
    blocked = any(map(pluginmanager.is_blocked, ("syrupy", "snapshot"))) or "PYTEST_DISABLE_PLUGIN_AUTOLOAD" in os.environ
    if not blocked and find_spec("pytest_snapshot") is not None:
        raise pytest.UsageError(_TWO_SNAPSHOTS)
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
@errors_in_one_line()
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # Before any conftest: pytest has looked for the configuration in the wrong place by now, and so may not find what they import.
    check_paths(early_config)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


@errors_in_one_line()
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "personalens(domain, kind, context, max_turns, p, tc, ...): settings and thresholds of a test that asks for the "
        "fixture personalens. Its items carry personalens(domain=..., kind=..., user=...), one mark a domain, for -m.",
    )
    settings = read_settings(config)
    config.stash[SETTINGS] = settings
    if settings.sample is None:
        return
    if settings.sample < _LARGE:
        # Undoes what pytest_collection does, so that all is cleared away in the end as ever. Asked for here, it comes after pytest's
        # own last look for garbage.
        config.add_cleanup(gc.unfreeze)
    if not config.pluginmanager.hasplugin("syrupy"):
        raise pytest.UsageError("personalens: its records need the plugin syrupy, which is blocked (-p no:syrupy)")
    if not _is_worker(config):
        from pytest_personalens.plugin.controller import Controller

        if config.pluginmanager.register(Controller(config, settings), "personalens-controller") is None:
            raise pytest.UsageError(
                "personalens: its part that decides the gates is blocked (-p no:personalens-controller); leave that out"
            )


@pytest.hookimpl(tryfirst=True)
@errors_in_one_line()
def pytest_sessionstart(session: pytest.Session) -> None:
    # Here and not at configure time: by now every conftest that may add a dataset or an agent is loaded. And
    # first of all, so that a bad option or data file is reported before xdist starts its workers.
    settings = session.config.stash[SETTINGS]
    if settings.sample is not None:
        from pytest_personalens.plugin.run import open_run

        session.config.stash[RUN] = open_run(session.config, settings)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | pytest.ExitCode | None:
    if not config.getoption("personalens_estimate"):
        return None

    def report(config: pytest.Config, session: pytest.Session) -> None:
        from pytest_personalens.plugin.cost_estimate import print_estimate

        if RUN not in config.stash:
            raise pytest.UsageError("--personalens-estimate: give --personalens-sample N too")
        print_estimate(config.stash[RUN])

    # Nothing is run, so there is nothing to distribute.
    for name, value in (("dist", "no"), ("tx", []), ("numprocesses", 0)):
        setattr(config.option, name, value)
    return run_instead_of_tests(config, report)


def pytest_report_header(config: pytest.Config) -> str | None:
    if RUN in config.stash:
        return config.stash[RUN].header()
    if gates_without_sample(config, config.stash[SETTINGS]):
        return "personalens: there are gates in the configuration and no sample (--personalens-sample N): none is decided"
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    try:
        return (yield from _collection(session))
    except pytest.UsageError as error:
        # An item of a scenario is there only in a run whose sample has that scenario.
        hint = hint_of_node_ids(session.config, session.config.stash[SETTINGS].sample)
        # pytest's own texts, and those of others, stay as they are: they may well have several lines.
        raise pytest.UsageError(*error.args, *map(as_one_line, hint)) from None


def _collection(session: pytest.Session) -> Generator[None, Any, Any]:
    if RUN not in session.config.stash or not gc.isenabled():
        return (yield)
    # What is made here lives until the process ends. To look for garbage among it, now and later, takes longer than to make it.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@errors_in_one_line(collecting=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if PARAM not in metafunc.fixturenames or RUN not in metafunc.config.stash:
        return
    from pytest_personalens.core.errors import PersonalensError

    config, where = metafunc.config, metafunc.definition.nodeid
    try:
        settings = settings_of(config.stash[SETTINGS], config, list(metafunc.definition.iter_markers("personalens")), where)
        planned = config.stash[RUN].plan(settings)
    except PersonalensError as error:
        raise pytest.Collector.CollectError(f"personalens: {error}") from None
    mark = cache(pytest.mark.personalens)  # as few as there are, because a sample may be of everything
    own = pytest.mark.syrupy_snapshot  # what syrupy itself would mark them with, if each asked for its fixture
    params = [
        pytest.param(case, id=case.id, marks=[own, *(mark(domain=d, kind=case.ref.kind, user=case.ref.user) for d in case.ref.domains)])
        for case in planned
    ]
    if not params:  # a shard of a sample with fewer scenarios than shards: nothing to do is no failure
        params = [pytest.param(None, id="none", marks=pytest.mark.skip(reason="personalens: this shard has no scenario of the sample"))]
    metafunc.parametrize(PARAM, params, indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report: pytest.CollectReport = yield
    skipped = report.skipped and isinstance(collector, pytest.Module) and RUN in collector.config.stash
    # What is in it nobody knows now. Its text tells whether a test of ours is among it.
    if skipped and b"personalens" in collector.path.read_bytes():
        collector.config.stash[RUN].tally.add_skipped(collector.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class) -> Generator[None, Any, Any]:
    made = yield
    if isinstance(made, list) and made and RUN in collector.config.stash and is_scenario_item(made[0]):
        # Before any selection, by node ids too: what is left out later is known by what there was.
        collector.config.stash[RUN].tally.add_made(to_be_evaluated(made))
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash[SETTINGS].sample is None:
        for item in filter(asks_for_ours, items):
            item.add_marker(pytest.mark.skip(reason=_NO_SAMPLE))
        return
    ours = any(map(is_scenario_item, items))
    if not ours and _whole_repository(config):
        from pytest_personalens.plugin import suite

        # First, so that -k, -m and syrupy see these items like any others.
        module = pytest.Module.from_parent(session, path=Path(suite.__file__), nodeid=BUILT_IN)
        items.extend(item for item in session.genitems(module) if isinstance(item, pytest.Item))


@pytest.hookimpl(trylast=True)
@errors_in_one_line()
def pytest_collection_finish(session: pytest.Session) -> None:
    settings = session.config.stash[SETTINGS]
    if RUN not in session.config.stash:
        return
    tally = session.config.stash[RUN].tally
    # --lf does not even collect the files in which nothing failed: of each, one item at least is left out.
    tally.select(to_be_evaluated(session.items), uncollected=files_not_collected(session.config) if tally.made else 0)
    if _is_worker(session.config):
        return
    if not session.testsfailed and (session.config.option.setuponly or not any(map(is_to_be_evaluated, session.items))):
        refuse_an_empty_run(session.config, settings, planned=bool(tally.made), left=bool(tally.remaining))
    if settings.shares_assistant:
        from pytest_personalens.plugin.prefetch import why_not_concurrent

        if problem := why_not_concurrent(filter(is_scenario_item, session.items), settings.concurrency):
            raise pytest.UsageError(problem)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    if RUN in node.config.stash:
        from pytest_personalens.plugin.budget import BUDGET

        node.workerinput[BUDGET] = node.config.stash[RUN].budget_folder
        if DEATHS in node.config.stash and node.config.stash[DEATHS].count:
            node.workerinput[IN_TURN] = True


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if error and DEATHS in node.config.stash:
        node.config.stash[DEATHS].add()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if RUN not in config.stash or not config.stash[SETTINGS].side_by_side:
        return None
    from pytest_personalens.plugin.xdist import Deaths, scheduling

    cluster, concurrency = config.stash[RUN].cluster, config.stash[SETTINGS].concurrency
    deaths = config.stash[DEATHS] = Deaths(config, side_by_side=cluster is None)
    return scheduling(config, log, side_by_side=cluster.places if cluster else concurrency, deaths=deaths)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report: pytest.TestReport = yield
    if RUN in item.config.stash and (call.when == "call" or (call.when == "setup" and not report.passed)):
        from pytest_personalens.plugin.keys import ITEM_KEY, SECONDS

        if call.when == "call" and SECONDS in item.stash and item.config.stash[SETTINGS].side_by_side:
            # What its evaluation took, not how much of that was left when its turn came.
            report.duration = item.stash[SECONDS]
        from pytest_personalens.plugin.controller import PROPERTY, UNEVALUATED, junit_properties

        if ITEM_KEY in item.stash:
            result = item.stash[ITEM_KEY]
            controller = item.config.pluginmanager.get_plugin("personalens-controller")
            if controller is None or not controller.enter(report.nodeid, result):
                # A JSON string: execnet carries no richer object, and fails in a way that xdist takes for success.
                report.user_properties.append((PROPERTY, result.model_dump_json()))
            # These reach JUnit, which reads the report of the teardown.
            item.user_properties.extend(junit_properties(result))
            if call.excinfo is not None and isinstance(call.excinfo.value, pytest.fail.Exception):
                shorten_crash(report)  # every dialogue would stand there twice
        elif is_to_be_evaluated(item):
            case = spec_of(item)
            report.user_properties.append((UNEVALUATED, json.dumps([case.control, case.ref.kind, *case.ref.domains])))
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RUN in session.config.stash and session.config.stash[SETTINGS].side_by_side:
        from pytest_personalens.plugin.prefetch import PREFETCHER

        if PREFETCHER in session.stash:
            session.stash[PREFETCHER].close()
    output = getattr(session.config, "workeroutput", None)
    if output is not None and RUN in session.config.stash:
        output["personalens"] = json.dumps(session.config.stash[RUN].drawn())


def pytest_unconfigure(config: pytest.Config) -> None:
    if RUN in config.stash:
        # Everything under way ends with its current call.
        config.stash[RUN].close()


@pytest.fixture
def _personalens_param(request: pytest.FixtureRequest) -> pytest.FixtureRequest:
    """The request, once for all our fixtures, because pytest makes it anew for each that asks."""
    if not hasattr(request, "param"):
        pytest.fail(_NO_PARAMETERS, pytrace=False)
    return request


@pytest.fixture
def personalens_scenario(_personalens_param: pytest.FixtureRequest) -> Scenario:
    """The scenario of this item: user, task, situation, and the profile's parts that matter for the task."""
    return _personalens_param.config.stash[RUN].scenario(spec_of(_personalens_param.node).ref)


@pytest.fixture
def personalens_context(_personalens_param: pytest.FixtureRequest, personalens_scenario: Scenario) -> Context:
    """What the assistant may know of this user before the dialogue (see --personalens-context): a memory to seed.

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
    personalens_scenario: Scenario,
    personalens_context: Context,
    personalens_assistant: Any,
) -> Personalens:
    """This item's scenario, ready to run: `.check()` simulates, judges and asserts; `.evaluate()` returns the Evaluation."""
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
        _stop(request, f"personalens: the fixture personalens_assistant returned {kind}, which cannot be called{hint}")
    stash = request.config.stash
    settings = stash[SETTINGS]
    if settings.shares_assistant and _is_worker(request.config):
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
    """syrupy's session, from its fixture; as syrupy keeps it for itself, where the team has a fixture of their own by that name."""
    from syrupy.session import SnapshotSession

    of_fixture = getattr(request.getfixturevalue("snapshot"), "session", None)
    found = of_fixture if isinstance(of_fixture, SnapshotSession) else syrupy_session(request.config)
    if not isinstance(found, SnapshotSession):
        _stop(request, "personalens: the fixture snapshot is not that of syrupy, which keeps our records; call your own by another name")
    return found


def _check_scenario(found: object) -> None:
    from pytest_personalens.core.scenario import Scenario

    if not isinstance(found, Scenario):
        pytest.fail(
            f"personalens: the fixture personalens_scenario returned {type(found).__name__}; one that overrides ours must return "
            "a Scenario, such as personalens_scenario.model_copy(update=...)",
            pytrace=False,
        )


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _whole_repository(config: pytest.Config) -> bool:
    """True if the run was not narrowed down to certain files."""
    narrowed = config.args_source is pytest.Config.ArgsSource.ARGS
    return not narrowed or all(Path(arg).resolve() == config.rootpath for arg in config.args)


def _elsewhere(request: pytest.FixtureRequest) -> str:
    """Where the fixture is that the built-in suite does not see, if that is what runs."""
    if not any(file_of(item.nodeid) == BUILT_IN for item in request.session.items):
        return ""
    conftests = [plugin for plugin in request.config.pluginmanager.get_plugins() if hasattr(plugin, "personalens_assistant")]
    root = request.config.rootpath
    files = [Path(file) for plugin in conftests if (file := getattr(plugin, "__file__", None)) and plugin.__name__ != __name__]
    there = next((f"the one in {os.path.relpath(file, root)} there" for file in files), "it there")
    return (
        f". The built-in suite sees the conftest.py of the root folder only: move {there}, or write a test that sees yours: "
        "def test_it(personalens): personalens.check()"
    )


def _stop(request: pytest.FixtureRequest, message: str) -> NoReturn:
    """Fail this item, and with it a run in which every other would fail alike."""
    if not _is_worker(request.config):
        request.session.shouldfail = message
    pytest.fail(message, pytrace=False)
