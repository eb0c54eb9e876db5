"""The results of trials, controls and the baseline as lines for a terminal."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.reports.content.reason_text import said_by_judge, why
from pytest_personalens.results.reasons.reasons import costs_of
from pytest_personalens.results.values.shortfalls import shortfall_text
from pytest_personalens.results.wording import count, level_text, p_text, sentence, signed, signed_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.results.values.changes import Arm, Comparison, Flip, PairedChange
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_MOST_LISTED: Final = 10
_LONGEST: Final = 120


def outcome_lines(results: Results, *, verbose: bool, listed: bool = True) -> Iterator[str]:
    """Yield the lines, or none if the run has no such results. `listed` includes the scores that changed."""
    suite = results.of_suite
    if (trials := results.trials) is not None:
        passes = (f"pass^{k} {'-' if p is None else f'{p:.2f}'}" for k, p in enumerate(trials.pass_k, 1))
        yield f"{trials.count} trials of each {suite.item}: {', '.join(passes)}"
        if trials.spread:
            spread = ", ".join(f"{name.short} {value:.2f}" for name, value in trials.spread.items())
            yield f"standard deviation within one {suite.item}: {spread}"
    if results.arms:
        yield from _controls(results, verbose=verbose)
    if results.comparison is not None:
        yield from _comparison(results, results.comparison, verbose=verbose, listed=listed)


def _controls(results: Results, *, verbose: bool) -> Iterator[str]:
    suite = results.of_suite
    for arm in results.arms:
        name = f"control {suite.arm_word(arm.name)}"
        for lift in arm.lift:
            if lift.dimension in suite.main and (verbose or not suite.table_by_kind):
                yield f"{name}: {_lift(lift, suite.own)}"
        if suite.kinds_apart:
            yield f"{name}: {suite.main[0].names.mean} by kind: {_by_kind(results, arm)}"
        if unscored := arm.overall.items - arm.overall.scored:
            yield f"{name}: {unscored} of {count(arm.overall.items, 'item')} could not be scored"


def _by_kind(results: Results, arm: Arm) -> str:
    """Return ``recall 0.00 -> 0.94, revise ...``: the mean of each kind in the control, and in the run."""
    measure = results.of_suite.main[0].value
    there = {group.name: group.figures[measure].value for group in arm.kinds if measure in group.figures}
    here = {group.name: group.figures[measure].value for group in results.kinds if measure in group.figures}
    both = ((kind, there.get(kind), now) for kind, now in here.items())
    return ", ".join(f"{kind} {a:.2f} -> {b:.2f}" for kind, a, b in both if a is not None and b is not None)


def _lift(lift: PairedChange, own: str) -> str:
    means = f"{lift.dimension.names.mean} {lift.before:.2f}, with {own} {lift.after:.2f}"
    gain, low, high = lift.gain
    return f"{means}: lift {signed(gain)} ({signed_interval(low, high)}, {p_text(lift.p)})"


def low_lines(results: Results) -> list[str]:
    """Return a line for each scenario below a threshold: what it missed, and in how many trials."""
    missed: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in results.own:
        if item.status == "low":
            missed[item.key].append(item)
    runs, several = Counter(item.key for item in results.own), len({item.test for item in results.own}) > 1
    lines = []
    for key, items in missed.items():
        test = f" in {items[0].test.rpartition('::')[2]}" if several else ""
        short = "; ".join(dict.fromkeys(shortfall_text(item.shortfalls) for item in items))
        trials = f" (in {len(items)} of {runs[key]} trials)" if runs[key] > 1 else ""
        lines.append(f"{items[0].evaluation.scenario}{test}: {short}{trials}")
    return lines


def _comparison(results: Results, comparison: Comparison, *, verbose: bool, listed: bool) -> Iterator[str]:
    compared = count(comparison.compared, results.of_suite.item)
    yield f"compared with {comparison.baseline}: {compared}, at the level {level_text(comparison)}"
    # A measure with a gate is reported there.
    gated = any(gate.kind == "regression" for gate in results.gates)
    for difference in comparison.differences:
        if not (gated and difference.gated):
            yield f"  {sentence(difference, results.of_suite.item)}"
    worse = [flip for flip in comparison.flips if flip.fell]
    better = [flip for flip in comparison.flips if not flip.fell]
    if listed:
        yield from _flips(worse, "worse", results, most=len(worse) if verbose else _MOST_LISTED)
        # What got better is good to know, but nobody needs to look at it.
        yield from _flips(better, "better", results, most=len(better) if verbose else 0)
    for cause, scenarios in comparison.left_out.items():
        names = f": {', '.join(scenarios)}" if verbose else ""
        yield f"  not compared, {cause}: {len(scenarios)}{names}"


def _flips(flips: list[Flip], way: str, results: Results, *, most: int) -> Iterator[str]:
    if not flips:
        return
    items = {item.nodeid: item for item in results.own}
    shown = flips[:most]
    number = f"{count(len(flips), 'score')} {way} than then"
    yield f"  {number}:" if shown else f"  {number} (-v lists them)"
    for flip in shown:
        where = f"  ({', '.join(flip.records)})" if flip.records else ""
        # A score, or a mean over trials.
        before, after = (f"{round(score, 2):g}" for score in (flip.before, flip.after))
        because = _because(flip, items, results)
        yield f"    {flip.scenario}: {flip.dimension.short} {before} -> {after}{because}{where}"
    if shown and len(shown) < len(flips):
        yield f"    and {len(flips) - len(shown)} more (-v lists them all)"


def _because(flip: Flip, items: dict[str, Item], results: Results) -> str:
    evaluations = [items[nodeid].evaluation for nodeid in flip.nodeids]
    verdicts = [v for e in evaluations for v in e.verdicts if v.dimension == flip.dimension]
    # Of several trials, the one with the largest change explains most.
    outermost = min if flip.fell == (flip.dimension.better == "high") else max
    verdict = outermost(verdicts, key=lambda one: one.score, default=None)
    if verdict is None:
        return ""
    scenario = results.scenarios.get(flip.scenario)
    if flip.fell:
        text = why(verdict, costs_of(verdict), scenario)
    else:
        text = said_by_judge(verdict.justification, verdict, scenario)
    return f", {short_line(text, _LONGEST)}"
