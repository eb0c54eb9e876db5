"""Decides the gates: floors of figures, comparisons with a baseline, and what keeps a run from deciding."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.evaluation import Metric
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.options.gate import (
    CRITERION_GATE,
    LATENCY_P95,
    LIMITS_BROKEN,
    RESIDUE,
    USER_FAULTS,
    VALID_FLOOR,
    GateExpression,
    control_of,
    measure_of,
    parse_gate_name,
)
from pytest_personalens.results.comparison.pairs import gain_of, passes_of
from pytest_personalens.results.gates.corrected import corrected_gate
from pytest_personalens.results.gates.gate_expressions import latency_gate, latency_regression
from pytest_personalens.results.means import LEAST_USERS, by_user, figure_of, largest_gap, mean
from pytest_personalens.results.reasons.reasons import (
    breaks_a_limit,
    intrusion_kinds,
    limits_note,
    tells_limits,
)
from pytest_personalens.results.stats.intervals import interval, pass_hat, pass_share
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import members
from pytest_personalens.results.wording import (
    NO_INTERVAL,
    apart,
    change_text,
    count,
    ends_text,
    over,
    p_text,
    sentence,
    share_text,
    signed,
    unread_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.figures import Comparison, Difference, Drift
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: A lift with a larger one-sided p may be chance.
_LEVEL: Final = 0.05
_Kind: TypeAlias = Literal["floor", "lift", "drop", "gap"]


def too_few(results: Results, floor: GateExpression, least: float) -> str:
    """Return why a gate cannot be decided, because too few of its items could be scored, or ""."""
    metric = results.of_suite.metric(floor.figure)
    items = _read_in(metric, members(results.own, floor.group))
    scored = sum(i.evaluation.gives(metric.measure if metric is not None else None) for i in items)
    total = _asked(results, floor.group, metric)
    if not scored and (not floor.group or not total):
        return ""  # the gate itself gives a better message
    if round(scored / total, 6) >= least:
        return ""
    its = "its " if floor.group or (metric is not None and metric.read_in) else ""
    return f"only {scored} of {its}{count(total, 'item')} could be scored; {share_text(least)}"


def figure_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on a metric, such as TCR or the mean of P."""
    if floor.metric == CRITERION_GATE and results.of_suite.metric(floor.figure) is None:
        names = ", ".join(get_measure(name).short for name in results.criteria) or "none"
        return closed_gate(floor, f"no test of this run has a criterion of that name; known: {names}")
    metric = _metric_of(results, floor.figure)
    items = _read_in(metric, members(results.own, floor.group))
    estimate = figure_of(metric, items)
    if estimate.value is None:
        return closed_gate(floor, f"{metric.label}: {_why_no_value(results, floor, metric, estimate)}")
    if metric.measure == Dimension.TASK_COMPLETION and results.calibration is not None:
        return corrected_gate(floor, estimate, results.calibration, results.of_suite.item)
    basis = over(estimate.scenarios, estimate.users, results.of_suite.item)
    if without := len(_not_judged(results, floor, metric)):
        basis += f", of {without + len(items)} that were run"
    gate = _against(floor, estimate.value, (estimate.low, estimate.high), metric.label, basis)
    if metric.measure == Dimension.INTRUSIONS and (kinds := intrusion_kinds(items)):
        gate = gate.model_copy(update={"message": f"{gate.message}: {kinds}"})
    worst = metric.measure.worst if metric.measure is not None else None
    if not gate.passed or worst is None:
        return gate
    total = _asked(results, floor.group, metric)
    unscored = total - estimate.dialogues
    least = (estimate.value * estimate.dialogues + worst * unscored) / total
    if floor.passes(round(least, 6)):
        return gate
    # The items without a score may be exactly the bad ones.
    end = "lowest" if metric.better == "high" else "highest"
    luck = f"; it would be {least:.2f} if the {unscored} without a score had the {end}"
    return gate.model_copy(update={"message": gate.message + luck})


def _why_no_value(results: Results, floor: GateExpression, metric: Metric, estimate: Estimate) -> str:
    if estimate.dialogues:
        return metric.undecided
    if reasons := _not_judged(results, floor, metric):
        return reasons[0]
    if _read_in(metric, members(results.own, floor.group)) or not metric.read_in:
        return "no item could be scored"
    among = floor.group or " or ".join(metric.read_in)
    return f"no {results.of_suite.item} of {among} in this sample counts for it"


