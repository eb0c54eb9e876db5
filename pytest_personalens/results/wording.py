"""The wording of figures and findings in all reports."""

from __future__ import annotations

from collections import Counter
from math import floor
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.core.judging.measure import Dimension
from pytest_personalens.core.options.gate import VALID_FLOOR
from pytest_personalens.core.safe_text import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Cause
    from pytest_personalens.core.judging.verdict import FaultCode, Verdict
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.values.figures import Comparison, Difference, Gate
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
#: What the embedded judge reads, and what it does not (docs/explanation/scores.md).
_CHECKS: Final = "The embedded judge checks facts, tool calls, states and preferences; prose needs a model"
_OPTION: Final = "--personalens-judge-model"
#: What the simulated user did wrong, behind a number of dialogues.
FAULTS: Final[Mapping[FaultCode, str]] = {
    "contradicted": "contradicted a fact",
    "ended-early": "ended before the deed",
    "thanked-early": "thanked for what was not done",
    "spoke-as-assistant": "spoke for the assistant",
    "repeated": "repeated itself",
}
#: The text for a run in which no gate checks the scores.
UNJUDGED: Final = "no gate decides about the scores: this run passes however low they are"
#: The text for a run with --personalens-gate none.
REPORT_ONLY: Final = "report only: nothing here fails the run"
REPORTED_GATES: Final = "its gates are shown and do not count"
#: The text in place of an interval.
NO_INTERVAL: Final = "too few for an interval"
_DROPPED: Final = "significant drop"
_NOT_DROPPED: Final = "no significant drop"

# Each note on a run is empty if there is nothing to say.


def trust_note(results: Results) -> str:
    """Return what the embedded judge read task completion from, if it did."""
    read = (verdict.dimension for item in results.own for verdict in item.evaluation.verdicts)
    if results.settings.get("judge_model") != "embedded" or Dimension.TASK_COMPLETION not in read:
        return ""
    dialogues = [i.evaluation.dialogue for i in results.own if i.evaluation.task_completed is not None]
    held, acted = sum(d.state is not None for d in dialogues), sum(d.acts for d in dialogues)
    if len(dialogues) not in (held, acted):
        return f"{_CHECKS} ({_OPTION})."
    exact = "what your system held after it" if held == len(dialogues) else "the tool calls that it shows"
    return f"Task completion of each {results.of_suite.dialogue} was read from {exact}, value by value."


def not_judged_note(results: Results) -> str:
    """Return what the judge never reads, and what other readings would need, with the number of items."""
    suite, never = results.of_suite, results.settings.get("not_read") or ()
    names = ", ".join(m.short for m in suite.measures if m.value in never and not suite.table_by_kind)
    of_items = (i.evaluation.not_judged.items() for i in results.own)
    reasons = Counter(
        why
        for readings in of_items
        for why in dict.fromkeys(why for d, why in readings if d != Dimension.FACTS)
    )
    every = count(len(results.own), suite.item)
    parts = [f"{why}: not judged in {number:,} of {every}" for why, number in reasons.items()]
    return "; ".join([*([f"the judge gives no reading of {names}"] if names else []), *parts])


def user_note(results: Results) -> str:
    """Return what the simulated users did wrong, and how many dialogues were lost to them."""
    audit = results.user_audit
    if audit is None or not audit.faulty:
        return ""

    def named(numbers: Mapping[FaultCode, int]) -> str:
        return ", ".join(f"{number} {FAULTS[code]}" for code, number in Counter(numbers).most_common())

    of = f"faults of the user in {audit.faulty} of {count(audit.audited, results.of_suite.dialogue)}"
    if not audit.lost:
        return f"{of}: {named(audit.faults)}; none was lost to the user"
    lost = count(sum(audit.lost.values()), results.of_suite.dialogue)
    return f"{lost} lost to the user: {named(audit.lost)} ({of})"


