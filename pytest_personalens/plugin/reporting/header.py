"""The header of a run: what is tested, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.text.redaction import redact
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.results.wording import REPORT_ONLY, REPORTED_GATES, count

if TYPE_CHECKING:
    from pytest_personalens.plugin.running.run import Run


def header_of(run: Run) -> str:
    """Return in one line what the run is about: its sample, its seed, its agents, and if nothing fails it."""
    s, sample, suite = run.settings, run.sample(run.settings), run.suite
    drawn = count(sample.drawn, suite.item)
    if s.shard is not None:
        drawn = f"shard {s.shard[0]}/{s.shard[1]}, {len(sample.refs)} of {drawn}"
    parts = [
        f"personalens: {drawn} of {run.dataset.name} {run.dataset.version}",
        f"seed {s.seed!r}",
        suite.about(s._asdict()),
        f"{s.trials} trials" if s.trials > 1 else "",
        f"controls {', '.join(map(suite.arm_word, s.control))}" if s.control else "",
        f"assistant {s.assistant}" if s.assistant else "",
        run.state.history,
    ]
    line = ", ".join(filter(None, parts))
    if "assistant" in run.participants.models() and "assistant_prompt" not in suite.lacks:
        line += f" ({s.assistant_prompt})"
    if s.user_agent != "plain":
        line += f", user agent with {s.user_agent}"
    if protocol := run.participants.recipe.prompt_settings.named:
        line += f", protocol {protocol}"
        if s.protocol_in_force == "official":
            line += f", bugs {s.official_bugs}"
        if roles := run.participants.roles_without_prompt():
            line += f"; it does not reach the {' and the '.join(roles)}, which no model plays"
    if s.not_read and not suite.table_by_kind:  # such a table names them
        names = ", ".join(get_measure(d).short for d in s.not_read)
        line += f"; the embedded judge gives no reading of {names}"
    if s.report_only:
        line += f"; {REPORT_ONLY}" + (f", {REPORTED_GATES}" if s.asks_for_gates else "")
    return one_line(redact(line))
