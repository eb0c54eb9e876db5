"""The pytest plugin: hooks, fixtures, records, and the controller."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.options.option_table import LINES, OPTIONS
from pytest_personalens.plugin import hookspecs
from pytest_personalens.plugin.fixtures import fixtures
from pytest_personalens.plugin.input_errors import errors_in_one_line, input_error
from pytest_personalens.plugin.pytest_internals import asks_for_ours, written_keys
from pytest_personalens.plugin.running.keys import (
    DIRECTED,
    EVALUATED,
    HANDED_OVER,
    ITEM_KEY,
    RUN,
    SETTINGS,
    is_worker,
)

# All else is imported when a run first needs it, because a plain pytest run must not become slower.
if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_personalens.plugin.pytest_internals import Failed

_NO_SAMPLE = (
    "personalens: give --personalens-sample N (or personalens_sample in the configuration) to run this"
)
#: The variable that every run may have set.
_CACHE: Final = "PERSONALENS_CACHE_DIR"
_GROUPS: Final = {
    "select": "which scenarios",
    "run": "how they are run",
    "judge": "how they are judged",
    "gate": "what fails the run",
    "report": "what is written",
}
#: The key of a worker's output that says which gates it cannot decide.
_UNDECIDED = "personalens_undecided"
_TWO_SNAPSHOTS = (
    "personalens: pytest-snapshot and syrupy, which is installed with personalens, have the option"
    " --snapshot-update both, and pytest cannot start with the two; run with -p no:syrupy (personalens works"
    " without that plugin), or with -p no:snapshot, or add it to addopts"
)


@errors_in_one_line()
def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # pytest-snapshot and syrupy both add --snapshot-update, and the second one ends pytest with a traceback.
    # The check looks them up by name, which is quick.
    blocked = (
        any(map(pluginmanager.is_blocked, ("syrupy", "snapshot")))
        or "PYTEST_DISABLE_PLUGIN_AUTOLOAD" in os.environ
    )
    if not blocked and find_spec("pytest_snapshot") is not None:
        raise input_error(_TWO_SNAPSHOTS, code="PL108")
    _add_options(parser)


def _add_options(parser: pytest.Parser) -> None:
    """Declare every option and its typed ini key."""
    for name, title in _GROUPS.items():
        group = parser.getgroup(f"personalens: {name}", f"personalens, {name} ({title})")
        for o in (o for o in OPTIONS if o.group == name):
            action: dict[str, Any] = {"action": "append" if o.many else "store", "metavar": o.metavar}
            if o.on != "ini":
                kind = {"action": "store_true", "default": False} if o.flag else action
                group.addoption(o.long, **{"default": None, **kind}, dest=o.ini, help=o.help)
            if o.on != "command line":
                of_key: Any = "string" if " or " in o.type else o.type
                parser.addini(
                    o.ini, o.help if o.on == "ini" else "the option of this name", type=of_key, default=None
                )
    for key, text in LINES.items():
        parser.addini(key, text, type="linelist")


def _is_asked_for(config: pytest.Config) -> bool:
    """True if an option of the plugin is given, or a key or a variable has a name that may be one of ours."""
    if config.option.help:  # pytest then reads no options, and runs nothing
        return False
    if any(config.getoption(o.ini, None) not in (None, False) for o in OPTIONS if o.on != "ini"):
        return True
    keys = (key.casefold() for key in written_keys(config))
    variables = (name for name in os.environ if name.startswith("PERSONALENS_"))
    return any(key.startswith("personalens") for key in keys) or any(v != _CACHE for v in variables)


@pytest.hookimpl(tryfirst=True)
@errors_in_one_line()
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # This happens before any conftest is loaded. With a wrong path, pytest has looked for the configuration
    # in the wrong place, and may not find the modules that a conftest imports.
    if any("--personalens" in str(arg) for arg in early_config.invocation_params.args):
        from pytest_personalens.plugin.options.option_checks import check_paths

        check_paths(early_config)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.register(fixtures, "personalens-fixtures")


@errors_in_one_line()
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "personalens(domain, kind, context, max_turns, p, tc, ...): settings and thresholds of a test that"
        " asks for the fixture personalens. Its items carry personalens(domain=..., kind=..., user=...), one"
        " mark a domain, for -m.",
    )
    if config.option.collectonly and getattr(config.option, "numprocesses", None):
        # No worker reports to syrupy (7.0), which would warn that it cannot tell what is unused.
        config.option.disable_unused_snapshots = True
    if not _is_asked_for(config):
        return
    from pytest_personalens.plugin.options.read_options import read_settings

    settings = read_settings(config)
    config.stash[SETTINGS] = settings
    if settings.sample is None:
        return
    if settings.dialogues:
        from pytest_personalens.plugin.collection.collection import OfStoredDialogues

        config.pluginmanager.register(OfStoredDialogues(), "personalens-stored")
    from pytest_personalens.core.runtime import leave_out_at_exit, unfreezing
    from pytest_personalens.plugin.collection import collection

    _register(config, collection, "collection", "collects its items")
    # This undoes the freeze of the run and of its items, so that everything is cleared away at the end. A
    # cleanup that is added here runs after pytest's own last garbage collection.
    config.add_cleanup(unfreezing())
    leave_out_at_exit()
    if not is_worker(config):
        from pytest_personalens.plugin.reporting.controller import Controller

        _register(config, Controller(config, settings), "controller", "decides the gates")


def _register(config: pytest.Config, plugin: object, name: str, does: str) -> None:
    """Add a part of the plugin that only a run of it needs; raise `pytest.UsageError` if it is blocked."""
    if config.pluginmanager.register(plugin, f"personalens-{name}") is None:
        raise input_error(
            f"personalens: its part that {does} is blocked (-p no:personalens-{name}); leave that out",
            code="PL108",
        )


@pytest.hookimpl(tryfirst=True)
@errors_in_one_line()
def pytest_sessionstart(session: pytest.Session) -> None:
    # This is not done at configure time, because only now every conftest that may add a dataset or an agent
    # is loaded. It comes first, so that a bad option or data file is reported before xdist starts its
    # workers.
    settings = session.config.stash.get(SETTINGS, None)
    if settings is not None and settings.sample is not None:
        from pytest_personalens.plugin.running.run import open_run

        session.config.stash[RUN] = open_run(session.config, settings)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | pytest.ExitCode | None:
    if config.option.collectonly:
        # xdist starts no worker then, and syrupy, which is here because of this plugin, would wait for them.
        _without_workers(config)
    if not config.getoption("personalens_estimate"):
        return None

    @errors_in_one_line()
    def report(config: pytest.Config, session: pytest.Session) -> None:
        from pytest_personalens.plugin.reporting.cost_estimate import print_estimate

        print_estimate(config.stash[RUN])

    from pytest_personalens.plugin.pytest_internals import run_instead_of_tests

    # No test runs, so xdist must not start workers.
    _without_workers(config)
    return run_instead_of_tests(config, report)


def _without_workers(config: pytest.Config) -> None:
    for name, value in (("dist", "no"), ("tx", []), ("numprocesses", 0)):
        setattr(config.option, name, value)


def pytest_report_header(config: pytest.Config) -> str | None:
    if RUN in config.stash:
        from pytest_personalens.plugin.reporting.terminal_summary import header_of

        return header_of(config.stash[RUN])
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if RUN not in config.stash:
        for item in filter(asks_for_ours, items):
            item.add_marker(pytest.mark.skip(reason=_NO_SAMPLE))


@pytest.hookimpl(trylast=True)
@errors_in_one_line()
def pytest_collection_finish(session: pytest.Session) -> None:
    config = session.config
    if RUN in config.stash or SETTINGS not in config.stash or config.option.collectonly:
        return
    if any(map(asks_for_ours, session.items)):
        from pytest_personalens.plugin.options.option_checks import undecided_gates

        if keys := undecided_gates(config):
            text = (
                f"{keys[0]}: no gate can be decided without a sample; give --personalens-sample N, or set"
                f" personalens_sample beside it; -o {keys[0]}= runs the other tests alone"
            )
            if not is_worker(config):
                raise input_error(text, code="PL108")
            config.workeroutput[_UNDECIDED] = text  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
@errors_in_one_line()
def pytest_testnodedown(node: Any) -> None:
    # xdist takes a usage error of a worker for a fault of its own.
    if text := (getattr(node, "workeroutput", None) or {}).get(_UNDECIDED):
        raise input_error(text, code="PL108")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    if RUN in node.config.stash:
        from pytest_personalens.plugin.failures import WIDTH, columns
        from pytest_personalens.plugin.running.opening import SHARED
        from pytest_personalens.plugin.running.xdist import number_worker
        from pytest_personalens.plugin.stored.resume import RUN_ID

        node.workerinput[SHARED] = node.config.stash[RUN].shared_folder
        node.workerinput[RUN_ID] = node.config.stash[RUN].state.id
        node.workerinput[WIDTH] = columns(node.config)
        number_worker(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Any:
    if RUN not in config.stash or not config.stash[RUN].side_by_side:
        return None
    from pytest_personalens.plugin.running.xdist import scheduling

    return scheduling(config, side_by_side=config.stash[RUN].cluster is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report: pytest.TestReport = yield
    if RUN in item.config.stash and (call.when == "call" or (call.when == "setup" and not report.passed)):
        from pytest_personalens.plugin.running.keys import JUNIT, SECONDS

        if call.when == "call" and SECONDS in item.stash:
            # The duration is that of the evaluation, not the time that was left of it at the item's turn.
            report.duration = item.stash[SECONDS]
        from pytest_personalens.plugin.reporting.reported import UNEVALUATED, junit_properties
        from pytest_personalens.plugin.running.items import is_to_be_evaluated, spec_of

        if ITEM_KEY in item.stash:
            _hand_over(item, report)
            result = item.stash[ITEM_KEY]
            # JUnit reads these properties from the report of the teardown. This hook is called once more for
            # each subtest, and for each attempt of an item that runs again.
            before, properties = item.stash.get(JUNIT, []), junit_properties(result)
            others = [one for one in item.user_properties if one not in before]
            item.user_properties[:] = [*others, *properties]
            item.stash[JUNIT] = properties
            raised = None if call.excinfo is None else call.excinfo.value
            if isinstance(raised, pytest.fail.Exception):
                _show(item.config, report, raised)
            elif report.failed:
                _tell_unscored(item.config, report)
            if EVALUATED in item.config.stash:
                del item.config.stash[EVALUATED]
        elif is_to_be_evaluated(item) and DIRECTED not in item.stash:
            case = spec_of(item)
            report.user_properties.append(
                (UNEVALUATED, json.dumps([case.control, case.ref.kind, *case.ref.domains]))
            )
    elif RUN in item.config.stash and item.stash.get(ITEM_KEY, None) is not item.stash.get(HANDED_OVER, None):
        _hand_over(item, report)  # pytest-retry runs an item again within the report of its first call
    return report


def _hand_over(item: pytest.Item, report: pytest.TestReport) -> None:
    """Give the controller the item's result, in a worker as a property of the report."""
    result = item.stash[HANDED_OVER] = item.stash[ITEM_KEY]
    controller = item.config.pluginmanager.get_plugin("personalens-controller")
    if controller is not None and controller.process == os.getpid():
        controller.reported.items[report.nodeid] = result
    else:
        from pytest_personalens.plugin.reporting.reported import PROPERTY

        # As a JSON string: execnet carries no richer object, and xdist takes its failure for success.
        report.user_properties.append((PROPERTY, result.model_dump_json()))