def _not_judged(results: Results, floor: GateExpression, metric: Metric) -> list[str]:
    """Return why items have no reading of the metric, of those that the judge does not judge."""
    if metric.measure is None:
        return []
    reasons = (i.evaluation.not_judged.get(metric.measure) for i in members(results.own, floor.group))
    return [why for why in reasons if why is not None]


def _read_in(metric: Metric | None, items: Sequence[Item]) -> list[Item]:
    """Return the items that the metric is computed from; without a metric, all of them.

    The mean of a measure is computed without the scored items of which its reading was not asked.
    """
    kinds, measure = (metric.read_in, metric.measure) if metric is not None else ((), None)
    of_kinds = (item for item in items if not kinds or item.evaluation.kind in kinds)
    return [i for i in of_kinds if measure is None or i.evaluation.asked_for(measure)]


def _asked(results: Results, group: str, metric: Metric | None) -> int:
    """Return the number of items for a metric, with those without a result."""
    groups = (group,) if group else metric.read_in if metric is not None else ()
    if not groups:
        measure = metric.measure if metric is not None else None
        return results.expected - sum(measure in i.evaluation.not_judged for i in results.own)
    missing = sum(results.missing_by_group.get(name, 0) for name in groups)
    return len(_read_in(metric, members(results.own, group))) + missing


def _metric_of(results: Results, name: str) -> Metric:
    metric = results.of_suite.metric(name)
    assert metric is not None  # `read_gate` accepted it for this suite
    return metric


def pass_k_gate(results: Results, floor: GateExpression, least: float) -> Gate:
    """Return the gate on pass^k, the chance that a scenario passes in k of k trials."""
    k, item = int(floor.metric.removeprefix("pass^")), results.of_suite.item
    items = members(results.own, floor.group)
    passes, scenarios = passes_of(items), len({i.key for i in items})
    shares = by_user({key: pass_share(*of_key, k) for key, of_key in passes.items() if of_key[1] >= k})
    value, used = pass_hat(list(passes.values()), k), sum(map(len, shares))
    label = f"chance of passing {k} times of {k}"
    if value is None:
        return closed_gate(floor, f"no {item} was scored in {count(k, 'trial')}")
    if used < least * scenarios:
        some = f"only {used} of {count(scenarios, item)} {'was' if used == 1 else 'were'} scored {k} times"
        return closed_gate(floor, f"{label}: {some}; {share_text(least)}")
    return _against(floor, value, interval(shares, 0, 1), label, over(used, len(shares), item))


def lift_gate(results: Results, floor: GateExpression, least: float) -> Gate:
    """Return the gate on the lift over a control."""
    suite = results.of_suite
    control = control_of(floor, suite, results.settings.get("control") or ())
    if floor.of:
        metric = _metric_of(results, floor.of)
        what = metric.label
    else:
        assert suite.lift is not None  # `read_gate` accepted it for this suite
        metric, what = Metric.mean("lift", suite.lift[0]), suite.lift[0].names.title.lower()
    items = _read_in(metric, members(results.items, floor.group))
    gain = gain_of(metric, [i for i in items if i.arm == control], [i for i in items if not i.arm])
    label = f"lift of {what} over the control {suite.arm_word(control or '')}"
    scenarios = len({i.scenario_key for i in items})
    if gain is not None and gain.pairs >= least * scenarios:
        basis = f"{over(gain.pairs, gain.users, suite.item)}, {p_text(gain.p)}"
        gate = _against(floor, gain.value, (gain.low, gain.high), label, basis)
        doubt = "; not significant" if gate.passed and gain.p > _LEVEL else ""
        return gate.model_copy(update={"kind": "lift", "message": gate.message + doubt})
    some, limit = f"no {suite.item} was", ""
    if gain is not None:
        were = "was" if gain.pairs == 1 else "were"
        some, limit = f"only {gain.pairs} of {count(scenarios, suite.item)} {were}", f"; {share_text(least)}"
    message = f"{label}: {some} scored both with and without its context{limit}"
    skipped = {*results.skipped} & {*results.of_controls}
    if here := sum(f"+{control}" in nodeid.rpartition("[")[2] for nodeid in skipped):
        message += f"; {here:,} skipped by your test: in a control, call evaluate() and return"
    return closed_gate(floor, message, "lift")


