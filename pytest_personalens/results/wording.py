"""The wording of figures and findings in all reports."""

from __future__ import annotations

from collections import Counter
from math import floor
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.options.gate import VALID_FLOOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Cause
    from pytest_personalens.core.judging.user_fault import FaultCode
    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.values.changes import Difference
    from pytest_personalens.results.values.figures import Gate
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


_LEAST_P: Final = 0.001
#: With two decimals, this and more is rounded to 1.
_NEARLY_ONE: Final = 0.995
_LONGEST_FAULT: Final = 300
#: The reason why an item has no scores, as the end of a sentence.
CAUSES: Final[Mapping[Cause, str]] = {
    "assistant": "the assistant failed",
    "user-agent": "the simulated user failed",
    "judge": "the judge failed",
    "record": "the record is missing, stale or damaged",
    "lost": "the worker died",
    "unevaluated": "the test ended before it was evaluated (skipped, failed on its own, or without check())",
    "budget": "the cap on calls or money was reached",
}


#: How far a verdict of the embedded judge can be trusted (docs/explanation/scores.md, "Live assistants").
_TRUST: Final = (
    "The embedded judge finds broken memory and drops of P; of its verdicts on task completion of live"
    " assistants, about two in five are wrong, either way: trust a change of the rate, and read the dialogue."
)


def trust_note(results: Results) -> str:
    """Return how far the verdicts can be trusted; empty unless the embedded judge read task completion."""
    read = any(
        verdict.dimension == Dimension.TASK_COMPLETION
        for item in results.own[:1]
        for verdict in item.evaluation.verdicts
    )
    return _TRUST if read and results.settings.get("judge_model") == "embedded" else ""


#: What the simulated user did wrong, behind a number of dialogues.
FAULTS: Final[Mapping[FaultCode, str]] = {
    "contradicted": "contradicted a fact",
    "ended-early": "ended before the deed",
    "thanked-early": "thanked for what was not done",
    "spoke-as-assistant": "spoke for the assistant",
    "repeated": "repeated itself",
}


def user_note(results: Results) -> str:
    """Return what the simulated users did wrong, and how many dialogues were lost to them.

    The text is empty if they did nothing wrong, or if no audit was made.
    """
    audit = results.user_audit
    if audit is None or not audit.faulty:
        return ""
    of = f"{audit.faulty} of {count(audit.audited, results.of_suite.dialogue)}"
    if not audit.lost:
        return f"faults of the user in {of}: {_faults(audit.faults)}; none was lost to the user"
    lost = count(sum(audit.lost.values()), results.of_suite.dialogue)
    return f"{lost} lost to the user: {_faults(audit.lost)} (faults of the user in {of})"