def part_note(results: Results) -> str:
    """Return how many dialogues the means cover, if too few could be scored; nothing of single readings."""
    suite, scored, expected = results.of_suite, results.overall.scored, results.expected
    if not results.complete:
        return f"of {count(scored, suite.dialogue)} only, a part of the run"
    least = next((gate.limit for gate in results.gates if gate.name == "valid"), VALID_FLOOR)
    if expected and scored / expected >= least:
        return ""
    return f"of {scored:,} of {expected:,} {suite.dialogue}{'s' if expected != 1 else ''} only"


def left_out_text(results: Results) -> str:
    """Return ``at least 3 items of the sample``: of a file that was not collected, only one is counted."""
    return f"at least {count(results.left_out, 'item')} of the sample"


def unread_text(items: Sequence[Item], suite: Suite) -> str:
    """Return how many readings the judge did not give while it gave others: ``3 readings of tc, 1 of p``."""
    unread = Counter(measure for item in items for measure in item.evaluation.unread)
    counted = [(unread[measure], measure.short) for measure in suite.measures if unread[measure]]
    return ", ".join(
        f"{number if n else count(number, 'reading')} of {name}" for n, (number, name) in enumerate(counted)
    )


def unread_note(results: Results) -> str:
    """Return which readings are missing, with the number that each figure is over."""
    suite, figures = results.of_suite, results.overall.figures
    unread = unread_text(results.own, suite)
    if not unread:
        return ""
    counts = ", ".join(f"{m.short} {figures[m.value].count}" for m in suite.measures if m.value in figures)
    first = next(why for item in results.own for why in item.evaluation.unread.values())
    return (
        f"the judge did not give {unread}; each is missing from its own mean only (scores: {counts});"
        f" such as: {' '.join(first.split())[:_LONGEST_FAULT]}"
    )


def unfound_text(verdict: Verdict) -> str:
    """Return a note on what the model quotes or repeats of the transcript, if it casts doubt on its score."""
    if verdict.echoed:
        return "the line with its score stands in the dialogue too: the judge may have repeated it"
    again = ", also when the judge was asked again" if verdict.unsupported else ""
    if verdict.unfound_quotes:
        return f"not in the transcript: {count(verdict.unfound_quotes, 'quote')}{again or ', dropped'}"
    return f"quotes nothing of the transcript{again}" if verdict.unsupported else ""


def quotes_note(results: Results) -> str:
    """Return how many of the judge's quotes are not in the transcript."""
    if not results.unfound_quotes and not results.unsupported:
        return ""
    alone = f"; {count(results.unsupported, 'verdict')} without any quote that is in it"
    dropped = f"quotes of the judge that are not in the transcript: {results.unfound_quotes}, dropped"
    return dropped + alone * bool(results.unsupported)


def store_note(results: Results) -> str:
    """Return what a memory store showed: how long it took, where values were lost, and what is left in it."""

    def told(seconds: float) -> str:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"

    evaluations = [item.evaluation for item in results.own if item.evaluation.scored]
    looks = [(e, e.dialogue.store) for e in evaluations if e.dialogue.store is not None]
    waits, parts = [seconds for e in evaluations for seconds in e.waited], []
    if waits:
        longest = f", {told(max(waits))} at most"
        parts.append(f"waited {told(median(waits))} in the median after a session{longest}")
    lost = Counter(
        stored.step
        for e, look in looks
        for value in dict.fromkeys(r.value for v in e.verdicts for r in v.reasons if r.code == "not-said")
        if (stored := look.of(value)) is not None and stored.step is not None
    )
    if steps := ", ".join(f"{number} {step}" for step, number in lost.most_common()):
        parts.append(f"values not said: {steps}")
    if asked := [bool(look.residue) for _, look in looks if look.residue is not None]:
        of = count(len(asked), "arc")
        parts.append(f"still in the store: what was to be forgotten in {sum(asked)} of {of}")
    return f"memory store: {'; '.join(parts)}" if parts else ""


