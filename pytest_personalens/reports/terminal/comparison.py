"""The results of trials, controls and the baseline as lines for a terminal."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.content.markup import short_line
from pytest_personalens.reports.content.reason_text import said_by_judge, why
from pytest_personalens.results.reasons.reasons import costs_of
from pytest_personalens.results.values.shortfalls import shortfall_text
from pytest_personalens.results.wording import count, p_text, sentence, signed, signed_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.judging.verdict import Verdict
    from pytest_personalens.results.values.changes import Comparison, Flip, PairedChange
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_MOST_LISTED: Final = 10
_LONGEST: Final = 120


def outcome_lines(results: Results, *, verbose: bool, listed: bool = True) -> Iterator[str]:
    """Yield the lines, or none if the run has no such results.

    Scores that changed are left out if not `listed`.
    """
    suite = results.of_suite
    if results.trials is not None:
        passes = ", ".join(
            f"pass^{k} {'-' if p is None else f'{p:.2f}'}" for k, p in enumerate(results.trials.pass_k, 1)
        )
        yield f"{results.trials.count} trials of each {suite.item}: {passes}"
        spread = ", ".join(f"{name.short} {value:.2f}" for name, value in results.trials.spread.items())
        if spread:
            yield f"standard deviation within a {suite.item}: {spread}"
    row_of_arms = suite.arm_groups.get("ablation", ())
    ablation = bool(row_of_arms) and set(row_of_arms) <= {arm.name for arm in results.arms}
    if ablation:
        from pytest_personalens.reports.tables.contexts import (
            ablation_table,
        )  # it prints means in the same way as the summary

        yield from ablation_table(results).text().splitlines()
        yield ""
    for control in results.arms if not ablation else ():
        for lift in control.lift:
            if lift.dimension in suite.main and (verbose or not suite.table_by_kind):
                yield f"control {suite.arm_word(control.name)}: {_lift(lift)}"
        if unscored := control.overall.items - control.overall.scored:
            of_all = count(control.overall.items, "item")
            yield f"control {suite.arm_word(control.name)}: {unscored} of {of_all} could not be scored"
    if results.comparison is not None:
        # A measure with a gate is reported there.
        gated = any(gate.kind == "regression" for gate in results.gates)
        yield from _comparison(results, results.comparison, verbose=verbose, gated=gated, listed=listed)


def low_lines(results: Results) -> list[str]:
    """Return a line for each scenario of the run itself below a threshold.

    The line says what it missed, and in how many trials.
    """
    missed: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in results.own:
        if item.status == "low":
            missed[item.key].append(item)
    runs = Counter(item.key for item in results.own)
    several = len({item.test for item in results.own}) > 1
    return [
        f"{_name(items[0], several)}: {'; '.join(dict.fromkeys(shortfall_text(i.shortfalls) for i in items))}"
        + (f" (in {len(items)} of {runs[key]} trials)" if runs[key] > 1 else "")
        for key, items in missed.items()
    ]


def _name(item: Item, several: bool) -> str:
    """Return the scenario, with its test if there are `several`."""
    return item.evaluation.scenario + (f" in {item.test.rpartition('::')[2]}" if several else "")


def _lift(lift: PairedChange) -> str:
    sentence = f"{lift.dimension.names.mean} {lift.before:.2f}, with this user's context {lift.after:.2f}"
    gain, low, high = lift.gain
    return f"{sentence}: lift {signed(gain)} ({signed_interval(low, high)}, {p_text(lift.p)})"


def _comparison(
    results: Results, comparison: Comparison, *, verbose: bool, gated: bool, listed: bool
) -> Iterator[str]:
    compared = count(comparison.compared, results.of_suite.item)
    yield f"compared with {comparison.baseline}: {compared}, at the level {comparison.level:g}"
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


def _why(verdict: Verdict, flip: Flip, results: Results) -> str:
    scenario = results.scenarios.get(flip.scenario)
    if flip.fell:
        return why(verdict, costs_of(verdict), scenario)
    return said_by_judge(verdict.justification, verdict, scenario)


def _flips(flips: list[Flip], way: str, results: Results, *, most: int) -> Iterator[str]:
    if not flips:
        return
    items = {item.nodeid: item for item in results.own}
    shown = flips[:most]
    number = f"{count(len(flips), 'score')} {way} than then"
    yield f"  {number}:" if shown else f"  {number} (-v lists them)"
    for flip in shown:
        verdicts = [
            v
            for nodeid in flip.nodeids
            for v in items[nodeid].evaluation.verdicts
            if v.dimension == flip.dimension
        ]
        # Of several trials, the one with the largest change explains most.
        outermost = min if (way == "worse") == (flip.dimension.better == "high") else max
        furthest = outermost(verdicts, key=lambda verdict: verdict.score, default=None)
        because = f", {short_line(_why(furthest, flip, results), _LONGEST)}" if furthest else ""
        where = f"  ({', '.join(flip.records)})" if flip.records else ""
        yield (
            f"    {flip.scenario}: {flip.dimension.short} {_short(flip.before)} ->"
            f" {_short(flip.after)}{because}{where}"
        )
    if shown and len(shown) < len(flips):
        yield f"    and {len(flips) - len(shown)} more (-v lists them all)"


def _short(score: float) -> str:
    """Return the text of a score, or of a mean over trials."""
    return f"{round(score, 2):g}"
