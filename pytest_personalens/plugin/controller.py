"""The controller of a run, in the controlling process.

It gathers reports, decides gates, writes reports and sets the exit status.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.node_ids import gate_id
from pytest_personalens.core.options import keys_of
from pytest_personalens.core.parse import ALL, size_text
from pytest_personalens.core.redaction import redacted
from pytest_personalens.engine.source import origin
from pytest_personalens.plugin.gate_reports import RedGates, red_gates, report_gate, scores_text
from pytest_personalens.plugin.input_errors import errors_in_one_line
from pytest_personalens.plugin.missing import missing_items
from pytest_personalens.plugin.option_checks import refuse_an_empty_run
from pytest_personalens.plugin.outputs import Outputs
from pytest_personalens.plugin.pytest_internals import colour_failure
from pytest_personalens.plugin.run_baseline import baseline_of_run, refuse_baseline
from pytest_personalens.reports.files import WrittenFiles
from pytest_personalens.results.conclusion import Requirements, conclude
from pytest_personalens.results.gate_expressions import with_groups
from pytest_personalens.results.item import Item
from pytest_personalens.results.summary import summarize, with_drift
from pytest_personalens.results.values import Results

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_personalens.core.settings import Settings
    from pytest_personalens.plugin.judge_check import JudgeCheck
    from pytest_personalens.plugin.tally import Drawn

#: The name of the report property that carries an item's result from a worker to the controller.
PROPERTY: Final = "_personalens_item"
#: The property of an item that should have been evaluated but was not. Its value holds the item's control,
#: its kind and its domains.
UNEVALUATED: Final = "_personalens_unevaluated"
#: Settings that the results do not hold. They only decide which files the run writes, and equal runs must
#: give equal results.
_NOT_STORED: Final = frozenset({*keys_of("report"), "save_baseline", "adopt_judge"})
#: Causes of a missing score that say nothing about the assistant under test.
_INFRASTRUCTURE: Final = ("user-agent", "judge", "budget")


class Controller:
    """Gathers the results of a run in the controlling process.

    Only that process has one. Without xdist, it is the only process.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config, self._settings, self._process = config, settings, os.getpid()
        self._items: dict[str, Item] = {}
        self._finished: set[str] = set()
        self._crashed: set[str] = set()
        #: Workers that died.
        self._died: list[str] = []
        #: Node id -> the item's control (if any), its kind and its domains.
        self._unevaluated: dict[str, tuple[str, ...]] = {}
        self._drawn: list[Any] = []
        self._knows = False
        self._failed: set[str] = set()
        self._lines: dict[str, int] = {}
        #: True once the run was ended before its last item.
        self._left = False
        self._internal_error = False
        #: True once all items have run.
        self._ended = False
        self._results: Results | None = None
        self._written = WrittenFiles()
        self._outputs = Outputs(config, settings)
        self._red = RedGates({})
        #: What was wrong with items, as it was printed.
        self._told: set[str] = set()
        self._demands = Requirements.of(settings, baseline_of_run(config, settings))
        self._watch: JudgeCheck | None = None
        if settings.adopt_judge or settings.check_judge:
            from pytest_personalens.plugin.judge_check import JudgeCheck

            self._watch = JudgeCheck(config, settings)

    @errors_in_one_line()
    def pytest_sessionstart(self) -> None:
        # This runs after the plugin's own hook, which opens dataset and judge, and before that of xdist,
        # which starts the workers.
        from pytest_personalens.plugin.keys import RUN

        session = self._config.stash[RUN]
        try:
            self._demands = self._demands._replace(
                gates=with_groups(self._demands.gates, session.dataset.domains(), session.suite.kinds)
            )
            # On a cluster, only the workers may have the key.
            if self._settings.executor is None and not self._config.option.collectonly:
                session.participants.refuse_unready(models=self._settings.may_spend)
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
            self._items[nodeid] = item
        return here

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # First of all: others print the report, and ask for the scores of its item.
        colour_failure(report, told=self._told)
        if report.when == "teardown" or (report.when != "call" and report.failed):
            self._finished.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist reports an item whose worker died with a phase of another name.
            self._crashed.add(report.nodeid)
        if report.failed:
            self._failed.add(report.nodeid)
        if report.location[1] is not None:
            self._lines[report.nodeid] = report.location[1] + 1
        for name, value in report.user_properties:
            if name == UNEVALUATED:
                self._unevaluated[report.nodeid] = tuple(json.loads(str(value)))
            elif name == PROPERTY:
                # The key is the node id, because --dist=each runs every item on every worker.
                try:
                    self._items[report.nodeid] = Item.model_validate_json(str(value))
                except ValueError:  # a property of another plugin
                    self._unevaluated.setdefault(report.nodeid, ("",))
        if report.failed and report.nodeid in self._items:
            self._items[report.nodeid] = self._items[report.nodeid].model_copy(update={"failed": True})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if error:
            self._died.append(node.gateway.id)
        output = getattr(node, "workeroutput", None) or {}
        if "personalens" in output:
            from pytest_personalens.plugin.tally import Drawn

            drawn = json.loads(output["personalens"])
            self._knows = self._knows or Drawn(*drawn).knows  # a worker may have had no item
            self._drawn = drawn

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
        self._results = self._close(complete=whole and session.testscollected <= len(self._finished))
        if self._results is None and self._drawn and not self._failed:
            refuse_an_empty_run(
                self._config,
                self._settings,
                planned=bool(self._drawn[0]),
                left=bool(self._drawn_from().remaining),
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
            from pytest_personalens.plugin.keys import RUN

            self._red = red_gates(self._config, self._config.stash[RUN], results, self._written.pages)
        for gate in results.gates:
            session.testscollected += 1  # one by one: the progress neither goes back nor ends at 108 %
            report_gate(self._config, gate, self._red.failures.get(gate.name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport, config: pytest.Config
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Under ``-v``, the scores of an item beside its outcome."""
        item = self._items.get(report.nodeid)
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
        if self._settings.shard is not None and empty and self._drawn_from().requested:
            session.exitstatus = (
                pytest.ExitCode.OK
            )  # -k or -m left nothing of this shard; the merge refuses shards without any item
        if session.exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            self._end_run()  # no test ran, so there is nothing to continue
        # If a worker cannot send its last report, xdist (3.8) prints INTERNALERROR and exits with 0.
        unreported = session.testscollected - len(self._finished)
        stopped = session.shouldstop or session.shouldfail or session.config.option.collectonly
        broken = self._internal_error or (unreported > 0 and not stopped) or self._died_unexplained
        if session.exitstatus == pytest.ExitCode.OK and (broken or self._written.problems):
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        if (
            session.exitstatus == pytest.ExitCode.TESTS_FAILED
            and self._settings.exit_infra
            and self._only_infrastructure()
            and not broken
        ):
            session.exitstatus = self._settings.exit_infra
        return result

    @property
    def _died_unexplained(self) -> bool:
        """True if workers died and no item is known to have ended one.

        A worker may have died after its last item, or one of two simultaneous dialogues may have ended it.
        """
        return bool(self._died) and not self._crashed

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if self._results is None:
            self._tell_nothing(terminalreporter, exitstatus)
        else:
            knows, infrastructure = self._drawn_from().knows, self._only_infrastructure()
            from pytest_personalens.plugin.summary import write_summary

            write_summary(
                terminalreporter,
                self._results,
                self._written,
                knows=knows,
                infrastructure=infrastructure,
                next_steps=self._red.next_steps,
            )
        if self._died_unexplained:
            who = f"worker{'s' * (len(self._died) > 1)} {', '.join(self._died)} died"
            message = (
                f"personalens: {who}, and no item is known to have done that: what this run came to does not"
                " count; run it again"
            )
            terminalreporter.write_line(message, red=True)

    def _tell_nothing(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        quiet = exitstatus != pytest.ExitCode.OK or self._config.option.collectonly
        if self._settings.asks_for_gates and self._drawn_from().requested and not quiet:
            why = (
                "the run was left before its first result"
                if self._left
                else "no test that ran asks for the fixture personalens"
            )
            terminalreporter.write_line(f"personalens: no gate is decided: {why}", yellow=True)

    def _close(self, *, complete: bool) -> Results | None:
        from pytest_personalens.plugin.keys import RUN

        session, drawn = self._config.stash[RUN], self._drawn_from()
        refs = {ref.id: ref for ref in session.sample(self._settings).refs}
        missing = missing_items(
            self._crashed, self._unevaluated, self._items, refs, {*session.ids, *drawn.ids}, drawn.skipped
        )
        if not self._items and not any(missing) and self._watch is None and self._settings.shard is None:
            return None
        settings = self._settings._asdict()
        if settings["sample"] == ALL:
            settings["sample"] = size_text(ALL)
        results = summarize(
            self._items.values(),
            settings={
                k: redacted(v) if isinstance(v, str) else v
                for k, v in settings.items()
                if k not in _NOT_STORED
            },
            dataset=f"{session.dataset.name} {session.dataset.version}",
            requested=drawn.requested,
            drawn=drawn.drawn,
            **missing._asdict(),
            left_out=drawn.left_out,
            prices=session.participants.role_prices(),
            complete=complete,
        )
        if self._settings.shard is not None:
            results = results.model_copy(update={"origin": origin(self._config.rootpath)})
        if self._outputs.tells_who:
            results = results.model_copy(update={"scenarios": session.scenarios(results.own)})
        if self._outputs.is_kept:
            from pytest_personalens.results.provenance import provenance_of

            results = results.model_copy(update={"provenance": provenance_of(self._config.rootpath)})
        # A shard is only a part of a run. The merge of all parts draws the conclusions.
        return conclude(results, self._demands) if self._settings.shard is None else results

    def _drawn_from(self) -> Drawn:
        from pytest_personalens.plugin.keys import RUN
        from pytest_personalens.plugin.tally import Drawn

        return (
            Drawn(*self._drawn)._replace(knows=self._knows)
            if self._drawn
            else self._config.stash[RUN].drawn()
        )

    def _write(self) -> None:
        if self._results is not None:
            self._written = self._outputs.write(self._results, self._lines)
        else:
            self._outputs.put_back()

    def _only_infrastructure(self) -> bool:
        """True if all failures have causes outside the assistant under test."""
        if self._results is None or not self._failed:
            return False
        items = {i.nodeid for i in self._results.items if i.evaluation.cause in _INFRASTRUCTURE}
        if any(cause not in _INFRASTRUCTURE for cause in self._results.uncounted):
            return False
        few = (
            any(g.kind == "valid" and not g.passed for g in self._results.gates)
            or not self._results.overall.scored
        )
        gates = {
            gate_id(g.name) for g in self._results.gates if g.kind == "valid" or (few and g.value is None)
        }
        return self._failed <= items | gates

    def _end_run(self) -> None:
        from pytest_personalens.plugin.keys import RUN
        from pytest_personalens.plugin.resume import end_run

        items = list(self._items.values())
        if not any(i.evaluation.cause == "budget" for i in items):
            settled = [i.nodeid for i in items if i.record == "written"]
            end_run(self._config.stash[RUN].folder, settled)

    def _judged(self, watch: JudgeCheck, results: Results) -> Results:
        from pytest_personalens.plugin.keys import RUN

        session = self._config.stash[RUN]
        self._outputs.keep(results)
        drift, usage = watch.conclude(session, results)
        results = with_drift(results, drift, usage, prices=session.participants.role_prices())
        from pytest_personalens.results.gates import judge_gate

        return results.model_copy(update={"gates": (*results.gates, judge_gate(drift))})
