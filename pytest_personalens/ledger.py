"""The controlling process's book of results: gathers reports, decides gates, writes reports, sees to the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.gates import check_gates, judge_gate
from pytest_personalens.results import Gate, Item, Results, summarize, with_drift, write_json

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_personalens.options import Settings
    from pytest_personalens.watch import Watch

#: Name of the report property that carries an item's result from a worker to the controller.
PROPERTY: Final = "personalens"


class Ledger:
    """Registered in the controlling process only (the one process there is, without xdist)."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config, self._settings = config, settings
        self._items: dict[str, Item] = {}
        self._finished: set[str] = set()
        self._crashed: set[str] = set()
        self._requested: dict[str, int] = {}
        self._internal_error = False
        self._results: Results | None = None
        self._json = _json_path(config, settings)
        self._watch: Watch | None = None
        if settings.adopt_judge or settings.check_judge:
            from pytest_personalens.watch import Watch

            self._watch = Watch(config, settings)

    def pytest_sessionstart(self) -> None:
        # After the plugin's own, which opens the judge, and before xdist's, which starts the workers.
        if self._watch is not None:
            from pytest_personalens.plugin import SESSION

            self._watch.admit(self._config, self._config.stash[SESSION])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown" or (report.when != "call" and report.failed):
            self._finished.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist reports an item whose worker died with a phase of its own.
            self._crashed.add(report.nodeid)
        for name, value in report.user_properties:
            if name == PROPERTY:
                # By node id: --dist=each runs every item on every worker.
                self._items[report.nodeid] = Item.model_validate_json(str(value))
        if report.failed and report.nodeid in self._items:
            self._items[report.nodeid] = self._items[report.nodeid].model_copy(update={"failed": True})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        told = getattr(node, "workeroutput", None) or {}
        if "personalens" in told:
            self._requested = json.loads(told["personalens"])

    def pytest_internalerror(self) -> None:
        self._internal_error = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        if session.config.option.collectonly:
            return (yield)
        try:
            result = yield
        except BaseException:
            # -x, --maxfail, Ctrl-C: what there is is reported, and no gate judges a part for the whole.
            self._results = self._close(complete=False)
            if session.shouldfail or session.shouldstop:
                self._end_run()  # enough failures is an end like any other; Ctrl-C is not
            raise
        # In the loop and not at its end: by then it is too late to turn the summary line red.
        whole = not (session.shouldstop or session.shouldfail)
        self._results = self._close(complete=whole and session.testscollected <= len(self._finished))
        self._end_run()
        if self._watch is not None and whole and self._results is not None:
            self._results = self._judged(self._watch, self._results)
        if self._results is not None:
            session.testscollected += len(self._results.gates)  # or the progress would end at 108 %
            for gate in self._results.gates:
                self._report(gate)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        result = yield
        if self._settings.shard is not None and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # -k or -m left nothing of this shard; the merge refuses shards without any item
        if session.exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            self._end_run()  # nothing was run, so there is nothing to go on from
        # When a worker fails to send its last report, xdist (3.8) prints INTERNALERROR and exits with 0.
        unreported = session.testscollected - len(self._finished)
        stopped = session.shouldstop or session.shouldfail or session.config.option.collectonly
        if session.exitstatus == pytest.ExitCode.OK and (self._internal_error or (unreported > 0 and not stopped)):
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._results is None:
            return
        from pytest_personalens.reports.terminal import write_summary

        extra: list[list[str]] = []
        if self._results.items or self._results.lost:  # a shard may have none
            extra = self._config.hook.pytest_personalens_report_lines(results=self._results, config=self._config)
        write_summary(terminalreporter, self._results, [line for lines in extra for line in lines], json_path=self._json)
        if self._watch is not None and self._results.drift is None:
            done = "adopted" if self._settings.adopt_judge else "checked"
            terminalreporter.write_line(f"the judge was not {done}: the run was stopped")

    def _close(self, *, complete: bool) -> Results | None:
        from pytest_personalens.plugin import SESSION

        ids = self._config.stash[SESSION].ids
        lost = [n for n in self._crashed if n not in self._items and any(f"[{i}]" in n for i in ids)]
        if not self._items and not lost and self._watch is None and self._settings.shard is None:
            return None
        session = self._config.stash[SESSION]
        told = self._requested or session.requested()
        settings = self._settings._asdict()
        results = summarize(
            self._items.values(),
            settings={k: v for k, v in settings.items() if k != "json"},
            dataset=f"{session.dataset.name} {session.dataset.version}",
            requested=told["requested"],
            drawn=told["drawn"],
            lost=lost,
            prices=session.crew.role_prices(),
            complete=complete,
        )
        s = self._settings
        if complete and s.shard is None:
            gates = check_gates(results, min_tcr=s.min_tcr, min_p=s.min_p, min_valid=s.min_valid)
            results = results.model_copy(update={"gates": gates})
        if self._json is not None:
            write_json(results, self._json)
        return results

    def _end_run(self) -> None:
        from pytest_personalens.plugin import SESSION
        from pytest_personalens.run import end_run

        items = list(self._items.values())
        if not any(i.evaluation.cause == "budget" for i in items):
            settled = [i.nodeid for i in items if i.record == "written"]
            end_run(self._config.stash[SESSION].folder, settled)

    def _judged(self, watch: Watch, results: Results) -> Results:
        from pytest_personalens.plugin import SESSION

        session = self._config.stash[SESSION]
        drift, usage = watch.conclude(session, results)
        results = with_drift(results, drift, usage, prices=session.crew.role_prices())
        results = results.model_copy(update={"gates": (*results.gates, judge_gate(drift))})
        if self._json is not None:
            write_json(results, self._json)
        return results

    def _report(self, gate: Gate) -> None:
        # A test report of its own: the summary line, JUnit and the exit status all follow from it.
        nodeid = f"personalens::gate[{gate.name}]"
        location = ("personalens", None, f"gate[{gate.name}]")
        outcome: Any = "passed" if gate.passed else "failed"
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
        for when, longrepr in (("setup", None), ("call", None if gate.passed else gate.message), ("teardown", None)):
            report = pytest.TestReport(
                nodeid=nodeid,
                location=location,
                keywords={},
                outcome=outcome if when == "call" else "passed",
                when=when,  # type: ignore[arg-type]
                longrepr=longrepr,
            )
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)


def junit_properties(item: Item) -> list[tuple[str, str]]:
    """What JUnit shows of an item: a property for each score, or the cause of there being none."""
    evaluation = item.evaluation
    found = [(f"personalens_{v.dimension.value}", str(v.score)) for v in evaluation.verdicts if evaluation.scored]
    return found or [("personalens_cause", evaluation.cause)]


def _json_path(config: pytest.Config, settings: Settings) -> Path | None:
    if settings.json is None:
        return None
    on_command_line = config.getoption("personalens_json") is not None
    path = (config.invocation_params.dir if on_command_line else config.rootpath) / Path(settings.json).expanduser()
    if path.is_dir():
        raise pytest.UsageError(f"--personalens-json: {path} is a folder; give the path of a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"--personalens-json: cannot write to {path.parent}: {error.strerror}") from None
    return path