def latency_note(results: Results) -> str:
    """Return ``replies: p50 1.2 s, p95 3.4 s over 214 replies, 4 dialogues side by side``, or ""."""
    found = results.latency
    if found is None:
        return ""
    first = ""
    if found.first_p50 is not None and found.first_p95 is not None:
        first = f"; first piece p50 {found.first_p50:.1f} s, p95 {found.first_p95:.1f} s"
    none = f"; {found.replayed} replayed without a time" if found.replayed else ""
    basis = f"{replies_text(found.replies)}, {side_text(found.side_by_side)}"
    return f"latency: p50 {found.p50:.1f} s, p95 {found.p95:.1f} s over {basis}{first}{none}"


def replies_text(number: int) -> str:
    return f"{number:,} {'reply' if number == 1 else 'replies'}"


def side_text(side_by_side: int) -> str:
    """Return ``4 dialogues side by side``, or ``one dialogue at a time``."""
    return f"{side_by_side} dialogues side by side" if side_by_side > 1 else "one dialogue at a time"


def asked_again_note(results: Results) -> str:
    """Return how many readings the judge was asked for twice, and why; votes are no second asking."""
    most_votes = results.settings.get("judge_votes") or 1
    again = asked = 0
    for evaluation in (item.evaluation for item in results.items):
        votes = {f"judge {v.dimension.short}": max(1, len(v.votes)) for v in evaluation.verdicts}
        for purpose, used in evaluation.usage.items():
            if purpose.startswith("judge ") and used.calls:
                asked += 1
                again += used.calls > votes.get(purpose, most_votes)  # also where the judge gave no reading
    why = "its first answer could not be read, or quoted nothing that is in the transcript"
    return f"readings that the judge was asked for twice: {again} of {asked}; {why}" if again else ""


def thresholds_text(results: Results) -> str:
    """Return the thresholds that items missed, who set each, and whether an item fails for that."""
    given = [tuple(one) for one in results.settings.get("threshold") or () if isinstance(one, (list, tuple))]
    missed = {(s.dimension, s.limit) for item in results.own for s in item.shortfalls}
    texts = []
    for measure, limit in sorted(missed, key=lambda one: (results.of_suite.measures.index(one[0]), one[1])):
        usual = results.of_suite.thresholds.get(measure) == limit
        who = "set" if (measure.value, limit) in given else "default" if usual else "by a mark"
        texts.append(f"{measure.short} {'>=' if measure.better == 'high' else '<='} {limit} ({who})")
    gates = "; the gates alone decide" if results.gates and not results.report_only else ""
    return f"the threshold{'s' * (len(texts) > 1)} {', '.join(texts)}{gates}"


def stale_note(results: Results) -> str:
    """Return advice on stale records; of a failed run, not to accept the new dialogues."""
    stale = sum(item.record == "stale" for item in results.items)
    if not stale:
        return ""
    if results.went_wrong:
        every = count(len(results.items), results.of_suite.dialogue)
        return f"{stale} of {every} changed since recording; check why before re-recording"
    are = "is" if stale == 1 else "are"
    return f"{count(stale, 'record')} {are} stale; bring them up to date with --personalens-record new"


def control_names(suite: Suite) -> dict[str, str]:
    """Return the names of the run itself and of its controls on the page."""
    return {"": "the run itself"} | {
        control.name: control.title or control.word for control in suite.controls
    }


def gate_outcome(gate: Gate, results: Results) -> str:
    """Return ``passed`` or ``FAILED``, with a note if nothing decided the gate, or if it does not count."""
    if gate.passed:
        return "passed"
    if gate.inconclusive:
        return "INCONCLUSIVE" + " (report only)" * results.report_only
    known = ["not decided"] * (gate.value is None) + ["report only"] * results.report_only
    return f"FAILED ({', '.join(known)})" if known else "FAILED"


def over(scenarios: int, users: int, item: str = "scenario") -> str:
    """Return ``over 30 scenarios``, or ``over 160 scenarios of 2 users`` for users with several scenarios."""
    return f"over {count(scenarios, item)}" + (f" of {count(users, 'user')}" if users < scenarios else "")


def places(difference: float) -> int:
    """Return the decimals of a difference and its two figures: two, or up to four if they tell it from 0."""
    return next((n for n in (2, 3, 4) if float(f"{difference:.{n}f}")), 2)


