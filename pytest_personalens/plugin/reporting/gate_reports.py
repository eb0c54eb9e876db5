"""Reports gates as tests of pytest, and items as JUnit properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.text.node_ids import gate_id
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.plugin.failures import GateFailure, traceback_style
from pytest_personalens.plugin.running.keys import SETTINGS
from pytest_personalens.plugin.running.prepare import rerun_command
from pytest_personalens.reports.content.findings import gates_off
from pytest_personalens.results.values.item import item_times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.results.reasons.explanation import Explanation, WorstCase
    from pytest_personalens.results.values.figures import Gate
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


class RedGates(NamedTuple):
    """What the gates that failed print, by their names, and what to do next: a command, and the page."""

    failures: Mapping[str, GateFailure]
    next_steps: tuple[str, ...] = ()


def red_gates(config: pytest.Config, run: Run, results: Results, pages: Sequence[str]) -> RedGates:
    """Why the gates failed that did; `pages` are the HTML reports that this run wrote."""
    from pytest_personalens.reports.content.explanation import sentence_of
    from pytest_personalens.reports.terminal.transcript import gate_failure
    from pytest_personalens.results.reasons.explanation import explanations

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
    evaluation, dialogue = item.evaluation, item.evaluation.dialogue
    scores = [
        (f"personalens_{v.dimension.value.partition(':')[0].replace(' ', '_')}", str(v.score))
        for v in evaluation.verdicts
        if evaluation.scored
    ]
    more = {
        "unread": " ".join(measure.short for measure in evaluation.unread),
        "not_judged": " ".join(measure.short for measure in evaluation.not_judged),
        "tool_calls": str(sum(m.calls for m in dialogue.messages)) if dialogue.acts else "",
        "trial": str(item.trial) if item.trial > 1 else "",
        "control": item.arm,
        **{name: f"{time:.1f}" for name, time in item_times(item).items()},
    }
    return [
        *(scores or ([("personalens_cause", evaluation.cause)] if evaluation.cause else [])),
        *((f"personalens_{name}", text) for name, text in more.items() if text),
    ]
