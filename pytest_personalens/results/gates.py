"""Gates over a whole run, which make CI fail.

A gate also fails if too few items could be scored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_personalens.core.gate import VALID_FLOOR, GateExpression
from pytest_personalens.core.gate_expression import parse_gate_name
from pytest_personalens.core.measure import measure_named
from pytest_personalens.core.suite import Metric
from pytest_personalens.results.controls import gain_of, passes_of
from pytest_personalens.results.drop_gate import drop_gate, undecided_drop
from pytest_personalens.results.earlier import with_earlier
from pytest_personalens.results.gate_expressions import check_expressions, control_of, measure_of
from pytest_personalens.results.means import by_user, figure_of
from pytest_personalens.results.stats.intervals import interval
from pytest_personalens.results.stats.trials import pass_hat, pass_share
from pytest_personalens.results.values import Gate
from pytest_personalens.results.wording import NO_INTERVAL, apart, count, over, p_text, sentence, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.settings import Settings
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.baseline import Baseline
    from pytest_personalens.results.drift import Drift
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values import Comparison, Item, Results


def check_gates(
    results: Results, floors: Sequence[GateExpression], *, measured: bool = False
) -> tuple[Gate, ...]:
    """Return the verdict of every gate of a whole run.

    Without a floor and without a comparison, the run has no gates, unless it is `measured`.

    If there are gates, the gate ``valid`` is added: the share of items that could be scored must reach 0.9,
    or the limit of a floor. The reason is that a mean over the scored items says nothing about the missing
    ones. The gate is also added if the run is `measured`. Such a run serves as a baseline for others, or only
    reports its figures, and no item fails for its score.
    """
    shares = [floor for floor in floors if floor.metric == "valid"]
    least = {"": VALID_FLOOR, **{floor.group: floor.limit for floor in shares}}
    gates = [
        _gate(results, floor, least.get(floor.group, least[""]))
        for floor in floors
        # A run that replaces its baseline is compared with none.
        if floor.metric != "valid" and (floor.metric != "drop" or results.comparison is not None)
    ]
    if results.comparison is not None:
        gates += _regressions(results, least[""])
    if (gates or shares or measured) and all(floor.group for floor in shares):
        shares.append(GateExpression("", "valid", VALID_FLOOR))
    return (*gates, *(_gate(results, floor, least[""]) for floor in shares))


def check_again(results: Results, gate: Gate) -> Gate:
    """Return the gate, decided again from `results`.

    If `results` hold nothing to decide it by, the gate stays as it is.
    """
    if gate.kind == "judge":
        return judge_gate(results.drift) if results.drift is not None else gate
    shares = {other.name.rpartition(": ")[0]: other.limit for other in results.gates if other.kind == "valid"}
    whole = shares.get("", VALID_FLOOR)
    if gate.kind == "drop" and results.comparison is None:
        return gate
    if gate.kind == "regression":
        found = _regressions(results, whole) if results.comparison is not None else ()
        return next((again for again in found if again.name == gate.name), gate)
    floor = parse_gate_name(gate.name, gate.limit, gate.direction)
    return _gate(results, floor, shares.get(floor.group, whole))


def judge_gate(drift: Drift) -> Gate:
    """Return the gate on the judge.

    It fails if the judge changed or could not be asked, because its scores then have no meaning. The value is
    the share of verdicts that stayed the same.
    """
    return Gate(
        name="judge", kind="judge", value=drift.kept, limit=1.0, passed=drift.passed, message=drift.sentence
    )


def _gate(results: Results, floor: GateExpression, least: float) -> Gate:
    if floor.group and not _members(results.own, floor.group):
        return _closed(floor, f"no {results.of_suite.item} of {floor.group} is in this sample")
    if floor.metric == "valid":
        return _valid(results, floor)
    if floor.metric == "lift":
        return _lift(results, floor, least)
    if floor.metric == "drop":
        return _drop(results, floor, least)
    if few := _few(results, floor, least):
        return _closed(floor, few)
    if floor.metric.startswith("pass^"):
        return _reliable(results, floor, least)
    return _figure(results, floor)


def _few(results: Results, floor: GateExpression, least: float) -> str:
    """Return why a gate cannot be decided: too few of its items could be scored.

    The text is empty if there are enough.
    """
    metric = results.of_suite.metric(floor.metric)
    items = _read_in(metric, _members(results.own, floor.group))
    scored = sum(i.evaluation.scored for i in items)
    total = _asked(results, floor.group, metric)
    its = "its " if floor.group or (metric is not None and metric.read_in) else ""
    if not scored and (not floor.group or not total):
        return ""  # the gate itself gives a better message
    return (
        ""
        if round(scored / total, 6) >= least
        else f"only {scored} of {its}{count(total, 'item')} could be scored; {share_text(least)}"
    )


def _figure(results: Results, floor: GateExpression) -> Gate:
    metric = _metric_of(results, floor.metric)
    items = _read_in(metric, _members(results.own, floor.group))
    found = figure_of(metric, items)
    if found.value is None:
        return _closed(floor, f"{metric.label}: {_why_no_value(results, metric, items, found)}")
    basis = over(found.scenarios, found.users, results.of_suite.item)
    gate = _against(floor, found.value, (found.low, found.high), metric.label, basis)
    worst = metric.measure.worst if metric.measure is not None else None
    if not gate.passed or worst is None:
        return gate
    total = _asked(results, floor.group, metric)
    least = (found.value * found.dialogues + worst * (total - found.dialogues)) / total
    if not floor.passes(round(least, 6)):
        # The items without a score may be exactly the bad ones.
        message = (
            f"{gate.message}; it would be {least:.2f} if the {total - found.dialogues} without a score had"
            f" the {'lowest' if metric.better == 'high' else 'highest'}"
        )
        return gate.model_copy(update={"message": message})
    return gate


def _why_no_value(results: Results, metric: Metric, items: Sequence[Item], found: Estimate) -> str:
    if found.dialogues:
        return metric.undecided
    if items or not metric.read_in:
        return "no item could be scored"
    return f"no {results.of_suite.item} of {' or '.join(metric.read_in)} is in this sample"


def _read_in(metric: Metric | None, items: Sequence[Item]) -> list[Item]:
    """Return the items that the metric is computed from; without a metric, all of them."""
    kinds = metric.read_in if metric is not None else ()
    return [item for item in items if not kinds or item.evaluation.kind in kinds]


def _asked(results: Results, group: str, metric: Metric | None) -> int:
    """Return the number of items for a metric, with those without a result."""
    kinds = metric.read_in if metric is not None else ()
    if not kinds and not group:
        return results.expected
    kinds = () if group else kinds
    missing = sum(results.missing_by_group.get(name, 0) for name in (group, *kinds) if name)
    return len(_read_in(metric, _members(results.own, group))) + missing


def _metric_of(results: Results, name: str) -> Metric:
    metric = results.of_suite.metric(name)
    assert metric is not None  # `read_gate` accepted it for this suite
    return metric


def _reliable(results: Results, floor: GateExpression, least: float) -> Gate:
    k, item = int(floor.metric.removeprefix("pass^")), results.of_suite.item
    items = _members(results.own, floor.group)
    passes, scenarios = passes_of(items), len({i.key for i in items})
    shares = by_user(
        {key: pass_share(passed, trials, k) for key, (passed, trials) in passes.items() if trials >= k}
    )
    value, used = pass_hat(list(passes.values()), k), sum(map(len, shares))
    label = f"chance of passing {k} times of {k}"
    if value is None:
        return _closed(floor, f"no {item} was scored in {count(k, 'trial')}")
    if used < least * scenarios:
        some = f"only {used} of {count(scenarios, item)} {'was' if used == 1 else 'were'} scored {k} times"
        return _closed(floor, f"{label}: {some}; {share_text(least)}")
    return _against(
        floor, value, interval(shares, 0, 1) or (None, None), label, over(used, len(shares), item)
    )


def _lift(results: Results, floor: GateExpression, least: float) -> Gate:
    suite = results.of_suite
    control = control_of(floor, suite, results.settings.get("control") or ())
    if floor.of:
        metric = _metric_of(results, floor.of)
        what = metric.label
    else:
        assert suite.lift is not None  # `read_gate` accepted it for this suite
        metric = Metric.mean("lift", suite.lift[0])
        what = suite.lift[0].names.title.lower()
    items = _read_in(metric, _members(results.items, floor.group))
    gain = gain_of(metric, [i for i in items if i.arm == control], [i for i in items if not i.arm])
    label = f"lift of {what} over the control {suite.arm_word(control or '')}"
    scenarios = len({i.scenario_key for i in items})
    if gain is None or gain.pairs < least * scenarios:
        some = (
            f"only {gain.pairs} of {count(scenarios, suite.item)} {'was' if gain.pairs == 1 else 'were'}"
            if gain
            else f"no {suite.item} was"
        )
        message = f"{label}: {some} scored both with and without its context" + (
            f"; {share_text(least)}" if gain else ""
        )
        return _closed(floor, message, "lift")
    basis = f"{over(gain.pairs, gain.users or gain.pairs, suite.item)}, {p_text(gain.p)}"
    gate = _against(floor, gain.value, (gain.low, gain.high), label, basis)
    return gate.model_copy(update={"kind": "lift"})


def _valid(results: Results, floor: GateExpression) -> Gate:
    items = _members(results.own, floor.group)
    scored = sum(i.evaluation.scored for i in items)
    total = len(items) + results.missing_by_group.get(floor.group, 0) if floor.group else results.expected
    share = round(scored / total, 6) if total else 0.0
    message = f"{scored} of {total} items could be scored"
    if results.uncounted and not floor.group:
        message += f" (not: {', '.join(f'{n} {cause}' for cause, n in results.uncounted.items())})"
    passed = share >= floor.limit
    message = message if passed else f"{message}; {share_text(floor.limit)}"
    return Gate(name=floor.name, kind="valid", value=share, limit=floor.limit, passed=passed, message=message)


def _against(
    floor: GateExpression, value: float, ends: tuple[float | None, float | None], label: str, basis: str
) -> Gate:
    # The gate compares rounded values, as other reports show them: a mean that reads 0.90 must not miss 0.9
    # by the last bits of a sum.
    value = round(value, 6)
    low, high = (None if end is None else round(end, 6) for end in ends)
    passed = floor.passes(value)
    failing = "<" if floor.direction == ">=" else ">"
    measured, least = (f"{value:.2f}", f"{floor.limit:.2f}") if passed else apart(value, floor.limit)
    between = NO_INTERVAL if low is None or high is None else f"{low:.2f} to {high:.2f}"
    message = f"{label} {measured} ({between}) {floor.direction if passed else failing} {least} {basis}"
    return Gate(
        name=floor.name,
        value=value,
        limit=floor.limit,
        direction=floor.direction,
        passed=passed,
        message=message,
        low=low,
        high=high,
    )


def _regressions(results: Results, min_valid: float) -> Iterator[Gate]:
    comparison, suite = results.comparison, results.of_suite
    assert comparison is not None
    if problem := _nothing_to_compare(comparison, min_valid, suite):
        yield _incomparable("regression", problem)
    for dimension, when in comparison.one_sided.items():
        message = (
            f"{dimension.short} was judged {'then and not now' if when == 'then' else 'now and not then'}:"
            " nothing to compare"
        )
        yield _incomparable(f"regression: {suite.metric_of(dimension)}", message)
    for d in comparison.differences:
        if d.gated and d.pairs < min_valid * d.judged:
            judged = count(d.judged, suite.item)
            some = f"{d.dimension.short} was judged in both runs in {d.pairs} of {judged} only"
            name = f"regression: {suite.metric_of(d.dimension)}"
            yield _incomparable(name, f"{some}; {share_text(min_valid)}")
        elif d.gated:
            yield Gate(
                name=f"regression: {suite.metric_of(d.dimension)}",
                kind="regression",
                value=d.change,
                limit=0.0 - d.dimension.sign * d.margin,
                direction=">=" if d.dimension.better == "high" else "<=",
                passed=d.decidable and not d.regressed,  # a gate that no drop can fail protects nothing
                message=sentence(d, suite.item),
                low=d.low,
                high=d.high,
            )


def _drop(results: Results, floor: GateExpression, least: float) -> Gate:
    assert results.comparison is not None
    problem = _nothing_to_compare(results.comparison, least, results.of_suite)
    if not problem:
        problem = undecided_drop(results.comparison, floor, least, results.of_suite)
    return (
        _closed(floor, problem, "drop") if problem else drop_gate(results.comparison, floor, results.of_suite)
    )


def _nothing_to_compare(comparison: Comparison, min_valid: float, suite: Suite) -> str:
    """Return why the comparison is too small to pass.

    The text is empty if it is large enough.
    """
    if not comparison.compared:
        why = ", ".join(f"{len(ids)} {reason}" for reason, ids in comparison.left_out.items())
        hint = (
            " (another sample, seed or name of a test?)"
            if not comparison.shared or "run by other tests" in comparison.left_out
            else ""
        )
        return f"no {suite.item} of this run could be compared with {comparison.baseline}: {why}{hint}"
    if comparison.compared < min_valid * comparison.shared:
        message = (
            f"{comparison.compared} of the {count(comparison.shared, suite.item)} that are also in"
            f" {comparison.baseline} could be compared"
        )
        return f"{message}; {share_text(min_valid)}"
    if comparison.compared_by_test < min_valid * comparison.shared_by_test:
        message = f"a test of {comparison.baseline} that is gone or was renamed may be the one that got worse"
        some = (
            f"{comparison.compared_by_test} of {comparison.shared_by_test} {suite.item}s were run by the same"
            " tests as then"
        )
        return f"only {some}: {message}; {share_text(min_valid)}"
    if not comparison.one_sided and not any(d.gated for d in comparison.differences):
        main = " nor ".join(measure.names.title.lower() for measure in suite.main)
        return (
            f"{'neither' if len(suite.main) > 1 else 'no'} {main} is judged; give a dimension that is a"
            " margin (personalens_margin)"
        )
    return ""


def _closed(floor: GateExpression, message: str, kind: Literal["floor", "lift", "drop"] = "floor") -> Gate:
    """Return a failed gate for a floor without a value to compare."""
    return Gate(
        name=floor.name,
        kind=kind,
        value=None,
        limit=floor.limit,
        direction=floor.direction,
        passed=False,
        message=message,
    )


def _incomparable(name: str, message: str) -> Gate:
    return Gate(name=name, kind="regression", value=None, limit=0.0, passed=False, message=message)


def _members(items: Sequence[Item], group: str) -> list[Item]:
    return [i for i in items if not group or group == i.evaluation.kind or group in i.evaluation.domains]


class Requirements(NamedTuple):
    """What a run must reach: its gates, and a baseline.

    The `settings` hold the level and the margins of the comparison with the baseline.
    """

    gates: tuple[GateExpression, ...]
    baseline: Baseline | None
    settings: Settings

    @classmethod
    def of(cls, settings: Settings, baseline: Baseline | None) -> Requirements:
        """Return the requirements in `settings`.

        Raise `SpecError` for gates that the run cannot decide.
        """
        check_expressions(settings)
        return cls(settings.gate, baseline, settings)


def conclude(results: Results, demands: Requirements) -> Results:
    """Return the results with trials, controls, comparison and gates.

    An incomplete run gets neither a comparison nor gates.
    """
    # Modules are imported only if the run needs them, because the import would slow down a replay.
    s, update = demands.settings, dict[str, object]()
    if s.trials > 1:
        from pytest_personalens.results.controls import trials_of

        update["trials"] = trials_of(results.own, s.trials, results.of_suite)
    if s.control:
        from pytest_personalens.results.controls import controls_of

        update["arms"] = controls_of(results.items, results.of_suite)
    results = results.model_copy(update=update)
    # A cap ends a run in order, and its items are skipped. Items that could not be scored are skipped too if
    # nothing may fail the run. If no item is left, the run must not count as a success.
    nothing = not results.overall.scored and (
        "budget" in results.uncounted or (s.report_only and results.expected > 0)
    )
    if not results.complete or not (s.asks_for_gates or nothing):
        return results

    if demands.baseline is not None:
        from pytest_personalens.results.comparison import compare_with_baseline

        margins = {measure_named(name): margin for name, margin in s.margin}
        results = with_earlier(results, demands.baseline)
        bounded = {measure_of(gate, results.of_suite) for gate in demands.gates if gate.metric == "drop"}
        comparison = compare_with_baseline(
            demands.baseline,
            results,
            name=str(s.baseline),
            level=s.level,
            margins=margins,
            bounded=[measure for measure in bounded if measure is not None],
        )
        results = results.model_copy(update={"comparison": comparison})
    measured = nothing or s.save_baseline is not None
    return results.model_copy(update={"gates": check_gates(results, demands.gates, measured=measured)})