def signed(value: float) -> str:
    """Return a text such as ``+0.10``, with the decimals of `places`."""
    digits = places(value)
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # no -0.00


def p_text(p: float, sides: Literal["one-sided", "two-sided"] = "one-sided") -> str:
    """Return ``one-sided p = 0.016``, or ``one-sided p < 0.001``."""
    return f"{sides} p {'= ' if p >= _LEAST_P else ''}{p_value(p)}"


def p_value(p: float) -> str:
    """Return ``0.016``, or ``< 0.001``."""
    return f"{p:.3f}" if p >= _LEAST_P else f"< {_LEAST_P}"


def signed_interval(low: float | None, high: float | None, confidence: float = 0.95) -> str:
    """Return ``95 % -0.10 to +0.20``, or why there is no interval."""
    if low is None or high is None:
        return NO_INTERVAL
    return f"{100 * confidence:.3g} % {signed(low)} to {signed(high)}"


def ends_text(low: float, high: float) -> str:
    """Return ``0.83 to 0.99``; the high end of a rate with failures is not rounded to ``1.00``."""
    rounded = f"{high:.2f}" if high >= 1 or high < _NEARLY_ONE else f"{floor(1000 * high) / 1000:.3f}"
    return f"{low:.2f} to {rounded}"


def share_text(least: float) -> str:
    """Return a text such as ``the floor is 90%``."""
    return f"the floor is {100 * least:.6g}%"


def apart(value: float, other: float) -> tuple[str, str]:
    """Return both numbers with two decimals, or with more if they look equal."""
    places = (2,) if value == other else (2, 3, 4, 6)
    texts = [(f"{value:.{n}f}", f"{other:.{n}f}") for n in places]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[-1])


def decision(difference: Difference) -> str:
    """Return the result of the paired test in one to three words."""
    return "not gated" if not difference.gated else _DROPPED if difference.regressed else _NOT_DROPPED


def change_text(d: Difference, change: str, item: str) -> str:
    """Return ``P 3.00 -> 2.50 (CHANGE) over 30 scenarios``."""
    name = d.dimension.names.mean
    return f"{name} {d.before:.2f} -> {d.after:.2f} ({change}) {over(d.pairs, d.users, item)}"


def level_text(comparison: Comparison) -> str:
    """Return ``0.05``, or ``0.05 for both gates together``: the level holds for all that are tested."""
    gated = sum(d.gated for d in comparison.differences)
    together = {0: "", 1: "", 2: " for both gates together"}.get(gated, f" for all {gated} gates together")
    return f"{comparison.level:g}{together}"


def sentence(difference: Difference, item: str = "scenario", comparison: Comparison | None = None) -> str:
    """Return the difference in one line, with the smallest drop that the test could have found.

    With its `comparison`, the line says why a p below the level is no significant drop.
    """
    d = difference
    tested = comparison is None or comparison.tested
    p = f", {p_text(d.p)}" if tested and d.dimension.sign * d.change < 0 else ""
    text = change_text(d, f"{signed(d.change)}, {signed_interval(d.low, d.high, d.confidence)}{p}", item)
    if not d.gated:
        return text
    few = f"these {'users' if d.users < d.pairs else f'{item}s'} are too few"
    beyond = f" beyond the margin of {d.margin:g}" if d.margin else ""
    if d.regressed:
        return f"{text}: a {_DROPPED}{beyond}"
    if d.before == d.dimension.worst:
        return f"{text}: it could not {'fall' if d.dimension.better == 'high' else 'rise'} further"
    if not d.decidable:
        return f"{text}: {few}: not even a fall of all their scores would be significant"
    none = f"{text}: {_NOT_DROPPED}{beyond}"
    if comparison is not None and d.p <= comparison.level:
        # The first test of Holm's procedure has only its part of the level.
        none += f" at the level {level_text(comparison)}"
    if d.detectable is None:
        return f"{none}; and {few} to find even the largest 4 times in 5"
    return f"{none}; one of {d.detectable:.2f} would have been found 4 times in 5"
