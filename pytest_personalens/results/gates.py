"""Gates over a whole run: what fails CI, and closed when too little could be scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_personalens.core.controls import control_word
from pytest_personalens.core.gate import VALID_FLOOR, GateExpression
from pytest_personalens.core.gate_expression import SCALES, TCR
from pytest_personalens.core.verdict import Dimension
from pytest_personalens.results.controls import lift, passes_of
from pytest_personalens.results.earlier import with_earlier
from pytest_personalens.results.gate_expressions import check_expressions
from pytest_personalens.results.means import by_user, estimate, item_scores
from pytest_personalens.results.stats.intervals import interval
from pytest_personalens.results.stats.trials import pass_hat, pass_share
from pytest_personalens.results.values import Gate
from pytest_personalens.results.wording import NO_INTERVAL, apart, count, over, p_text, sentence, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.settings import Settings
    from pytest_personalens.results.baseline import Baseline
    from pytest_personalens.results.drift import Drift
    from pytest_personalens.results.values import Comparison, Item, Results


def check_gates(
    results: Results, floors: Sequence[GateExpression], *, measured: bool = False
) -> tuple[Gate, ...]:
    """The verdict of every gate of a whole run; none is asked for where there is neither a floor nor a
    comparison.

    Beside them stands the gate ``valid``: the share of items that could be scored must reach 0.9, unless a
    floor says otherwise, because a mean over what is left says nothing about what is missing. So it does
    where the run is `measured`: to be a baseline for others, or for its figures alone, with no item that
    fails for its score.
    """
    shares = [floor for floor in floors if floor.metric == "valid"]
    least = {"": VALID_FLOOR, **{floor.group: floor.least for floor in shares}}
    gates = [
        _gate(results, floor, least.get(floor.group, least[""]))
        for floor in floors
        if floor.metric != "valid"
    ]
    if results.comparison is not None:
        gates += _regressions(results.comparison, least[""])
    if (gates or shares or measured) and all(floor.group for floor in shares):
        shares.append(GateExpression("", "valid", VALID_FLOOR))
    return (*gates, *(_gate(results, floor, least[""]) for floor in shares))


def check_again(results: Results, gate: Gate) -> Gate:
    """The gate decided anew by what `results` hold; as it is where they hold nothing to decide it by."""
    if gate.kind == "judge":
        return judge_gate(results.drift) if results.drift is not None else gate
    shares = {other.name.rpartition(": ")[0]: other.floor for other in results.gates if other.kind == "valid"}
    whole = shares.get("", VALID_FLOOR)
    if gate.kind == "regression":
        found = [] if results.comparison is None else _regressions(results.comparison, whole)
        return next((again for again in found if again.name == gate.name), gate)
    group, _, metric = gate.name.rpartition(": ")
    return _gate(results, GateExpression(group, metric, gate.floor), shares.get(group, whole))


def judge_gate(drift: Drift) -> Gate:
    """Fails when the judge changed or could not be asked: what it scored then says nothing.

    The value is the share of verdicts kept.
    """
    return Gate(
        name="judge", kind="judge", value=drift.kept, floor=1.0, passed=drift.passed, message=drift.sentence
    )


def _gate(results: Results, floor: GateExpression, least: float) -> Gate:
    if floor.group and not _members(results.own, floor.group):
        return _closed(floor, f"no scenario of {floor.group} is in this sample")
    if floor.metric == "valid":
        return _valid(results, floor)
    if floor.metric == "lift":
        return _lift(results, floor, least)
    if few := _few(results, floor, least):
        return _closed(floor, few)
    if floor.metric.startswith("pass^"):
        return _reliable(results, floor, least)
    return _mean(results, floor)


def _few(results: Results, floor: GateExpression, least: float) -> str:
    """Why a gate is not decided: too few of the items that it is about could be scored.

    Empty where they are enough.
    """
    items = _members(results.own, floor.group)
    scored = sum(i.evaluation.scored for i in items)
    total = len(items) + results.missing_by_group.get(floor.group, 0) if floor.group else results.expected
    its = "its " if floor.group else ""
    if not floor.group and not scored:
        return ""  # the gate itself says it best
    return (
        ""
        if round(scored / total, 6) >= least
        else f"only {scored} of {its}{count(total, 'item')} could be scored; {share_text(least)}"
    )


def _mean(results: Results, floor: GateExpression) -> Gate:
    dimension = SCALES[floor.metric]
    items = _members(results.own, floor.group)
    mean, label = estimate(item_scores(items), dimension), dimension.names.mean_of
    if mean.value is None:
        return _closed(floor, f"{label}: no item could be scored")
    gate = _against(floor, mean.value, (mean.low, mean.high), label, over(mean.scenarios, mean.users))
    total = len(items) + results.missing_by_group.get(floor.group, 0) if floor.group else results.expected
    worst = (mean.value * mean.dialogues + dimension.scale.low * (total - mean.dialogues)) / total
    if gate.passed and round(worst, 6) < floor.least:
        # Those that could not be scored may be the very ones that are bad.
        message = (
            f"{gate.message}; it would be {worst:.2f} if the {total - mean.dialogues} without a score had the"
            " lowest"
        )
        return gate.model_copy(update={"message": message})
    return gate


def _reliable(results: Results, floor: GateExpression, least: float) -> Gate:
    k = int(floor.metric.removeprefix("pass^"))
    items = _members(results.own, floor.group)
    passes, scenarios = passes_of(items), len({i.key for i in items})
    shares = by_user(
        {key: pass_share(passed, trials, k) for key, (passed, trials) in passes.items() if trials >= k}
    )
    value, used = pass_hat(list(passes.values()), k), sum(map(len, shares))
    label = f"chance of passing {k} times of {k}"
    if value is None:
        return _closed(floor, f"no scenario was scored in {count(k, 'trial')}")
    if used < least * scenarios:
        some = f"only {used} of {count(scenarios)} {'was' if used == 1 else 'were'} scored {k} times"
        return _closed(floor, f"{label}: {some}; {share_text(least)}")
    return _against(floor, value, interval(shares, 0, 1) or (None, None), label, over(used, len(shares)))


def _lift(results: Results, floor: GateExpression, least: float) -> Gate:
    control = "swapped" if "swapped" in (results.settings.get("control") or ()) else "none"
    items = _members(results.items, floor.group)
    gain = lift(
        [i for i in items if i.arm == control], [i for i in items if not i.arm], Dimension.PERSONALIZATION
    )
    label = f"lift of personalization over the control {control_word(control)}"
    scenarios = len({i.scenario_key for i in items})
    if gain is None or gain.pairs < least * scenarios:
        some = (
            f"only {gain.pairs} of {count(scenarios)} {'was' if gain.pairs == 1 else 'were'}"
            if gain
            else "no scenario was"
        )
        message = f"{label}: {some} scored both with and without its context" + (
            f"; {share_text(least)}" if gain else ""
        )
        return _closed(floor, message, "lift")
    basis = f"{over(gain.pairs, gain.users or gain.pairs)}, {p_text(gain.p)}"
    gate = _against(floor, gain.change, (gain.low, gain.high), label, basis)
    return gate.model_copy(update={"kind": "lift"})


def _valid(results: Results, floor: GateExpression) -> Gate:
    items = _members(results.own, floor.group)
    scored = sum(i.evaluation.scored for i in items)
    total = len(items) + results.missing_by_group.get(floor.group, 0) if floor.group else results.expected
    share = round(scored / total, 6) if total else 0.0
    message = f"{scored} of {total} items could be scored"
    if results.uncounted and not floor.group:
        message += f" (not: {', '.join(f'{n} {cause}' for cause, n in results.uncounted.items())})"
    passed = share >= floor.least
    message = message if passed else f"{message}; {share_text(floor.least)}"
    return Gate(name=floor.name, kind="valid", value=share, floor=floor.least, passed=passed, message=message)


def _against(
    floor: GateExpression, value: float, ends: tuple[float | None, float | None], label: str, basis: str
) -> Gate:
    # Compared as the mean is shown elsewhere: what reads 0.90 must not miss 0.9 by the last bits of a sum.
    value = round(value, 6)
    low, high = (None if end is None else round(end, 6) for end in ends)
    passed = value >= floor.least
    measured, least = (f"{value:.2f}", f"{floor.least:.2f}") if passed else apart(value, floor.least)
    between = NO_INTERVAL if low is None or high is None else f"{low:.2f} to {high:.2f}"
    message = f"{label} {measured} ({between}) {'>=' if passed else '<'} {least} {basis}"
    return Gate(
        name=floor.name, value=value, floor=floor.least, passed=passed, message=message, low=low, high=high
    )


def _regressions(comparison: Comparison, min_valid: float) -> Iterator[Gate]:
    if problem := _nothing_to_compare(comparison, min_valid):
        yield _incomparable("regression", problem)
    for dimension, when in comparison.one_sided.items():
        message = (
            f"{dimension.short} was judged {'then and not now' if when == 'then' else 'now and not then'}:"
            " nothing to compare"
        )
        yield _incomparable(f"regression: {_metric(dimension)}", message)
    for d in comparison.differences:
        if d.gated and d.pairs < min_valid * d.judged:
            some = f"{d.dimension.short} was judged in both runs in {d.pairs} of {count(d.judged)} only"
            yield _incomparable(f"regression: {_metric(d.dimension)}", f"{some}; {share_text(min_valid)}")
        elif d.gated:
            yield Gate(
                name=f"regression: {_metric(d.dimension)}",
                kind="regression",
                value=d.change,
                floor=0.0 - d.margin,
                passed=d.decidable and not d.regressed,  # a gate that no drop would fail guards nothing
                message=sentence(d),
                low=d.low,
                high=d.high,
            )


def _nothing_to_compare(comparison: Comparison, min_valid: float) -> str:
    """Why the comparison says too little to pass; empty if it says enough."""
    if not comparison.compared:
        why = ", ".join(f"{len(ids)} {reason}" for reason, ids in comparison.left_out.items())
        hint = (
            " (another sample, seed or name of a test?)"
            if not comparison.shared or "run by other tests" in comparison.left_out
            else ""
        )
        return f"no scenario of this run could be compared with {comparison.baseline}: {why}{hint}"
    if comparison.compared < min_valid * comparison.shared:
        message = (
            f"{comparison.compared} of the {count(comparison.shared)} that are also in {comparison.baseline}"
            " could be compared"
        )
        return f"{message}; {share_text(min_valid)}"
    if comparison.compared_by_test < min_valid * comparison.shared_by_test:
        message = f"a test of {comparison.baseline} that is gone or was renamed may be the one that got worse"
        some = (
            f"{comparison.compared_by_test} of {comparison.shared_by_test} scenarios were run by the same"
            " tests as then"
        )
        return f"only {some}: {message}; {share_text(min_valid)}"
    if not comparison.one_sided and not any(d.gated for d in comparison.differences):
        return (
            "neither task completion nor personalization is judged; give a dimension that is a margin"
            " (personalens_margin)"
        )
    return ""


def _closed(floor: GateExpression, message: str, kind: Literal["floor", "lift"] = "floor") -> Gate:
    """The gate of a floor that there is nothing to hold against."""
    return Gate(name=floor.name, kind=kind, value=None, floor=floor.least, passed=False, message=message)


def _incomparable(name: str, message: str) -> Gate:
    return Gate(name=name, kind="regression", value=None, floor=0.0, passed=False, message=message)


def _metric(dimension: Dimension) -> str:
    return TCR if dimension is Dimension.TASK_COMPLETION else dimension.short


def _members(items: Sequence[Item], group: str) -> list[Item]:
    return [i for i in items if not group or group == i.evaluation.kind or group in i.evaluation.domains]


class Requirements(NamedTuple):
    """What a run is held against: its gates, and a baseline with the level and the margins of the
    comparison.
    """

    gates: tuple[GateExpression, ...]
    baseline: Baseline | None
    settings: Settings

    @classmethod
    def of(cls, settings: Settings, baseline: Baseline | None) -> Requirements:
        """What `settings` ask for. Raises `SpecError` for gates that cannot be."""
        check_expressions(settings)
        return cls(settings.gate, baseline, settings)


def conclude(results: Results, demands: Requirements) -> Results:
    """The results with all that follows from them; a run that is not whole has neither comparison nor
    gates.
    """
    # What a run does not ask for is not loaded: it would be felt in a replay.
    s, update = demands.settings, dict[str, object]()
    if s.trials > 1:
        from pytest_personalens.results.controls import trials_of

        update["trials"] = trials_of(results.own, s.trials)
    if s.control:
        from pytest_personalens.results.controls import controls_of

        update["arms"] = controls_of(results.items)
    results = results.model_copy(update=update)
    # A cap ends a run in order, and its items are skipped; so are those that could not be scored where
    # nothing is to fail the run. If nothing is left to look at, that is no success.
    nothing = not results.overall.scored and (
        "budget" in results.uncounted or (s.report_only and results.expected > 0)
    )
    if not results.complete or not (s.asks_for_gates or nothing):
        return results

    if demands.baseline is not None:
        from pytest_personalens.results.comparison import compare_with_baseline

        margins = {Dimension(name): margin for name, margin in s.margin}
        results = with_earlier(results, demands.baseline)
        comparison = compare_with_baseline(
            demands.baseline, results, name=str(s.baseline), level=s.level, margins=margins
        )
        results = results.model_copy(update={"comparison": comparison})
    measured = nothing or s.save_baseline is not None
    return results.model_copy(update={"gates": check_gates(results, demands.gates, measured=measured)})
