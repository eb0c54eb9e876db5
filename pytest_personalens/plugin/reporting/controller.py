"""The controller: what happens when in the process that gathers the reports of a run."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.plugin.failures import RedGates
from pytest_personalens.plugin.input_errors import errors_in_one_line
from pytest_personalens.plugin.options.option_checks import refuse_an_empty_run
from pytest_personalens.plugin.pytest_internals import PrintedFailures
from pytest_personalens.plugin.reporting.outputs import Outputs, baseline_of_run, refuse_baseline
from pytest_personalens.plugin.reporting.reported import (
    Reported,
    exit_status,
    only_infrastructure,
    results_of,
    scores_text,
)
from pytest_personalens.plugin.running.keys import RUN, STOPPED
from pytest_personalens.plugin.stored.resume import end_run
from pytest_personalens.reports.write_reports import WrittenFiles

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.plugin.reporting.judge_check import JudgeCheck
    from pytest_personalens.plugin.running.run import Run, Tally
    from pytest_personalens.results.values.results import Results


#: What somebody can do whose groups of tests are taken apart.
_UNGROUPED: Final = (
    "this pytest-xdist and this pytest do not keep groups together under --dist loadgroup; use pytest below"
    " 9.2, or --dist loadscope or loadfile"
)
#: Failed dialogues that are printed in full, unless pytest is verbose.
_MOST_IN_FULL: Final = 5


class Controller:
    """Gathers the results of a run in the controlling process, which is the only process without xdist."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config, self._settings = config, settings
        #: The process that reads the results: a fork of it (pytest-forked) reports its own.
        self.process = os.getpid()
        self.reported = Reported()
        #: True once the run was ended before its last item.
        self._interrupted = False
        self._internal_error = False
        #: True once all items have run.
        self._ended = False
        self._results: Results | None = None
        self._written = WrittenFiles()
        self._outputs = Outputs(config, settings)
        self._red = RedGates({})
        self._printed = PrintedFailures(None if config.get_verbosity() > 0 else _MOST_IN_FULL)
        self._gates, self._baseline = settings.gate, baseline_of_run(config, settings)
        self._session: pytest.Session | None = None
        self._judge_check: JudgeCheck | None = None
        if settings.adopt_judge or settings.check_judge:
            from pytest_personalens.plugin.reporting.judge_check import JudgeCheck

            self._judge_check = JudgeCheck(config, settings)

    @property
    def _run(self) -> Run:
        return self._config.stash[RUN]

    @property
    def _drawn(self) -> Tally:
        return self.reported.drawn or self._run.drawn()

    @errors_in_one_line()
    def pytest_sessionstart(self) -> None:
        # This runs after the plugin's own hook, which opens dataset and judge, and before that of xdist,
        # which starts the workers.
        run = self._run
        if self._gates:
            from pytest_personalens.core.options.settings import with_groups

            self._gates = with_groups(self._gates, run.dataset.domains(), run.suite.kinds)
        run.refuse_undecidable(self._gates)
        # On a cluster, only the workers may have the key.
        if self._settings.executor is None and not self._config.option.collectonly:
            run.participants.called.refuse_unready(models=self._settings.may_spend)
        if self._baseline is not None:
            refuse_baseline(self._baseline, run)
        if self._judge_check is not None:
            self._judge_check.admit(self._config, run)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # First of all: others print the report, and ask for the scores of its item.
        if report.failed:
            self._printed.colour(report)
        self.reported.add(report)
        for name, text in report.user_properties if report.failed and report.when == "call" else ():
            if name == STOPPED:
                raise _stopped(self._session, str(text))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.reported.failed.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        # The workers begin their dialogues now, and this process waits for the first of them to end.
        from pytest_personalens.plugin.running.prefetch import import_the_end

        import_the_end()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        output = getattr(node, "workeroutput", None) or {}
        self.reported.end_worker(node.gateway.id, output, died=bool(error))

    def pytest_internalerror(self) -> None:
        self._internal_error = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        self._session = session
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
            self._interrupted = True
            self._results = self._results_of_all(complete=False)
            self._write()
            if session.shouldfail or session.shouldstop:
                self._end_run()  # --maxfail ends a run like any other end; Ctrl-C does not
            raise
        # This happens before the end of the loop, because after it the summary line can no longer turn red.
        whole = not (session.shouldstop or session.shouldfail)
        complete = whole and session.testscollected <= len(self.reported.finished)
        self._results = self._results_of_all(complete=complete)
        drawn = self._drawn
        # With workers, and of dialogues that tests lead, this is known only now.
        late = self.reported.drawn or drawn.personas
        if self._results is None and late and whole and not self.reported.failed:
            with errors_in_one_line():
                refuse_an_empty_run(
                    self._config,
                    self._settings,
                    planned=bool(drawn.requested),
                    left=bool(drawn.remaining),
                    unfit=drawn.unfit,
                    unjudged=bool(drawn.personas),
                )
        self._end_run()
        if self._judge_check is not None and whole and self._results is not None:
            from pytest_personalens.results.gates.check import judge_gate
            from pytest_personalens.results.summarize import with_drift

            self._outputs.keep(self._results)
            drift, usage = self._judge_check.conclude(self._run, self._results)
            prices = self._run.participants.role_prices()
            results = with_drift(self._results, drift, usage, prices=prices)
            self._results = results.model_copy(update={"gates": (*results.gates, judge_gate(drift))})
        self._write()
        if self._results is not None and not self._results.report_only:
            self._report_gates(session, self._results)
        return result

    def _report_gates(self, session: pytest.Session, results: Results) -> None:
        from pytest_personalens.plugin.reporting.terminal_summary import red_gates, report_gate

        if not all(gate.passed for gate in results.gates):
            self._red = red_gates(self._config, self._run, results, self._written.pages)
        for gate in results.gates:
            session.testscollected += 1  # one by one: the progress neither goes back nor ends at 108 %
            report_gate(self._config, gate, self._red.failures.get(gate.name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport, config: pytest.Config
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Under ``-v``, the scores of an item beside its outcome."""
        item = self.reported.items.get(report.nodeid)
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
        ended = {"broken": self._internal_error, "unwritten": bool(self._written.problems)}
        session.exitstatus = exit_status(session, self.reported, self._results, **ended)
        if session.exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            self._end_run()  # no test ran, so there is nothing to continue
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        self._printed.shorten_repeated()
        if self.reported.drawn is not None and (alone := self.reported.drawn.ungrouped):
            tests = f"{alone} test{'s' * (alone > 1)} marked xdist_group ran in any worker"
            terminalreporter.write_line(f"personalens: {tests}: {_UNGROUPED}", yellow=True)
        if self._results is not None:
            from pytest_personalens.plugin.reporting.terminal_summary import write_summary

            write_summary(
                terminalreporter,
                self._results,
                self._written,
                drawn=self._drawn,
                infrastructure=only_infrastructure(self._results, self.reported.failed),
                red=self._red,
            )
        elif (
            self._settings.asks_for_gates
            and (self._drawn.requested or self._drawn.personas)
            and exitstatus == pytest.ExitCode.OK
            and not self._config.option.collectonly
        ):
            why = "no test that ran asks for the fixture personalens"
            if self._drawn.personas:
                why = "no test that ran lets its dialogue be judged (personalens.check())"
            if self._interrupted:
                why = "the run was left before its first result"
            terminalreporter.write_line(f"personalens: no gate is decided: {why}", yellow=True)
        if self.reported.died_unexplained:
            who = f"worker{'s' * (len(self.reported.died) > 1)} {', '.join(self.reported.died)} died"
            message = (
                f"personalens: {who}, and no item is known to have done that: what this run came to does not"
                " count; run it again"
            )
            terminalreporter.write_line(message, red=True)

    def _results_of_all(self, *, complete: bool) -> Results | None:
        even_empty, given = self._judge_check is not None, (self._gates, self._baseline)
        return results_of(self._config, self.reported, *given, complete=complete, even_empty=even_empty)

    def _write(self) -> None:
        if self._results is None:
            self._outputs.put_back()
            return
        if self._run.folder is not None and self._results.items:
            from pytest_personalens.results.shards import keep_last

            with suppress(PersonalensError):  # a data file changed during the run
                keep_last(self._run.folder, self._results, self._run.scenarios)
        self._written = self._outputs.write(self._results)

    def _end_run(self) -> None:
        items = list(self.reported.items.values())
        if not any(i.evaluation.cause == "budget" for i in items):
            end_run(self._run.state)


def _stopped(session: pytest.Session | None, why: str) -> Exception:
    """Return what ends a run of several processes as ``session.shouldfail`` ends one of a single process."""
    assert session is not None
    session.shouldfail = why
    return session.Failed(why)
