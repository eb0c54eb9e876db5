"""The controlling process's book of results: gathers reports, decides gates, writes reports, sees to the exit status."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from pytest_personalens.core.errors import PersonalensError, error_text, short_repr
from pytest_personalens.core.node_ids import gate_id, parse_case, skipped_id
from pytest_personalens.core.parse import ALL, size_text
from pytest_personalens.core.redaction import redacted
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.engine.source import origin
from pytest_personalens.plugin.input_errors import errors_in_one_line
from pytest_personalens.plugin.options import refuse_an_empty_run
from pytest_personalens.plugin.outputs import Outputs, flag, path_of
from pytest_personalens.plugin.prepare import record_command
from pytest_personalens.reports.files import WrittenFiles
from pytest_personalens.results.gate_expressions import with_groups
from pytest_personalens.results.gates import Requirements, conclude
from pytest_personalens.results.summary import summarize, with_drift
from pytest_personalens.results.values import Gate, Item, Results
from pytest_personalens.results.wording import UNJUDGED

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.core.settings import Settings
    from pytest_personalens.plugin.judge_check import JudgeCheck
    from pytest_personalens.plugin.run import Run
    from pytest_personalens.plugin.tally import Drawn
    from pytest_personalens.results.baseline import Baseline

#: Name of the report property that carries an item's result from a worker to the controller.
PROPERTY: Final = "_personalens_item"
#: That of an item to be evaluated that was not; its value are the control that the item belongs to, its kind and its domains.
UNEVALUATED: Final = "_personalens_unevaluated"
#: Options that name files to write: they change nothing in the results, so that equal runs give equal ones.
_FILES: Final = frozenset({"json", "html", "markdown", "github", "save_baseline", "exit_infra"})
#: Causes of an item without scores that say nothing about the assistant under test.
_INFRASTRUCTURE: Final = ("user-agent", "judge", "budget")

_WITHHOLDS_NOTHING: Final = (
    "personalens: nothing asks for personalens_context (a fixture, or a parameter `context` of the assistant), so the controls withhold "
    "nothing, and their lift says nothing"
)


class Missing(NamedTuple):
    """The items that brought no result, by node id, as `summarize` takes them."""

    lost: list[str]
    unevaluated: list[str]
    of_controls: list[str]
    missing_by_group: Counter[str]


class Controller:
    """Registered in the controlling process only (the one process there is, without xdist)."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config, self._settings, self._process = config, settings, os.getpid()
        self._items: dict[str, Item] = {}
        self._finished: set[str] = set()
        self._crashed: set[str] = set()
        #: Workers that died.
        self._died: list[str] = []
        #: Node id -> the control that it belongs to, if any, its kind and its domains.
        self._unevaluated: dict[str, tuple[str, ...]] = {}
        self._drawn: list[Any] = []
        self._knows = False
        self._failed: set[str] = set()
        self._lines: dict[str, int] = {}
        #: True once something ended the run before its last item.
        self._left = False
        self._internal_error = False
        self._results: Results | None = None
        self._written = WrittenFiles()
        self._outputs = Outputs(config, settings)
        self._demands = Requirements.of(settings, _baseline(config, settings))
        self._watch: JudgeCheck | None = None
        if settings.adopt_judge or settings.check_judge:
            from pytest_personalens.plugin.judge_check import JudgeCheck

            self._watch = JudgeCheck(config, settings)

    @errors_in_one_line()
    def pytest_sessionstart(self) -> None:
        # After the plugin's own, which opens dataset and judge, and before xdist's, which starts the workers.
        from pytest_personalens.plugin.keys import RUN

        session = self._config.stash[RUN]
        try:
            self._demands = self._demands._replace(floors=with_groups(self._demands.floors, session.dataset.domains()))
        except PersonalensError as error:
            raise pytest.UsageError(str(error)) from None
        if self._demands.baseline is not None and (changed := self._demands.baseline.refuses(session.terms())):
            from pytest_personalens.results.baseline import refusal

            raise pytest.UsageError(f"--personalens-baseline: {refusal(str(self._settings.baseline), changed)}")
        if self._demands.baseline is not None:
            self._refuse_other_content(self._demands.baseline, session)
        if self._watch is not None:
            self._watch.admit(self._config, session)

    def _refuse_other_content(self, baseline: Baseline, session: Run) -> None:
        # A dataset may change under the same name and version. Told before anything is paid for, where so much of it did that the
        # comparison would fail; else what changed is left out of it.
        changed, both = baseline.changed(session.contents())
        if both - len(changed) < self._settings.min_valid * both:
            from pytest_personalens.results.baseline import refusal

            told = f"the content of {len(changed)} of its {both} scenarios in this sample changed in the dataset, such as {changed[0]}"
            raise pytest.UsageError(f"--personalens-baseline: {refusal(str(self._settings.baseline), told)}")

    def enter(self, nodeid: str, item: Item) -> bool:
        """Take the result of an item that ran in this very process; False in a fork of it (pytest-forked), whose book nobody reads."""
        if here := os.getpid() == self._process:
            self._items[nodeid] = item
        return here

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown" or (report.when != "call" and report.failed):
            self._finished.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist reports an item whose worker died with a phase of its own.
            self._crashed.add(report.nodeid)
        if report.failed:
            self._failed.add(report.nodeid)
        if report.location[1] is not None:
            self._lines[report.nodeid] = report.location[1] + 1
        for name, value in report.user_properties:
            if name == UNEVALUATED:
                self._unevaluated[report.nodeid] = tuple(json.loads(str(value)))
            elif name == PROPERTY:
                # By node id: --dist=each runs every item on every worker.
                try:
                    self._items[report.nodeid] = Item.model_validate_json(str(value))
                except ValueError:  # a property of somebody else's
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
        told = getattr(node, "workeroutput", None) or {}
        if "personalens" in told:
            from pytest_personalens.plugin.tally import Drawn

            drawn = json.loads(told["personalens"])
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
            result = yield
        except BaseException:
            # -x, --maxfail, Ctrl-C: what there is is reported, and no gate judges a part for the whole.
            self._left = True
            self._results = self._close(complete=False)
            self._write()
            if session.shouldfail or session.shouldstop:
                self._end_run()  # enough failures is an end like any other; Ctrl-C is not
            raise
        # In the loop and not at its end: by then it is too late to turn the summary line red.
        whole = not (session.shouldstop or session.shouldfail)
        self._results = self._close(complete=whole and session.testscollected <= len(self._finished))
        if self._results is None and self._drawn and not self._failed:
            refuse_an_empty_run(
                self._config, self._settings, planned=bool(self._drawn[0]), left=bool(self._drawn_from().remaining)
            )  # with workers, it is known only now
        self._end_run()
        if self._watch is not None and whole and self._results is not None:
            self._results = self._judged(self._watch, self._results)
        self._write()
        if self._results is not None and not self._results.report_only:
            for gate in self._results.gates:
                session.testscollected += 1  # one by one: the progress neither goes back nor ends at 108 %
                self._report(gate)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        result = yield
        empty = session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
        if self._settings.shard is not None and empty and self._drawn_from().requested:
            session.exitstatus = pytest.ExitCode.OK  # -k or -m left nothing of this shard; the merge refuses shards without any item
        if session.exitstatus in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            self._end_run()  # nothing was run, so there is nothing to go on from
        # When a worker fails to send its last report, xdist (3.8) prints INTERNALERROR and exits with 0.
        unreported = session.testscollected - len(self._finished)
        stopped = session.shouldstop or session.shouldfail or session.config.option.collectonly
        broken = self._internal_error or (unreported > 0 and not stopped) or self._died_unexplained
        if session.exitstatus == pytest.ExitCode.OK and (broken or self._written.problems):
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and self._settings.exit_infra and self._only_infrastructure() and not broken:
            session.exitstatus = self._settings.exit_infra
        return result

    @property
    def _died_unexplained(self) -> bool:
        """True if workers died and no item is known to have ended one: after the last, say, or of two dialogues together."""
        return bool(self._died) and not self._crashed

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        self._tell_summary(terminalreporter, exitstatus)
        if self._died_unexplained:
            who = f"worker{'s' * (len(self._died) > 1)} {', '.join(self._died)} died"
            told = f"personalens: {who}, and no item is known to have done that: what this run came to does not count; run it again"
            terminalreporter.write_line(told, red=True)

    def _tell_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if self._results is None:
            quiet = exitstatus != pytest.ExitCode.OK or self._config.option.collectonly
            if self._settings.asks_for_gates and self._drawn_from().requested and not quiet:
                why = "the run was left before its first result" if self._left else "no test that ran asks for the fixture personalens"
                terminalreporter.write_line(f"personalens: no gate is decided: {why}", yellow=True)
            return
        from pytest_personalens.plugin.keys import RUN
        from pytest_personalens.plugin.run import KEPT_NOWHERE
        from pytest_personalens.plugin.summary import write_summary

        session = self._config.stash[RUN]
        if session.state.history:
            terminalreporter.write_line(f"this run {session.state.history}")
        if session.keeps and session.folder is None:
            terminalreporter.write_line(f"personalens: {KEPT_NOWHERE}", yellow=True)
        lines: list[str] = []
        if self._results.items or self._results.uncounted:  # a shard may have none
            lines = self._further_lines(self._results)
        write_summary(terminalreporter, self._results, lines, self._written.done, self._about_records(self._results))
        if self._settings.arms and self._results.items and not self._drawn_from().knows:
            terminalreporter.write_line(_WITHHOLDS_NOTHING, yellow=True)
        if self._results.unjudged:
            terminalreporter.write_line(f"personalens: {UNJUDGED}", yellow=True)
        if self._watch is not None and self._results.drift is None:
            done = "adopted" if self._settings.adopt_judge else "checked"
            terminalreporter.write_line(f"the judge was not {done}: the run was stopped")
        for problem in self._written.problems:
            terminalreporter.write_line(problem, red=True)
        if self._only_infrastructure():
            terminalreporter.write_line("failed for lack of scores alone: this run says nothing about your assistant", red=True)
        for line in self._written.annotations:
            terminalreporter.write_line(line)

    def _further_lines(self, results: Results) -> list[str]:
        """The lines of other plugins. What is wrong with them takes no summary with it."""
        hook, found = "pytest_personalens_report_lines", list[str]()
        try:
            for told_by_one in getattr(self._config.hook, hook)(results=results, config=self._config):
                lines = list(told_by_one)
                if isinstance(told_by_one, str) or not all(isinstance(line, str) for line in lines):
                    raise TypeError(f"expected a list of texts, not {short_repr(told_by_one)}")
                found += lines
        except Exception as error:
            found.append(f"{hook} failed: {error_text(error)}")
        return found

    def _about_records(self, results: Results) -> str:
        """One line on how to write the records that are missing or stale; empty where none are, or where this run was to write them."""
        if self._settings.record != "none":
            return ""
        option, items = self._config.option, results.items
        # A run that may spend has bought what was missing: another thing is wrong with a record that fails it.
        wrong = any(i.record == "stale" or (i.evaluation.cause == "record" and not self._settings.live) for i in items)
        accepting = option.update_snapshots or getattr(option, "update_new_snapshots_only", False)
        if accepting and any(i.record in ("none", "stale") for i in items):
            given = "--snapshot-update" if option.update_snapshots else "--snapshot-update-new-only"
            return f"{given} does not write the records of personalens; this command does: {record_command(self._config)}"
        return f"write the records that are missing or stale with: {record_command(self._config)}" if wrong else ""

    def _close(self, *, complete: bool) -> Results | None:
        from pytest_personalens.plugin.keys import RUN

        session, drawn = self._config.stash[RUN], self._drawn_from()
        missing = self._missing(drawn)
        if not self._items and not any(missing) and self._watch is None and self._settings.shard is None:
            return None
        settings = self._settings._asdict()
        if settings["sample"] == ALL:
            settings["sample"] = size_text(ALL)
        results = summarize(
            self._items.values(),
            settings={k: redacted(v) if isinstance(v, str) else v for k, v in settings.items() if k not in _FILES},
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
        # A shard is a part of a run: what it comes to is said when all parts are put together.
        return conclude(results, self._demands) if self._settings.shard is None else results

    def _missing(self, drawn: Drawn) -> Missing:
        """The items that brought no result."""
        from pytest_personalens.plugin.keys import RUN

        session = self._config.stash[RUN]
        refs = {ref.id: ref for ref in session.sample(self._settings).refs}
        gone = {n: parse_case(n, {*session.ids, *drawn.ids}) for n in self._crashed - self._items.keys()}
        lost = {n: (case.control, *_groups(refs.get(case.scenario))) for n, case in gone.items() if case is not None}
        unevaluated = {n: of for n, of in self._unevaluated.items() if n not in self._items and n not in lost}
        # A file that skipped itself has a test of the whole sample, at the least.
        unevaluated |= {skipped_id(file, ref.id): ("", *_groups(ref)) for file in drawn.skipped for ref in refs.values()}
        every = {**lost, **unevaluated}
        return Missing(
            lost=sorted(lost),
            unevaluated=sorted(unevaluated),
            of_controls=sorted(n for n, (control, *_) in every.items() if control),
            missing_by_group=Counter(group for control, *groups in every.values() if not control for group in groups),
        )

    def _drawn_from(self) -> Drawn:
        from pytest_personalens.plugin.keys import RUN
        from pytest_personalens.plugin.tally import Drawn

        return Drawn(*self._drawn)._replace(knows=self._knows) if self._drawn else self._config.stash[RUN].drawn()

    def _write(self) -> None:
        if self._results is not None:
            self._written = self._outputs.write(self._results, self._lines)
        else:
            self._outputs.put_back()

    def _only_infrastructure(self) -> bool:
        """True if all that failed failed because somebody other than the assistant under test did."""
        if self._results is None or not self._failed:
            return False
        items = {i.nodeid for i in self._results.items if i.evaluation.cause in _INFRASTRUCTURE}
        if any(cause not in _INFRASTRUCTURE for cause in self._results.uncounted):
            return False
        few = any(g.kind == "valid" and not g.passed for g in self._results.gates) or not self._results.overall.scored
        gates = {gate_id(g.name) for g in self._results.gates if g.kind == "valid" or (few and g.value is None)}
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

    def _report(self, gate: Gate) -> None:
        # A test report of its own: the summary line, JUnit and the exit status all follow from it.
        nodeid = gate_id(gate.name)
        location = ("personalens", None, f"gate[{gate.name}]")
        outcome: Any = "passed" if gate.passed else "failed"
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
        for when, longrepr in (("setup", None), ("call", None if gate.passed else harmless(gate.message)), ("teardown", None)):
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
    found = found or [("personalens_cause", evaluation.cause)]
    return (
        found
        + ([("personalens_trial", str(item.trial))] if item.trial > 1 else [])
        + ([("personalens_control", item.arm)] if item.arm else [])
    )


def _groups(ref: ScenarioRef | None) -> tuple[str, ...]:
    """The groups of items that a scenario is part of, by which gates are decided."""
    return (ref.kind, *ref.domains) if ref is not None else ()


def _baseline(config: pytest.Config, settings: Settings) -> Baseline | None:
    if settings.baseline is None:
        return None
    from pytest_personalens.results.baseline import read_baseline

    path = path_of(config, settings, "baseline")
    if settings.save_baseline is not None and path_of(config, settings, "save_baseline") == path:
        return None  # what is replaced, in one run or for the first time, is not asked
    try:
        return read_baseline(path)
    except PersonalensError as error:
        source = flag("baseline") if config.getoption("personalens_baseline") is not None else "personalens_baseline"
        raise pytest.UsageError(f"{source}: {error}") from None