def _tell_unscored(config: pytest.Config, report: pytest.TestReport) -> None:
    """Say why an item was not scored, where a test of its own failed on that and did not say it."""
    evaluation = config.stash.get(EVALUATED, None)
    if evaluation is None or not evaluation.cause:
        return
    from pytest_personalens.reports.content.why_items_failed import failure_headline

    if (told := failure_headline(evaluation, ())) not in report.longreprtext:
        report.sections.append(("personalens", told))


def _show(config: pytest.Config, report: pytest.TestReport, raised: Failed) -> None:
    from pytest_personalens.plugin.failures import ItemFailed, show_failure
    from pytest_personalens.plugin.pytest_internals import shorten_crash

    if isinstance(raised, ItemFailed) and not raised.pytrace:
        show_failure(config, report, raised)
    else:
        shorten_crash(report)  # otherwise the output would show every dialogue twice


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    # By its name first: a run that does not use it imports nothing for it.
    if op not in ("in", "not in") or type(left).__name__ != "Called" or not isinstance(right, list):
        return None
    from pytest_personalens.core.dialogue.message import describe_calls

    why = ""
    evaluation = config.stash.get(EVALUATED, None)
    if evaluation is not None and evaluation.cause:
        from pytest_personalens.reports.content.why_items_failed import failure_headline

        why = f", which was {failure_headline(evaluation, ())}"
    return [f"{left!r} {op} the calls of the dialogue{why}", *describe_calls(right)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RUN in session.config.stash and session.config.stash[RUN].side_by_side:
        from pytest_personalens.plugin.running.prefetch import PREFETCHER

        if PREFETCHER in session.stash:
            session.stash[PREFETCHER].close()
    output = getattr(session.config, "workeroutput", None)
    if output is not None and RUN in session.config.stash:
        output["personalens"] = json.dumps(asdict(session.config.stash[RUN].drawn()))


def pytest_unconfigure(config: pytest.Config) -> None:
    if RUN in config.stash:
        # All running work ends with its current call.
        config.stash[RUN].close()
