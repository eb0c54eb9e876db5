"""What a run says of itself: its header, its gates as tests that passed or failed, and its summary."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import PersonalensError, error_text, short_repr
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.names import gate_id
from pytest_personalens.core.safe_text import count, harmless, one_line, redact
from pytest_personalens.plugin.failures import GateFailure, RedGates, columns, traceback_style
from pytest_personalens.plugin.running.keys import RUN, SETTINGS
from pytest_personalens.plugin.running.prefetch import record_command, rerun_command
from pytest_personalens.reports.content.findings import gates_off
from pytest_personalens.reports.content.why_items_failed import sentence_of
from pytest_personalens.reports.terminal.summary_lines import summary_lines
from pytest_personalens.results.reasons import explanations
from pytest_personalens.results.wording import REPORT_ONLY, REPORTED_GATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.plugin.running.run import Run, Tally
    from pytest_personalens.reports.write_reports import WrittenFiles
    from pytest_personalens.results.reasons import Explanation, WorstCase
    from pytest_personalens.results.values.figures import Gate
    from pytest_personalens.results.values.results import Results


def header_of(run: Run) -> str:
    """Return in one line what the run is about: its sample, its seed, its agents, and if nothing fails it."""
    s, sample, suite = run.settings, run.sample(run.settings), run.suite
    drawn = count(sample.drawn, suite.item)
    if s.shard is not None:
        drawn = f"shard {s.shard[0]}/{s.shard[1]}, {len(sample.refs)} of {drawn}"
    parts = [
        f"personalens: {drawn} of {run.dataset.name} {run.dataset.version}",
        f"seed {s.seed!r}",
        suite.about(s),
        f"{s.trials} trials" if s.trials > 1 else "",
        f"controls {', '.join(map(suite.control_word, s.control))}" if s.control else "",
        f"assistant {s.assistant}" if s.assistant else "",
        run.state.history,
    ]
    line = ", ".join(filter(None, parts))
    if "assistant" in run.participants.models() and "assistant_prompt" not in suite.lacks:
        line += f" ({s.assistant_prompt})"
    if s.user_agent != "plain":
        line += f", user agent with {s.user_agent}"
    if protocol := run.participants.recipe.prompts.named:
        line += f", protocol {protocol}"
        if s.protocol_in_force == "official":
            line += f", bugs {s.official_bugs}"
        if roles := run.participants.roles_without_prompt():
            line += f"; it does not reach the {' and the '.join(roles)}, which no model plays"
    if s.report_only:
        line += f"; {REPORT_ONLY}" + (f", {REPORTED_GATES}" if s.asks_for_gates else "")
    return one_line(redact(line))


def red_gates(config: pytest.Config, run: Run, results: Results, pages: Sequence[str]) -> RedGates:
    """Why the gates failed that did; `pages` are the HTML reports that this run wrote."""
    from pytest_personalens.reports.terminal.transcript import gate_failure

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


#: Seconds of waiting after which a run says how it could be faster.
_LONG: Final = 10.0
_WITHHOLDS_NOTHING: Final = (
    "personalens: nothing asks for personalens_context (a fixture, or a parameter `context` of the"
    " assistant), so the controls withhold nothing, and their lift says nothing"
)


def write_summary(
    reporter: pytest.TerminalReporter,
    results: Results,
    written: WrittenFiles,
    *,
    drawn: Tally,
    infrastructure: bool,
    red: RedGates,
) -> None:
    """Write the section ``personalens`` of the terminal summary, and further notes.

    `drawn` says what the items could see and waited for, and `infrastructure` that no failure was the
    assistant's. `red` are the gates that failed.
    """
    run = reporter.config.stash[RUN]
    if run.state.history:
        reporter.write_line(f"this run {run.state.history}")
    # Of a run that was stopped before its first dialogue, pytest has said why.
    if results.items or results.complete or results.lost or results.usage:
        _write_section(reporter, results, written, red)
    if run.settings.control and results.items and not drawn.knows:
        reporter.write_line(_WITHHOLDS_NOTHING, yellow=True)
    if (run.settings.adopt_judge or run.settings.check_judge) and results.drift is None:
        done = "adopted" if run.settings.adopt_judge else "checked"
        reporter.write_line(f"the judge was not {done}: the run was stopped")
    if drawn.refused:
        calls = count(drawn.refused, "call")
        reporter.write_line(
            f"personalens: a rate limit refused {calls} of your assistant, made again with fewer at once",
            yellow=True,
        )
    if line := _offer(drawn):
        reporter.write_line(f"personalens: {line}", yellow=True)
    if line := _unused_records(reporter.config, results):
        reporter.write_line(line)
    for problem in written.problems:
        reporter.write_line(problem, red=True)
    if infrastructure:
        reporter.write_line(
            "failed for lack of scores alone: this run says nothing about your assistant", red=True
        )


def _offer(drawn: Tally) -> str:
    """Return one line on how dialogues that waited for each other can run side by side."""
    if drawn.waited < _LONG:
        return ""
    waited = f"one dialogue ran after the other, and they waited {drawn.waited:.0f} s"
    if drawn.waited_for == "scope":
        return (
            f"{waited}; side by side they run if the fixture personalens_assistant has scope 'session' and"
            " returns an async callable with a parameter `context`"
        )
    return (
        f"{waited}; personalens_parallel = true runs them side by side, if your assistant keeps users apart"
    )


def _unused_records(config: pytest.Config, results: Results) -> str:
    """Return one line on other records beside those that a recording run wrote or replayed."""
    used = {config.rootpath / item.record_file for item in results.items if item.record_file}
    if not config.stash[RUN].settings.writes_records or not used:
        return ""
    beside = {file for folder in {file.parent for file in used} for file in folder.glob("*.json")} - used
    others = count(len(beside), "record")
    return f"{others} of no item of this run stay as they are: personalens records" if beside else ""


def _write_section(
    reporter: pytest.TerminalReporter, results: Results, written: WrittenFiles, red: RedGates
) -> None:
    verbosity, records = reporter.config.get_verbosity(), _about_records(reporter.config, results)
    reporter.write_sep("=", "personalens")
    if not results.scenarios:
        # Whether or not a report is written, it is told what is known of the user whose score fell.
        flips = results.comparison.flips if results.comparison is not None else ()
        fell = {flip.scenario for flip in flips if flip.fell}
        items = [i for i in results.own if red.failures or i.evaluation.scenario in fell]
        with suppress(PersonalensError):  # a data file changed during the run
            results = results.model_copy(update={"scenarios": reporter.config.stash[RUN].scenarios(items)})
    lines = summary_lines(
        results,
        verbose=verbosity > 0,
        domains=verbosity >= 0,
        written=written.done,
        records=records,
        explained=bool(red.failures),
        width=columns(reporter.config),
    )
    for text, style in lines:
        reporter.write_line(harmless(text), **dict.fromkeys(style, True))
    if results.gates and (verbosity > 0 or not red.failures) and not results.report_only:
        each = "each gate" if len(results.gates) > 1 else "the gate"
        reporter.write_line(f"({each} counts as a test: {len(results.gates)} of those below)")
    run = reporter.config.stash[RUN]
    asked = results.items or results.uncounted  # a shard may have no items
    further = _further_lines(reporter.config, results) if asked else []
    left_out = run.suite.left_out(run.dataset) if verbosity > 0 else ()
    for line in (*further, *left_out, *red.next_steps):
        reporter.write_line(harmless(line))


def _further_lines(config: pytest.Config, results: Results) -> list[str]:
    """Return the lines of other plugins, whose errors do not end the summary."""
    hook, further = "pytest_personalens_report_lines", list[str]()
    try:
        for told_by_one in getattr(config.hook, hook)(results=results, config=config):
            lines = list(told_by_one)
            if isinstance(told_by_one, str) or not all(isinstance(line, str) for line in lines):
                raise TypeError(f"expected a list of texts, not {short_repr(told_by_one)}")
            further += lines
    except Exception as error:
        further.append(f"{hook} failed: {error_text(error)}")
    return further


def _about_records(config: pytest.Config, results: Results) -> str:
    """Return one line on how to write missing or stale records, if there are any and this run writes none."""
    settings = config.stash[RUN].settings
    if settings.writes_records:
        return ""
    items = results.items
    # A run that may spend has already paid for missing parts. If a record still fails it, there is another
    # problem.
    refused = any(i.evaluation.cause == "record" and not settings.may_spend for i in items)
    # A dialogue that failed the run should not become a record.
    wrong = refused or (not results.went_wrong and any(i.record == "stale" for i in items))
    return f"write the records that are missing or stale with: {record_command(config)}" if wrong else ""