def valid_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on the share of what could be scored: of an item, the readings that the judge gave."""
    items = members(results.own, floor.group)
    scored = sum(i.evaluation.scored for i in items)
    total = len(items) + results.missing_by_group.get(floor.group, 0) if floor.group else results.expected
    share = round(sum(i.evaluation.share for i in items) / total, 6) if total else 0.0
    message = f"{scored} of {count(total, 'item')} could be scored"
    if unread := unread_text(items, results.of_suite):
        message += f", without {unread}"
    if results.uncounted and not floor.group:
        message += f" (not: {', '.join(f'{n} {cause}' for cause, n in results.uncounted.items())})"
    passed = share >= floor.limit
    message += f"; {share_text(floor.limit)}"
    return Gate(name=floor.name, kind="valid", value=share, limit=floor.limit, passed=passed, message=message)


def user_faults_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on the share of scored dialogues in which the simulated user did something wrong."""
    label = f"share of {results.of_suite.dialogue}s with a fault of the user"
    unknown = "no user of this run was audited; run its tests again"

    def faulty(item: Item) -> bool | None:
        faults = item.evaluation.user_faults
        return None if faults is None else bool(faults)

    return _share_gate(results, floor, faulty, label, unknown)


def limits_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on the share of scored dialogues in which the assistant broke a user's hard limit."""
    label = f"share of {results.of_suite.dialogue}s that break a hard limit"
    if not tells_limits(results.own):
        return closed_gate(floor, f"{label}: the judge of this run gives no reasons, so it tells no limit")
    gate = _share_gate(results, floor, breaks_a_limit, label, "no personalization was read")
    note = limits_note(results) if not floor.group else ""
    return gate.model_copy(update={"message": f"{gate.message}; it {note}"}) if note else gate