def _faults(numbers: Mapping[FaultCode, int]) -> str:
    ordered = sorted(numbers.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{number} {FAULTS[code]}" for code, number in ordered)


def control_names(suite: Suite) -> dict[str, str]:
    """Return the names of the run itself and of its controls on the page."""
    return {"": "the run itself"} | {arm.name: arm.title or arm.word for arm in suite.arms}


def signed(value: float) -> str:
    """Return a text such as ``+0.10``.

    A negative value that rounds to zero is written ``+0.00``.
    """
    return f"{value:+.2f}".replace("-0.00", "+0.00")


def p_text(p: float, sides: Literal["one-sided", "two-sided"] = "one-sided") -> str:
    """Return ``one-sided p = 0.016``, or ``one-sided p < 0.001``.

    The p of a gate is that of a drop, or of a lift.
    """
    return f"{sides} p {'= ' if p >= _LEAST_P else ''}{p_value(p)}"


def p_value(p: float) -> str:
    """Return ``0.016``, or ``< 0.001``."""
    return f"{p:.3f}" if p >= _LEAST_P else f"< {_LEAST_P}"


#: The text for a run in which no gate checks the scores.
UNJUDGED: Final = "no gate decides about the scores: this run passes however low they are"
#: The text for a run with --personalens-gate none.
REPORT_ONLY: Final = "report only: nothing here fails the run"
REPORTED_GATES: Final = "its gates are shown and do not count"


def gate_outcome(gate: Gate, results: Results) -> str:
    """Return ``passed`` or ``FAILED``.

    A note follows if the gate had no value to decide by, or if it does not count.
    """
    if gate.passed:
        return "passed"
    known = ["not decided"] * (gate.value is None) + ["report only"] * results.report_only
    return f"FAILED ({', '.join(known)})" if known else "FAILED"


def part_note(results: Results) -> str:
    """Return how many dialogues the means cover, if these are only a part.

    The text is empty if enough of the run could be scored. It says nothing of readings: `unread_note` does.
    """
    if not results.complete:
        return f"of {count(results.overall.scored, results.of_suite.dialogue)} only, a part of the run"
    least = next((gate.limit for gate in results.gates if gate.name == "valid"), VALID_FLOOR)
    return (
        ""
        if results.expected and results.overall.scored / results.expected >= least
        else f"of {results.overall.scored:,} of {results.expected:,} {results.of_suite.dialogue}s only"
    )


def unread_text(items: Sequence[Item], suite: Suite) -> str:
    """Return how many readings the judge did not give while it gave others: ``3 readings of tc, 1 of p``.

    The text is empty if there is none.
    """
    unread = Counter(measure for item in items for measure in item.evaluation.unread)
    counted = [(unread[measure], measure.short) for measure in suite.measures if unread[measure]]
    first = f"{count(counted[0][0], 'reading')} of {counted[0][1]}" if counted else ""
    return ", ".join([first, *(f"{number} of {name}" for number, name in counted[1:])]) if first else ""


def unread_note(results: Results) -> str:
    """Return which readings are missing, with the number that each figure is over.

    The text is empty if no reading is missing.
    """
    suite = results.of_suite
    unread = unread_text(results.own, suite)
    if not unread:
        return ""
    over_each = ", ".join(
        f"{measure.short} {results.overall.figures[measure.value].count}"
        for measure in suite.measures
        if measure.value in results.overall.figures
    )
    first = next(why for item in results.own for why in item.evaluation.unread.values())
    return (
        f"the judge did not give {unread}; each is missing from its own mean only (scores: {over_each});"
        f" such as: {' '.join(first.split())[:_LONGEST_FAULT]}"
    )


def count(number: int, what: str = "scenario") -> str:
    """Return ``1 scenario``, or ``2 scenarios``."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def over(scenarios: int, users: int, item: str = "scenario") -> str:
    """Return ``over 30 scenarios``, or ``over 160 scenarios of 2 users``.

    The second form is for users with several scenarios.
    """
    return f"over {count(scenarios, item)}" + (f" of {count(users, 'user')}" if users < scenarios else "")


def unfound_text(verdict: Verdict) -> str:
    """Return a note on the model's quotes that are not in the transcript.

    It is empty if there is nothing to report.
    """
    again = ", also when the judge was asked again" if verdict.unsupported else ""
    if verdict.unfound_quotes:
        return f"not in the transcript: {count(verdict.unfound_quotes, 'quote')}{again or ', dropped'}"
    return f"quotes nothing of the transcript{again}" if verdict.unsupported else ""


def quotes_note(results: Results) -> str:
    """Return how many of the judge's quotes are not in the transcript.

    The text is empty if all of them are.
    """
    if not results.unfound_quotes and not results.unsupported:
        return ""
    alone = (
        f"; {count(results.unsupported, 'verdict')} without any quote that is in it"
        if results.unsupported
        else ""
    )
    return f"quotes of the judge that are not in the transcript: {results.unfound_quotes}, dropped{alone}"


def asked_again_note(results: Results) -> str:
    """Return how many readings the judge was asked for twice, and why.

    The text is empty if there is none. Votes are no second asking.
    """
    readings = [
        (used.calls, max(1, len(verdict.votes)))
        for item in results.items
        for verdict in item.evaluation.verdicts
        if (used := item.evaluation.usage.get(f"judge {verdict.dimension.short}")) is not None and used.calls
    ]
    if not (again := sum(calls > votes for calls, votes in readings)):
        return ""
    return (
        f"readings that the judge was asked for twice: {again} of {len(readings)}; its first answer could not"
        " be read, or quoted nothing that is in the transcript"
    )


def stale_note(results: Results) -> str:
    """Return advice on stale records, or an empty text if there are none.

    If the run failed, the text does not advise to accept the new dialogues.
    """
    stale = sum(item.record == "stale" for item in results.items)
    if not stale:
        return ""
    if results.went_wrong:
        every = count(len(results.items), results.of_suite.dialogue)
        return f"{stale} of {every} changed since recording; check why before re-recording"
    return (
        f"{count(stale, 'record')} {'is' if stale == 1 else 'are'} stale; bring them up to date with"
        " --personalens-record new"
    )


#: The text in place of an interval.
NO_INTERVAL: Final = "too few for an interval"


def signed_interval(low: float | None, high: float | None) -> str:
    """Return ``95 % -0.10 to +0.20``, or why there is no interval."""
    return NO_INTERVAL if low is None or high is None else f"95 % {signed(low)} to {signed(high)}"


def ends_text(low: float, high: float) -> str:
    """Return ``0.83 to 0.99``.

    The high end of a rate with failures in it lies below 1, and is not rounded to ``1.00``.
    """
    rounded = f"{high:.2f}" if high >= 1 or high < _NEARLY_ONE else f"{floor(1000 * high) / 1000:.3f}"
    return f"{low:.2f} to {rounded}"


def share_text(least: float) -> str:
    """Return a text such as ``the floor is 90%``."""
    return f"the floor is {100 * least:.6g}%"


def apart(value: float, other: float) -> tuple[str, str]:
    """Return both numbers with two decimals, or with more if they look equal."""
    for places in (2, 3, 4):
        texts = f"{value:.{places}f}", f"{other:.{places}f}"
        if texts[0] != texts[1]:
            return texts
    return (f"{value:.2f}", f"{other:.2f}") if value == other else (f"{value:.6f}", f"{other:.6f}")


def decision(difference: Difference) -> str:
    """Return the result of the paired test in one to three words."""
    if not difference.gated:
        return NOT_GATED
    return DROPPED if difference.regressed else NOT_DROPPED


DROPPED: Final = "significant drop"
NOT_DROPPED: Final = "no significant drop"
NOT_GATED: Final = "not gated"


def sentence(difference: Difference, item: str = "scenario") -> str:
    """Return the difference in one line.

    The line includes the decision, and the smallest drop that the test could have found.
    """
    d = difference
    text = f"{signed(d.change)}, {signed_interval(d.low, d.high)}" + (
        f", {p_text(d.p)}" if d.dimension.sign * d.change < 0 else ""
    )
    text = (
        f"{d.dimension.names.mean} {d.before:.2f} -> {d.after:.2f} ({text})"
        f" {over(d.pairs, d.users or d.pairs, item)}"
    )
    if not d.gated:
        return text
    few = "users" if 0 < d.users < d.pairs else f"{item}s"
    beyond = f" beyond the margin of {d.margin:g}" if d.margin else ""
    if d.regressed:
        return f"{text}: a {DROPPED}{beyond}"
    if d.before == d.dimension.worst:
        return f"{text}: it could not {'fall' if d.dimension.better == 'high' else 'rise'} further"
    if not d.decidable:
        return (
            f"{text}: these {few} are too few for a gate, which not even a fall of all their scores would"
            " fail"
        )
    if d.detectable is None:
        return f"{text}: {NOT_DROPPED}{beyond}; and these {few} are too few to find any"
    return f"{text}: {NOT_DROPPED}{beyond}; one of {d.detectable:.2f} would have been found 4 times in 5"
