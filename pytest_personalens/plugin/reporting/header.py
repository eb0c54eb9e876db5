"""The header of a run: what is tested, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.text.redaction import redact
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.results.wording import REPORT_ONLY, REPORTED_GATES

if TYPE_CHECKING:
    from pytest_personalens.plugin.running.run import Run


def header_of(run: Run) -> str:
    """Return the header of the run, in one line.

    It names the sample, the seed, the user agent and the judge, and says if nothing fails the run.
    """
    s, sample = run.settings, run.sample(run.settings)
    drawn = (
        str(sample.drawn)
        if s.shard is None
        else f"shard {s.shard[0]}/{s.shard[1]}, {len(sample.refs)} of {sample.drawn}"
    )
    line = redact(
        f"personalens: {drawn} {run.suite.item}s of {run.dataset.name} {run.dataset.version}, seed"
        f" {s.seed!r}{', ' * bool(about := run.suite.about(s._asdict()))}{about}"
        + (f", {s.trials} trials" if s.trials > 1 else "")
        + (f", controls {', '.join(map(run.suite.arm_word, s.control))}" if s.control else "")
        + (f", assistant {s.assistant}" if s.assistant else "")
        + (f", {run.state.history}" if run.state.history else "")
        + (
            f" ({s.assistant_prompt})"
            if "assistant" in run.participants.models() and "assistant_prompt" not in run.suite.lacks
            else ""
        )
        + _protocol(run)
        + (
            f"; the embedded judge gives no reading of {', '.join(get_measure(d).short for d in s.not_read)}"
            if s.not_read and not run.suite.table_by_kind  # such a table names them
            else ""
        )
        + (f"; {REPORT_ONLY}" + (f", {REPORTED_GATES}" if s.asks_for_gates else "") if s.report_only else "")
    )
    return one_line(line)


def _protocol(run: Run) -> str:
    """Return the part of the header about the protocol, if it is not the default.

    It also names the roles that the protocol does not reach.
    """
    s, untold = run.settings, run.participants.untold()
    mended = f", bugs {s.official_bugs}" if s.protocol_in_force == "official" else ""
    reach = f"; it does not reach the {' and the '.join(untold)}, which no model plays" if untold else ""
    protocol = run.participants.recipe.prompt_settings.named
    named = f", protocol {protocol}{mended}{reach}" if protocol else ""
    return (f", user agent with {s.user_agent}" if s.user_agent != "plain" else "") + named