def residue_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on the share of scored dialogues whose store still holds what was to be forgotten."""
    label = f"share of {results.of_suite.dialogue}s with what was to be forgotten still in the store"
    unknown = "nobody looked; give the fixture personalens_memory_store with all, and draw the kind forget"

    def remains(item: Item) -> bool | None:
        look = item.evaluation.dialogue.store if item.evaluation.scored else None
        return None if look is None or look.residue is None else look.residue > 0

    return _share_gate(results, floor, remains, label, unknown)


def gap_gate(results: Results, floor: GateExpression) -> Gate:
    """Return the gate on the largest gap between a group of users and the rest, in either direction."""
    metric = _metric_of(results, floor.of)
    assert metric.measure is not None  # `read_gate` accepted it
    what = f"largest gap of {metric.label}"
    largest = largest_gap(results.slices, metric.measure)
    if largest is None:
        few = f"no group and the rest have {LEAST_USERS} users each with tasks in common"
        return closed_gate(floor, f"{what}: {few}; draw more scenarios", "gap")
    group, figure = largest
    assert figure.gap is not None and figure.p is not None
    gap = round(abs(figure.gap), 6)
    passed, (value, limit) = floor.passes(gap), apart(gap, floor.limit)
    where = f"{group.demographic} {group.name} {signed(figure.gap)} against the rest"
    test = p_text(figure.p, "two-sided") + ("" if figure.significant else ", which may be chance")
    over_tasks = f"{value} {'<=' if passed else '>'} {limit} over {count(figure.tasks, 'task')}"
    gate = closed_gate(floor, f"{what} {over_tasks}: {where}, {test}", "gap")
    return gate.model_copy(update={"value": gap, "passed": passed})


def _share_gate(
    results: Results,
    floor: GateExpression,
    has: Callable[[Item], bool | None],
    label: str,
    unknown: str,
) -> Gate:
    """Return the gate on the share of items that have something; an item of which it is not known is none."""
    by_scenario = defaultdict[tuple[str, str], list[int]](list)
    for item in members(results.own, floor.group):
        if (found := has(item)) is not None:
            by_scenario[item.scenario_key].append(found)
    if not by_scenario:
        return closed_gate(floor, f"{label}: {unknown}")
    shares = by_user({key: mean(found) for key, found in by_scenario.items()})
    value = fmean(share for of_user in shares for share in of_user)
    basis = over(len(by_scenario), len(shares), results.of_suite.item)
    return _against(floor, value, interval(shares, 0, 1), label, basis)


def _against(
    floor: GateExpression,
    value: float,
    ends: tuple[float | None, float | None] | None,
    label: str,
    basis: str,
) -> Gate:
    # The gate compares rounded values, as other reports show them: a mean that reads 0.90 must not miss 0.9
    # by the last bits of a sum.
    value = round(value, 6)
    low, high = (None if end is None else round(end, 6) for end in ends or (None, None))
    passed = floor.passes(value)
    failing = "<" if floor.direction == ">=" else ">"
    measured, least = (f"{value:.2f}", f"{floor.limit:.2f}") if passed else apart(value, floor.limit)
    between = NO_INTERVAL if low is None or high is None else ends_text(low, high)
    message = f"{label} {measured} ({between}) {floor.direction if passed else failing} {least} {basis}"
    return closed_gate(floor, message).model_copy(
        update={"value": value, "passed": passed, "low": low, "high": high}
    )


def closed_gate(floor: GateExpression, message: str, kind: _Kind = "floor") -> Gate:
    """Return a failed gate for a floor without a value to compare."""
    name, limit, direction = floor.name, floor.limit, floor.direction
    return Gate(
        name=name, kind=kind, value=None, limit=limit, direction=direction, passed=False, message=message
    )


_SAVE: Final = "save a new baseline with --personalens-save-baseline"


def regression_gates(results: Results, min_valid: float) -> Iterator[Gate]:
    """Yield a gate for each dimension that is tested for a drop since the baseline."""
    comparison, suite = results.comparison, results.of_suite
    assert comparison is not None

    def undecided(name: str, message: str) -> Gate:
        return Gate(name=name, kind="regression", value=None, limit=0.0, passed=False, message=message)

    if problem := _nothing_to_compare(comparison, min_valid, suite):
        yield undecided("regression", problem)
    for dimension, when in comparison.one_sided.items():
        judged = "then and not now" if when == "then" else "now and not then"
        message = f"{dimension.short} was judged {judged}: nothing to compare"
        yield undecided(f"regression: {suite.metric_of(dimension)}", message)
    for d in comparison.differences:
        if not d.gated:
            continue
        kind = f"{d.kind}: " if d.kind else ""
        name = f"regression: {kind}{suite.metric_of(d.dimension)}"
        if few := _too_few_pairs(d, d.dimension.short, min_valid, suite):
            yield undecided(name, few)
        else:
            yield Gate(
                name=name,
                kind="regression",
                value=d.change,
                limit=0.0 - d.dimension.sign * d.margin,
                direction=">=" if d.dimension.better == "high" else "<=",
                passed=d.decidable and not d.regressed,  # a gate that no drop can fail protects nothing
                message=sentence(d, suite.item, comparison),
                low=d.low,
                high=d.high,
            )


def drop_gate(results: Results, floor: GateExpression, least: float) -> Gate:
    """Return the gate that passes only if a drop from the baseline larger than its limit is excluded.

    A larger drop passes with a probability of the comparison's level at most, whatever the number of
    scenarios: a test of non-inferiority. Several such gates need no correction, because a run passes only if
    all of them do (Berger 1982).
    """
    comparison, suite = results.comparison, results.of_suite
    assert comparison is not None
    measure = measure_of(floor, suite)
    d = next((d for d in comparison.differences if d.dimension == measure), None)
    problem = _nothing_to_compare(comparison, least, suite)
    if d is None:
        return closed_gate(floor, problem or f"{floor.of} was not judged in both runs", "drop")
    if problem := problem or _too_few_pairs(d, floor.of, least, suite):
        return closed_gate(floor, problem, "drop")
    return Gate(
        name=floor.name,
        kind="drop",
        value=d.largest_drop,
        limit=floor.limit,
        direction=floor.direction,
        passed=d.largest_drop is not None and floor.passes(d.largest_drop),
        message=_drop_sentence(d, floor.limit, comparison.level, suite.item),
    )


def _drop_sentence(d: Difference, limit: float, level: float, item: str) -> str:
    text = change_text(d, signed(d.change), item)
    if d.largest_drop is None:
        return f"{text}: too few users to exclude any drop"
    sure = f"{100 * (1 - level):g} % sure"
    # The drop is rounded up: what is said to be excluded is.
    largest = f"{-(-d.largest_drop * 100 // 1) / 100:.2f}"
    if d.largest_drop <= limit:
        return f"{text}: no drop larger than {largest} ({sure}); the gate allows {limit:g}"
    return f"{text}: a drop of up to {largest} is not excluded ({sure}); the gate allows {limit:g}"


def _too_few_pairs(d: Difference, measure: str, least: float, suite: Suite) -> str:
    if d.pairs >= least * d.judged:
        return ""
    some = f"{d.pairs} of {count(d.judged, suite.item)} only"
    return f"{measure} was judged in both runs in {some}; {share_text(least)}"


def _nothing_to_compare(comparison: Comparison, min_valid: float, suite: Suite) -> str:
    """Return why the comparison is too small to pass, or ""."""
    floor, baseline = share_text(min_valid), comparison.baseline
    if not comparison.compared:
        why = ", ".join(f"{len(ids)} {reason}" for reason, ids in comparison.left_out.items())
        other = not comparison.shared or "run by other tests" in comparison.left_out
        hint = f" (another sample or seed, or did a test move? {_SAVE})" if other else ""
        return f"no {suite.item} of this run could be compared with {baseline}: {why}{hint}"
    if comparison.compared < min_valid * comparison.shared:
        shared = count(comparison.shared, suite.item)
        return f"{comparison.compared} of the {shared} that are also in {baseline} could be compared; {floor}"
    if comparison.compared_by_test < min_valid * comparison.shared_by_test:
        some = (
            f"only {comparison.compared_by_test} of {count(comparison.shared_by_test, suite.item)} were run"
        )
        test = f"a test of {baseline} that is gone or moved may be the one that got worse"
        return f"{some} by the same tests as then: {test} ({_SAVE}); {floor}"
    if not comparison.one_sided and not any(d.gated for d in comparison.differences):
        main = " nor ".join(measure.names.title.lower() for measure in suite.main)
        none = "neither" if len(suite.main) > 1 else "no"
        return f"{none} {main} is judged; give a dimension that is a margin (personalens_margin)"
    return ""


def check_gates(
    results: Results, floors: Sequence[GateExpression], *, measured: bool = False
) -> tuple[Gate, ...]:
    """Return the verdict of every gate of a whole run.

    A run with gates also has the gate ``valid``: the share of items that could be scored must reach 0.9, or
    the limit of a floor, because a mean over the scored items says nothing about the missing ones. So has a
    run that is `measured`: it is a baseline for others, or only reports its figures, and no item fails for
    its score.
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
        gates += regression_gates(results, least[""])
        if (slower := latency_regression(results)) is not None:
            gates.append(slower)
    if (gates or shares or measured) and all(floor.group for floor in shares):
        shares.append(GateExpression("", "valid", VALID_FLOOR))
    return (*gates, *(_gate(results, floor, least[""]) for floor in shares))


