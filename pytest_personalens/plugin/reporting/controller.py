"""The controller of a run, in the controlling process.

It gathers reports, decides gates, writes reports and sets the exit status.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.options.options import BY_KEY
from pytest_personalens.core.text.parse import ALL, size_text
from pytest_personalens.engine.assistant.source import origin
from pytest_personalens.plugin.infrastructure import only_infrastructure
from pytest_personalens.plugin.input_errors import errors_in_one_line
from pytest_personalens.plugin.options.option_checks import refuse_an_empty_run
from pytest_personalens.plugin.options.stored_settings import stored_settings
from pytest_personalens.plugin.pytest_internals import PrintedFailures
from pytest_personalens.plugin.reporting.gate_reports import RedGates, red_gates, report_gate, scores_text
from pytest_personalens.plugin.reporting.missing import missing_items
from pytest_personalens.plugin.reporting.outputs import Outputs
from pytest_personalens.plugin.reporting.reported import Reported
from pytest_personalens.plugin.reporting.run_baseline import baseline_of_run, refuse_baseline
from pytest_personalens.reports.files import WrittenFiles
from pytest_personalens.results.conclusion import Requirements, conclude
from pytest_personalens.results.gates.gate_expressions import with_groups
from pytest_personalens.results.summary import summarize, with_drift
from pytest_personalens.results.values.item import Item
from pytest_personalens.results.values.results import Results

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.plugin.reporting.judge_check import JudgeCheck
    from pytest_personalens.plugin.running.tally import Drawn


#: Failed dialogues that are printed in full, unless pytest is verbose.
_MOST_IN_FULL: Final = 5


class Controller:
    """Gathers the results of a run in the controlling process.

    Only that process has one. Without xdist, it is the only process.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config, self._settings, self._process = config, settings, os.getpid()
        self._reported = Reported()
        #: True once the run was ended before its last item.
        self._left = False
        self._internal_error = False
        #: True once all items have run.
        self._ended = False
        self._results: Results | None = None
        self._written = WrittenFiles()
        self._outputs = Outputs(config, settings)
        self._red = RedGates({})
        self._printed = PrintedFailures(None if config.get_verbosity() > 0 else _MOST_IN_FULL)
        self._demands = Requirements.of(settings, baseline_of_run(config, settings))
        self._watch: JudgeCheck | None = None
        if settings.adopt_judge or settings.check_judge:
            from pytest_personalens.plugin.reporting.judge_check import JudgeCheck

            self._watch = JudgeCheck(config, settings)

    @errors_in_one_line()
    def pytest_sessionstart(self) -> None:
        # This runs after the plugin's own hook, which opens dataset and judge, and before that of xdist,
        # which starts the workers.
        from pytest_personalens.plugin.running.keys import RUN

        session = self._config.stash[RUN]
        try:
            self._demands = self._demands._replace(
                gates=with_groups(self._demands.gates, session.dataset.domains(), session.suite.kinds)
            )
            # On a cluster, only the workers may have the key.
            if self._settings.executor is None and not self._config.option.collectonly:
                session.participants.called.refuse_unready(models=self._settings.may_spend)
        except PersonalensError as error:
            raise pytest.UsageError(str(error)) from None
        if self._demands.baseline is not None:
            refuse_baseline(self._demands.baseline, session)
        if self._watch is not None:
            self._watch.admit(self._config, session)

    def enter(self, nodeid: str, item: Item) -> bool:
        """Take the result of an item that ran in this process.

        Return False in a fork of it (pytest-forked), because nobody reads the fork's results.
        """
        if here := os.getpid() == self._process:
            self._reported.items[nodeid] = item
        return here

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # First of all: others print the report, and ask for the scores of its item.
        if report.failed and report.when == "setup":
            self._refuse(str(report.longrepr))
        self._printed.colour(report)
        self._reported.add(report)

    def _refuse(self, told: str) -> None:
        # Only workers see the fixtures of their items. What is wrong for every item ends the run as it does
        # without workers.
        if told.startswith(f"{BY_KEY['concurrency'].long} "):
            raise pytest.UsageError(told)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._reported.failed.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self._reported.worker_ended(node.gateway.id, output, died=bool(error))

    def pytest_internalerror(self) -> None:
        self._internal_error = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        if session.config.option.collectonly:
            return (yield)
        self._outputs.set_aside()
        try:
            try:
                result = yield
            finally:
                self._ended = True
        except BaseException:
            # After -x, --maxfail or Ctrl-C, the existing results are reported. No gate is decided, because a
            # part does not stand for the whole.
            self._left = True
            self._results = self._close(complete=False)
            self._write()
            if session.shouldfail or session.shouldstop:
                self._end_run()  # --maxfail ends a run like any other end; Ctrl-C does not
            raise
        # This happens before the end of the loop, because after it the summary line can no longer turn red.
        whole = not (session.shouldstop or session.shouldfail)
        self._results = self._close(complete=whole and session.testscollected <= len(self._reported.finished))
        if self._results is None and self._reported.drawn and not self._reported.failed:
            refuse_an_empty_run(
                self._config,
                self._settings,
                planned=bool(self._reported.drawn[0]),
                left=bool(self._drawn().remaining),
                unfit=self._drawn().unfit,
            )  # with workers, this is known only now
        self._end_run()
        if self._watch is not None and whole and self._results is not None:
            self._results = self._judged(self._watch, self._results)
        self._write()
        if self._results is not None and not self._results.report_only:
            self._report_gates(session, self._results)
        return result

    def _report_gates(self, session: pytest.Session, results: Results) -> None:
        if not all(gate.passed for gate in results.gates):
            from pytest_personalens.plugin.running.keys import RUN

            self._red = red_gates(self._config, self._config.stash[RUN], results, self._written.pages)
        for gate in results.gates:
            session.testscollected += 1  # one by one: the progress neither goes back nor ends at 108 %
            report_gate(self._config, gate, self._red.failures.get(gate.name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport, config: pytest.Config
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Under ``-v``, the scores of an item beside its outcome."""
        item = self._reported.items.get(report.nodeid)
        # Less has no word, and what others made of an item (a rerun, an xfail) is theirs to say.
        # And not in the short summary, where it would take the room of what was wrong.
        plain = not self._ended and report.outcome in ("passed", "failed") and not hasattr(report, "wasxfail")
        if item is None or report.when != "call" or not plain or config.get_verbosity() < 1:
            return None
        low = item.status == "low"
        letter, colour = ("F", "red") if report.failed else (".", "yellow" if low else "green")
        return report.outcome, letter, (f"{report.outcome.upper()}{scores_text(item)}", {colour: True})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        result = yield
        empty = session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
        if self._settings.shard is not None and empty and self._drawn().requested:
            session.exitstatus = (
                pytest.ExitCode.OK
            )  # -k or -m left nothing of this shard; the merge refuses shards without any item
        if session.exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            self._end_run()  # no test ran, so there is nothing to continue
        # If a worker cannot send its last report, xdist (3.8) prints INTERNALERROR and exits with 0.
        unreported = session.testscollected - len(self._reported.finished)
        stopped = session.shouldstop or session.shouldfail or session.config.option.collectonly
        broken = self._internal_error or (unreported > 0 and not stopped) or self._reported.died_unexplained
        if session.exitstatus == pytest.ExitCode.OK and (broken or self._written.problems):
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        if (
            session.exitstatus == pytest.ExitCode.TESTS_FAILED
            and self._settings.exit_infra
            and only_infrastructure(self._results, self._reported.failed)
            and not broken
        ):
            session.exitstatus = self._settings.exit_infra
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if self._results is None:
            self._tell_nothing(terminalreporter, exitstatus)
        else:
            from pytest_personalens.plugin.reporting.summary import write_summary

            write_summary(
                terminalreporter,
                self._results,
                self._written,
                knows=self._drawn().knows,
                infrastructure=only_infrastructure(self._results, self._reported.failed),
                red=self._red,
            )
        if self._reported.died_unexplained:
            who = f"worker{'s' * (len(self._reported.died) > 1)} {', '.join(self._reported.died)} died"
            message = (
                f"personalens: {who}, and no item is known to have done that: what this run came to does not"
                " count; run it again"
            )
            terminalreporter.write_line(message, red=True)

    def _tell_nothing(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        quiet = exitstatus != pytest.ExitCode.OK or self._config.option.collectonly
        if self._settings.asks_for_gates and self._drawn().requested and not quiet:
            why = (
                "the run was left before its first result"
                if self._left
                else "no test that ran asks for the fixture personalens"
            )
            terminalreporter.write_line(f"personalens: no gate is decided: {why}", yellow=True)

    def _close(self, *, complete: bool) -> Results | None:
        from pytest_personalens.plugin.running.keys import RUN

        session, drawn = self._config.stash[RUN], self._drawn()
        refs = {ref.id: ref for ref in session.sample(self._settings).refs}
        missing = missing_items(self._reported, refs, {*session.ids, *drawn.ids}, drawn.skipped)
        if (
            not self._reported.items
            and not any(missing)
            and self._watch is None
            and self._settings.shard is None
        ):
            return None
        settings = self._settings._asdict()
        if settings["sample"] == ALL:
            settings["sample"] = size_text(ALL)
        drawn_from, excluded = session.suite.source(session.dataset)
        results = summarize(
            self._reported.items.values(),
            settings=stored_settings(self._settings),
            dataset=f"{session.dataset.name} {session.dataset.version}",
            requested=drawn.requested,
            drawn=drawn.drawn,
            **missing._asdict(),
            left_out=drawn.left_out,
            prices=session.participants.role_prices(),
            complete=complete,
            drawn_from=drawn_from,
            excluded=excluded,
        )
        if self._settings.shard is not None:
            results = results.model_copy(update={"origin": origin(self._config.rootpath)})
        if self._outputs.tells_who:
            results = results.model_copy(update={"scenarios": session.scenarios(results.own)})
        if self._outputs.is_kept:
            from pytest_personalens.results.values.provenance import provenance_of

            results = results.model_copy(update={"provenance": provenance_of(self._config.rootpath)})
        # A shard is only a part of a run. The merge of all parts draws the conclusions.
        return conclude(results, self._demands) if self._settings.shard is None else results

    def _drawn(self) -> Drawn:
        from pytest_personalens.plugin.running.keys import RUN

        return self._reported.by_workers() or self._config.stash[RUN].drawn()

    def _write(self) -> None:
        if self._results is not None:
            self._keep_last(self._results)
            self._written = self._outputs.write(self._results, self._reported.lines)
        else:
            self._outputs.put_back()

    def _keep_last(self, results: Results) -> None:
        from pytest_personalens.plugin.running.keys import RUN
        from pytest_personalens.results.files.last_run import keep_last

        run = self._config.stash[RUN]
        if run.folder is not None and results.items:
            with suppress(PersonalensError):  # a data file changed during the run
                keep_last(run.folder, results, run.scenarios)

    def _end_run(self) -> None:
        from pytest_personalens.plugin.records.resume import end_run
        from pytest_personalens.plugin.running.keys import RUN

        items = list(self._reported.items.values())
        if not any(i.evaluation.cause == "budget" for i in items):
            settled = [i.nodeid for i in items if i.record == "written"]
            end_run(self._config.stash[RUN].folder, settled)

    def _judged(self, watch: JudgeCheck, results: Results) -> Results:
        from pytest_personalens.plugin.running.keys import RUN

        session = self._config.stash[RUN]
        self._outputs.keep(results)
        drift, usage = watch.conclude(session, results)
        results = with_drift(results, drift, usage, prices=session.participants.role_prices())
        from pytest_personalens.results.gates.check import judge_gate

        return results.model_copy(update={"gates": (*results.gates, judge_gate(drift))})
