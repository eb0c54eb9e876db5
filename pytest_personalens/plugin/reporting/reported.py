"""What the processes of a run reported: results of items, items without one, and workers that ended."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.names import gate_id, parse_case, skipped_id
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.plugin.failures import GateFailure, traceback_style
from pytest_personalens.plugin.running.keys import SETTINGS
from pytest_personalens.plugin.running.prepare import rerun_command
from pytest_personalens.plugin.running.run import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.results.reasons.why_gates_failed import Explanation, WorstCase
    from pytest_personalens.results.values.figures import Gate
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


class RedGates(NamedTuple):
    """What the gates that failed print, by their names, and what to do next: a command, and the page."""

    failures: Mapping[str, GateFailure]
    next_steps: tuple[str, ...] = ()


def red_gates(config: pytest.Config, run: Run, results: Results, pages: Sequence[str]) -> RedGates:
    """Why the gates failed that did; `pages` are the HTML reports that this run wrote."""
    from pytest_personalens.reports.content.why_items_failed import sentence_of
    from pytest_personalens.reports.terminal.transcript import gate_failure
    from pytest_personalens.results.reasons.why_gates_failed import explanations

    explained_gates = explanations(results)
    cases = [case for explained in explained_gates for case in explained.cases]
    scenarios = run.scenarios([case.item for case in cases])
    style = traceback_style(config)
    brief = style == "short"

    def lines(explained: Explanation) -> Callable[[int], list[str]]:
        if style == "line":
            return lambda width: []
        return lambda width: [*gate_failure(explained, results, scenarios, width=width, brief=brief)]

    failures = {
        explained.gate.name: GateFailure(
            gate_id(explained.gate.name), harmless(sentence_of(explained, results)), lines(explained)
        )
        for explained in explained_gates
    }
    cases = [case for case in cases if case.exchange is not None] or cases[:1]
    worst = "the two worst" if len(cases) > 1 else "the worst"
    again = [f"re-run {worst}, gates off:", f"again:  {_command(config, cases)}"]
    # The line on the report names a page that was written.
    page = () if pages else ("page:   add --personalens-report report.html",)
    return RedGates(failures, (*(again if cases else ()), *page))


def _command(config: pytest.Config, cases: Sequence[WorstCase]) -> str:
    """Return the command that runs these dialogues alone and prints them, as items that fail."""
    from pytest_personalens.reports.content.findings import gates_off

    words = gates_off(lambda option: config.getini(option.ini))
    # What passes its threshold would print nothing.
    spared = [case.verdict for case in cases if case.item.status == "passed"]
    least = {v.dimension.short: v.score + v.dimension.sign * float(v.dimension.grid) for v in spared}
    if least:
        others = {get_measure(d).short: score for d, score in config.stash[SETTINGS].threshold}
        all_of_them = ",".join(f"{short}={score:g}" for short, score in {**others, **least}.items())
        words += ["-o", f"personalens_threshold={all_of_them}"]
    return rerun_command(config, [case.item.nodeid for case in cases], words)


def report_gate(config: pytest.Config, gate: Gate, failure: GateFailure | None) -> None:
    """Report the gate as a test, from which the summary line, JUnit and the exit status follow."""
    nodeid = gate_id(gate.name)
    location = ("personalens", None, f"gate[{gate.name}]")
    outcome: Any = "passed" if gate.passed else "failed"
    hook = config.hook
    hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    for when, longrepr in (("setup", None), ("call", failure), ("teardown", None)):
        report = pytest.TestReport(
            nodeid=nodeid,
            location=location,
            keywords={},
            outcome=outcome if when == "call" else "passed",
            when=when,  # type: ignore[arg-type]
            longrepr=longrepr,  # type: ignore[arg-type]  # pytest asks for its `toterminal` alone
        )
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)


def scores_text(item: Item) -> str:
    """The scores of an item, by the names of its readings: `` (tc 1, p 3)``; empty where it has none."""
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    scores = ", ".join(f"{v.dimension.short} {v.score}" for v in verdicts)
    return f" ({scores})" if scores else ""


def junit_properties(item: Item) -> list[tuple[str, str]]:
    """Return the JUnit properties of an item: its scores or why it has none, and what else it tells."""
    evaluation = item.evaluation
    acting = [m for m in evaluation.dialogue.messages if m.steps is not None or m.tool_calls]
    scores = [
        (f"personalens_{v.dimension.value.partition(':')[0].replace(' ', '_')}", str(v.score))
        for v in evaluation.verdicts
        if evaluation.scored
    ]
    more = {
        "unread": " ".join(measure.short for measure in evaluation.unread),
        "not_judged": " ".join(measure.short for measure in evaluation.not_judged),
        "tool_calls": str(sum(m.calls for m in acting)) if acting else "",
        "trial": str(item.trial) if item.trial > 1 else "",
        "control": item.control,
    }
    if any(evaluation.latencies):
        from pytest_personalens.results.values.item import item_times

        more |= {name: f"{time:.1f}" for name, time in item_times(item).items()}
    return [
        *(scores or ([("personalens_cause", evaluation.cause)] if evaluation.cause else [])),
        *((f"personalens_{name}", text) for name, text in more.items() if text),
    ]


#: The name of the report property that carries an item's result from a worker to the controller.
PROPERTY: Final = "_personalens_item"
#: The property of an item that should have been evaluated but was not. Its value holds the item's control,
#: its kind and its domains.
UNEVALUATED: Final = "_personalens_unevaluated"
#: Causes of a missing score that say nothing about the assistant under test.
_INFRASTRUCTURE: Final = ("user-agent", "judge", "budget")


@dataclass(slots=True)
class Reported:
    """The reports of a run, by node id."""

    items: dict[str, Item] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    #: Items whose worker died.
    crashed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    #: Node id -> the item's control (if any), its kind and its domains.
    unevaluated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Workers that died.
    died: list[str] = field(default_factory=list)
    #: The counts of the draws as workers sent them.
    drawn: Tally | None = None

    def add(self, report: pytest.TestReport) -> None:
        """Take the report of a phase of an item."""
        if report.when == "teardown" or (report.when != "call" and report.failed):
            self.finished.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist reports an item whose worker died with a phase of another name.
            self.crashed.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)
        if report.skipped:
            self.skipped.add(report.nodeid)
        for name, value in report.user_properties:
            if name == UNEVALUATED:
                self.unevaluated[report.nodeid] = tuple(json.loads(str(value)))
            elif name == PROPERTY:
                # The key is the node id, because --dist=each runs every item on every worker.
                from pytest_personalens.results.values.item import Item

                try:
                    self.items[report.nodeid] = Item.model_validate_json(str(value))
                except ValueError:  # a property of another plugin
                    self.unevaluated.setdefault(report.nodeid, ("",))
        if report.failed and report.nodeid in self.items:
            self.items[report.nodeid] = self.items[report.nodeid].model_copy(update={"failed": True})

    def end_worker(self, worker: str, output: Mapping[str, Any], *, died: bool) -> None:
        """Take what a worker sent when it ended."""
        if died:
            self.died.append(worker)
        if "personalens" in output:
            drawn, so_far = Tally(**json.loads(output["personalens"])), self.drawn
            if so_far is not None:  # this worker may have had no item
                drawn.knows |= so_far.knows
                drawn.waited = max(drawn.waited, so_far.waited)
                drawn.waited_for = drawn.waited_for or so_far.waited_for
                drawn.side_by_side += so_far.side_by_side
                drawn.refused += so_far.refused
            self.drawn = drawn

    @property
    def died_unexplained(self) -> bool:
        """True if workers died after their last item, or by one of several items that ran side by side."""
        return bool(self.died) and not self.crashed

    def missing(
        self, refs: Mapping[str, ScenarioRef], ids: Collection[str], skipped_files: Iterable[str]
    ) -> Missing:
        """Return the items without a result, because they were lost with their worker or not evaluated.

        `refs` is the sample by id, and `ids` are the ids of all scenarios. A file that skipped itself has at
        least one test of the whole sample.
        """
        cases = {nodeid: parse_case(nodeid, ids) for nodeid in self.crashed - set(self.items)}
        lost = {
            nodeid: (case.control, *_groups_of(refs.get(case.scenario)))
            for nodeid, case in cases.items()
            if case is not None
        }
        others = {n: of for n, of in self.unevaluated.items() if n not in self.items and n not in lost}
        for file in skipped_files:
            others |= {skipped_id(file, ref.id): ("", *_groups_of(ref)) for ref in refs.values()}
        every = {**lost, **others}
        return Missing(
            lost=sorted(lost),
            unevaluated=sorted(others),
            skipped=sorted(others.keys() & self.skipped),
            of_controls=sorted(nodeid for nodeid, (control, *_) in every.items() if control),
            missing_by_group=Counter(
                group for control, *groups in every.values() if not control for group in groups
            ),
        )


class Missing(NamedTuple):
    """The node ids of items without a result, in the form for `summarize`."""

    lost: list[str]
    unevaluated: list[str]
    skipped: list[str]
    of_controls: list[str]
    missing_by_group: Counter[str]


def _groups_of(ref: ScenarioRef | None) -> tuple[str, ...]:
    return (ref.kind, *ref.domains) if ref is not None else ()


def only_inconclusive(results: Results | None, failed: Set[str]) -> bool:
    """True if all that `failed`, by node id, are gates that an interval does not decide."""
    if results is None or not failed:
        return False
    return failed <= {gate_id(gate.name) for gate in results.gates if gate.inconclusive}


def only_infrastructure(results: Results | None, failed: Set[str]) -> bool:
    """True if all that `failed`, by node id, has causes outside the assistant under test."""
    if results is None or not failed or not set(results.uncounted) <= set(_INFRASTRUCTURE):
        return False
    items = {
        i.nodeid
        for i in results.items
        if i.evaluation.cause in _INFRASTRUCTURE or (i.status == "uncounted" and i.evaluation.unread)
    }
    few = any(g.kind == "valid" and not g.passed for g in results.gates) or not results.overall.scored
    gates = {gate_id(g.name) for g in results.gates if g.kind == "valid" or (few and g.value is None)}
    return failed <= items | gates
