"""Collects the items of the sample and the built-in suite, and counts those that a selection leaves out."""

from __future__ import annotations

from contextlib import nullcontext
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens.core.names import BUILT_IN, FIRST_SUITE, PARAM
from pytest_personalens.core.options.option_table import size_text
from pytest_personalens.core.runtime import no_collection
from pytest_personalens.plugin.input_errors import CollectionError, errors_in_one_line
from pytest_personalens.plugin.options.marks import (
    refuse_unknown_criteria,
    settings_of,
    suite_of_marks,
    why_nothing_fits,
)
from pytest_personalens.plugin.options.option_checks import refuse_an_empty_run, unknown_mark
from pytest_personalens.plugin.pytest_internals import files_not_collected
from pytest_personalens.plugin.running.items import is_scenario_item, is_to_be_evaluated, to_be_evaluated
from pytest_personalens.plugin.running.keys import RUN, SETTINGS, is_worker

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    with no_collection(kept=True) if RUN in session.config.stash else nullcontext():
        return (yield)


@errors_in_one_line(collecting=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if RUN not in metafunc.config.stash:
        return
    if problem := unknown_mark(metafunc.config, metafunc.definition.iter_markers()):
        raise CollectionError(f"personalens: {metafunc.definition.nodeid}: {problem}")
    if PARAM not in metafunc.fixturenames:
        return
    from pytest_personalens.core.errors import NothingFits, PersonalensError
    from pytest_personalens.plugin.options.marks import persona_of

    config, where = metafunc.config, metafunc.definition.nodeid
    try:
        run, marks = config.stash[SETTINGS], list(metafunc.definition.iter_markers("personalens"))
        persona = persona_of(marks, where)
        suite = suite_of_marks(marks, run, where) if persona is None else FIRST_SUITE
        planned = None
        if suite == run.suite:
            settings = settings_of(run, config, marks, where)
            this_run = config.stash[RUN]
            name = metafunc.function.__name__
            planned = this_run.plan_persona(settings, persona, name) if persona else this_run.plan(settings)
    except NothingFits as error:
        unfit = why_nothing_fits(config, marks, where, run.of_suite)
        if not unfit:
            raise CollectionError(f"personalens: {error}", code=error.code) from None
        tally = config.stash[RUN].tally
        tally.unfit = tally.unfit or unfit
        metafunc.parametrize(PARAM, [_skipped("none", unfit)], indirect=True)
        return
    except PersonalensError as error:
        raise CollectionError(f"personalens: {error}", code=error.code) from None
    mark = cache(pytest.mark.personalens)  # each mark is made once, as the sample may be large
    params = []
    for case in planned or ():
        marks_of = [mark(domain=d, kind=case.ref.kind, user=case.ref.user) for d in case.ref.domains]
        params.append(pytest.param(case, id=case.id, marks=marks_of))
    if planned is None:
        command = f"pytest --personalens-suite {suite} --personalens-sample {size_text(run.sample or 0)}"
        told = f"a test of the suite {suite}, which is run by {command}"
        tally = config.stash[RUN].tally
        tally.unfit = tally.unfit or f"personalens: {where} is {told}"
        params = [_skipped(suite, f"personalens: {told}")]
    elif not params:  # the sample has fewer scenarios than shards: an empty shard is no failure
        params = [_skipped("none", f"personalens: this shard has no {run.of_suite.item} of the sample")]
    metafunc.parametrize(PARAM, params, indirect=True)


def _skipped(name: str, reason: str) -> Any:
    return pytest.param(None, id=name, marks=pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report: pytest.CollectReport = yield
    skipped = report.skipped and isinstance(collector, pytest.Module) and RUN in collector.config.stash
    # Nobody knows the content of a skipped file. Its text says if a test of this plugin may be in it.
    if skipped and b"personalens" in collector.path.read_bytes():
        collector.config.stash[RUN].tally.skipped.append(collector.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class) -> Generator[None, Any, Any]:
    made = yield
    if isinstance(made, list) and made and RUN in collector.config.stash and is_scenario_item(made[0]):
        # This is before any selection, also one by node ids, so that what that leaves out can be counted.
        collector.config.stash[RUN].tally.made += to_be_evaluated(made)
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    if not any(map(is_scenario_item, items)) and is_whole_repository(config):
        from pytest_personalens.plugin.collection import built_in_test

        # The items are added first, so that -k, -m and other plugins treat them like any others.
        module = pytest.Module.from_parent(session, path=Path(built_in_test.__file__), nodeid=BUILT_IN)
        items.extend(item for item in session.genitems(module) if isinstance(item, pytest.Item))


@pytest.hookimpl(trylast=True)
@errors_in_one_line()
def pytest_collection_finish(session: pytest.Session) -> None:
    settings = session.config.stash[SETTINGS]
    tally = session.config.stash[RUN].tally
    tally.remaining = to_be_evaluated(session.items)
    tally.left_out = tally.made - tally.remaining
    if tally.made:
        # --lf does not collect files without failures. From each of them, at least one item is left out. So
        # it is with files beside the paths that were given, for a baseline, which is to hold the whole.
        tally.left_out += files_not_collected(session.config)
        tally.left_out += _files_beside(session.config) if settings.save_baseline is not None else 0
    if is_worker(session.config):
        from pytest_personalens.plugin.running.xdist import count_ungrouped

        tally.ungrouped = count_ungrouped(session.config, session.items)
        return
    refuse_unknown_criteria(session.config, settings)
    if not session.testsfailed and (
        session.config.option.setuponly or not any(map(is_to_be_evaluated, session.items))
    ):
        refuse_an_empty_run(
            session.config,
            settings,
            planned=bool(tally.made),
            left=bool(tally.remaining),
            unfit=tally.unfit,
        )


def _files_beside(config: pytest.Config) -> int:
    """Return how many test files that name this plugin lie outside the paths of this run."""
    named = [(config.invocation_params.dir / arg.partition("::")[0]).resolve() for arg in config.args]
    if is_whole_repository(config) or not all(path.exists() for path in named):  # modules, under --pyargs
        return 0
    apart = config.getini("norecursedirs")
    found = {
        file.resolve()
        for top in [config.rootpath / path for path in config.getini("testpaths")] or [config.rootpath]
        for pattern in config.getini("python_files")
        for file in top.rglob(pattern)
        if not any(fnmatch(part, folder) for part in file.relative_to(top).parts for folder in apart)
    }
    beside = (file for file in found if not any(file.is_relative_to(path) for path in named))
    return sum(b"personalens" in file.read_bytes() for file in beside)


def is_whole_repository(config: pytest.Config) -> bool:
    """True if the run was not restricted to certain files."""
    narrowed = config.args_source is pytest.Config.ArgsSource.ARGS
    return not narrowed or all(Path(arg).resolve() == config.rootpath for arg in config.args)


class OfStoredDialogues:
    """Hooks of a run that judges stored dialogues: it needs neither the team's tests nor its assistant."""

    def pytest_ignore_collect(self, config: pytest.Config) -> bool | None:
        # The built-in suite judges them all. Tests that the command line names judge them by their asserts.
        return True if is_whole_repository(config) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> object | None:
        if fixturedef.argname != "personalens_assistant":
            return None

        def assistant(messages: object) -> str:
            raise AssertionError("nobody answers in a run that judges stored dialogues")

        fixturedef.cached_result = (assistant, fixturedef.cache_key(request), None)
        return assistant