def check_again(results: Results, gate: Gate) -> Gate:
    """Return the gate, decided again from `results`, or as it is if they hold nothing to decide it by."""
    if gate.kind == "judge":
        return judge_gate(results.drift) if results.drift is not None else gate
    if gate.kind in ("drop", "regression") and results.comparison is None:
        return gate
    shares = {other.name.rpartition(": ")[0]: other.limit for other in results.gates if other.kind == "valid"}
    whole = shares.get("", VALID_FLOOR)
    if gate.name == "regression: latency":
        return latency_regression(results) or gate
    if gate.kind == "regression":
        return next((again for again in regression_gates(results, whole) if again.name == gate.name), gate)
    floor = parse_gate_name(gate.name, gate.limit, gate.direction)
    return _gate(results, floor, shares.get(floor.group, whole))


def judge_gate(drift: Drift) -> Gate:
    """Return the gate on the judge, whose value is the share of verdicts that stayed the same.

    It fails if the judge changed or could not be asked, because its scores then have no meaning.
    """
    return Gate(
        name="judge", kind="judge", value=drift.kept, limit=1.0, passed=drift.passed, message=drift.sentence
    )


def _gate(results: Results, floor: GateExpression, least: float) -> Gate:
    if floor.group and not members(results.own, floor.group):
        return closed_gate(floor, f"no {results.of_suite.item} of {floor.group} is in this sample")
    if floor.metric == "valid":
        return valid_gate(results, floor)
    if floor.metric == "lift":
        return lift_gate(results, floor, least)
    if floor.metric == "drop":
        return drop_gate(results, floor, least)
    if floor.metric == "gap":
        return gap_gate(results, floor)
    if floor.metric == LATENCY_P95:
        return latency_gate(results, floor)
    if few := too_few(results, floor, least):
        return closed_gate(floor, few)
    if floor.metric.startswith("pass^"):
        return pass_k_gate(results, floor, least)
    if floor.metric == USER_FAULTS:
        return user_faults_gate(results, floor)
    if floor.metric == LIMITS_BROKEN:
        return limits_gate(results, floor)
    if floor.metric == RESIDUE:
        return residue_gate(results, floor)
    return figure_gate(results, floor)
