"""Decides the gates of a run: a table says of each metric how the results answer its gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.judging.measure import Dimension, Metric, get_measure
from pytest_personalens.core.options.gate import (
    CRITERION_GATE,
    LATENCY_P95,
    LEVEL,
    LIMITS_BROKEN,
    RESIDUE,
    USER_FAULTS,
    VALID_FLOOR,
    GateExpression,
    control_of,
    parse_gate_name,
)
from pytest_personalens.core.safe_text import count
from pytest_personalens.results import wording
from pytest_personalens.results.comparison.pairs import gain_of, pass_hat, pass_share, passes_of
from pytest_personalens.results.gates.since_baseline import (
    drop_of,
    enough,
    latency_regression,
    regression_gates,
)
from pytest_personalens.results.means import LEAST_USERS, by_user, figure_of, largest_gap, mean
from pytest_personalens.results.reasons import (
    breaks_a_limit,
    intrusion_kinds,
    limits_note,
    tells_limits,
)
from pytest_personalens.results.stats.intervals import interval
from pytest_personalens.results.values.calibration import correct, labels_to_decide
from pytest_personalens.results.values.figures import Gate, GateKind
from pytest_personalens.results.values.item import SHORTEST, members, quantile, times_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.calibration import Calibration
    from pytest_personalens.results.values.figures import Drift
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_NO_BETTER: Final = (
    "its judge tells completed tasks from failed ones no better than chance, by its labels: no rate can be"
    " corrected"
)


class Check:
    """A gate's question to a run, whose `items` are those of the gate's group.

    `metric` is that of the suite which the gate holds against its limit, if it does, and `read` are the items
    that it is computed from. `least` is the share of items that must be scored.
    """

    def __init__(self, results: Results, floor: GateExpression, least: float) -> None:
        self.results, self.floor, self.least, self.suite = results, floor, least, results.of_suite
        self.items = members(results.own, floor.group)
        self.metric = self.suite.metric(floor.figure)
        self.measure = self.metric.measure if self.metric is not None else None
        self.read = _read_in(self.metric, self.items)
        name = "pass^k" if floor.metric.startswith("pass^") else floor.metric
        # Most gates, such as those on tcr and p, are on a figure of the suite.
        self.kind, self._rule = _KINDS.get(name, ("floor", _figure))

    def decide(self) -> Gate:
        if self.floor.group and not self.items:
            return self.gate(f"no {self.suite.item} of {self.floor.group} is in this sample")
        # A reply has its time whether its dialogue is scored or not.
        scores = self.kind == "floor" and self.floor.metric != LATENCY_P95
        if scores and (few := self._too_few_scored()):
            return self.gate(few)
        return self._rule(self)

    def gate(self, message: str, value: float | None = None, *, passed: bool = False, **ends: Any) -> Gate:
        """Return the gate, with the `ends` low and high of its interval; without a value it failed."""
        expression = {"name": self.floor.name, "limit": self.floor.limit, "direction": self.floor.direction}
        return Gate(kind=self.kind, value=value, passed=passed, message=message, **expression, **ends)

    def against(
        self,
        value: float,
        ends: tuple[float | None, float | None] | None,
        label: str,
        basis: str,
        note: str = "",
    ) -> Gate:
        """Return the gate on a value and its interval, or None for both ends, held against the limit.

        The `note` ends the message of a gate that passed.
        """
        # The gate compares rounded values, as other reports show them: a mean that reads 0.90 must not miss
        # 0.9 by the last bits of a sum.
        value = round(value, 6)
        low, high = (None if end is None else round(end, 6) for end in ends or (None, None))
        limit, direction = self.floor.limit, self.floor.direction
        passed = self.floor.passes(value)
        way = direction if passed else "<" if direction == ">=" else ">"
        measured, asked = (f"{value:.2f}", f"{limit:.2f}") if passed else wording.apart(value, limit)
        between = wording.NO_INTERVAL if low is None or high is None else wording.ends_text(low, high)
        message = f"{label} {measured} ({between}) {way} {asked} {basis}{note if passed else ''}"
        return self.gate(message, value, passed=passed, low=low, high=high)

    def only(self, number: int, total: int, what: str) -> str:
        """Return ``only 7 of 10 scenarios were WHAT; the floor is 90%``."""
        were = "was" if number == 1 else "were"
        floor = wording.share_text(self.least)
        return f"only {number} of {count(total, self.suite.item)} {were} {what}; {floor}"

    def expected(self) -> int:
        """Return the number of items for the metric, with those without a result."""
        results, group = self.results, self.floor.group
        groups = (group,) if group else self.metric.read_in if self.metric is not None else ()
        if not groups:
            return results.expected - sum(self.measure in i.evaluation.not_judged for i in results.own)
        return len(self.read) + sum(results.missing_by_group.get(name, 0) for name in groups)

    def _too_few_scored(self) -> str:
        """Return why the gate cannot be decided, because too few of its items could be scored, or ""."""
        scored, total = sum(i.evaluation.gives(self.measure) for i in self.read), self.expected()
        if not scored and (not self.floor.group or not total):
            return ""  # the gate itself gives a better message
        if enough(scored, total, self.least):
            return ""
        its = "its " if self.floor.group or (self.metric is not None and self.metric.read_in) else ""
        return (
            f"only {scored} of {its}{count(total, 'item')} could be scored; {wording.share_text(self.least)}"
        )


def _read_in(metric: Metric | None, items: Sequence[Item]) -> list[Item]:
    """Return the items that the metric is computed from; without a metric, all of them.

    The mean of a measure is computed without the scored items of which its reading was not asked.
    """
    kinds, measure = (metric.read_in, metric.measure) if metric is not None else ((), None)
    of_kinds = ((i, i.evaluation) for i in items if not kinds or i.evaluation.kind in kinds)
    return [i for i, e in of_kinds if measure is None or not e.gives(measure) or e.score(measure) is not None]


def _figure(check: Check) -> Gate:
    """Decide the gate on a metric of the suite, such as TCR or the mean of P."""
    results, floor, item, metric = check.results, check.floor, check.suite.item, check.metric
    if metric is None:  # only a criterion that no test of the run has; `read_gate` accepts no other name
        assert floor.metric == CRITERION_GATE
        names = ", ".join(get_measure(name).short for name in results.criteria) or "none"
        return check.gate(f"no test of this run has a criterion of that name; known: {names}")
    of_items = (i.evaluation.not_judged.get(check.measure) for i in check.items if check.measure is not None)
    not_judged = [why for why in of_items if why is not None]
    estimate = figure_of(metric, check.read)
    if estimate.value is None:
        why = "no item could be scored"
        if estimate.dialogues:
            why = metric.undecided
        elif not_judged:
            why = not_judged[0]
        elif not check.read and metric.read_in:
            among = floor.group or " or ".join(metric.read_in)
            why = f"no {item} of {among} in this sample counts for it"
        return check.gate(f"{metric.label}: {why}")
    if check.measure == Dimension.TASK_COMPLETION and results.calibration is not None:
        return _corrected(check, estimate, results.calibration)
    basis, unscored_note = wording.over(estimate.scenarios, estimate.users, item), ""
    if not_judged:
        basis += f", of {len(not_judged) + len(check.read)} that were run"
    if check.measure == Dimension.INTRUSIONS and (kinds := intrusion_kinds(check.read)):
        basis += f": {kinds}"
    if check.measure is not None and (worst := check.measure.worst) is not None:
        unscored = (total := check.expected()) - estimate.dialogues
        worst_mean = (estimate.value * estimate.dialogues + worst * unscored) / total
        if not floor.passes(round(worst_mean, 6)):  # those without a score may be exactly the bad ones
            end = "lowest" if metric.better == "high" else "highest"
            unscored_note = f"; it would be {worst_mean:.2f} if the {unscored} without a score had the {end}"
    return check.against(estimate.value, (estimate.low, estimate.high), metric.label, basis, unscored_note)


def _corrected(check: Check, estimate: Estimate, calibration: Calibration) -> Gate:
    """Decide the gate on the corrected rate, which only an interval on one side of the floor decides."""
    assert estimate.value is not None
    limit, item = check.floor.limit, check.suite.item
    given = estimate.value, estimate.users, calibration.sensitivity, calibration.specificity
    found, read = correct(*given), f"task completion rate as read {estimate.value:.2f}"
    if found is None:
        return check.gate(f"{read}: {_NO_BETTER}")
    value, low, high = (round(x, 6) for x in found)
    figure, floor = wording.apart(value, limit)
    basis = wording.over(estimate.scenarios, estimate.users, item)
    text = f"{read}, corrected {figure} ({wording.ends_text(low, high)}) {basis}; the floor is {floor}"
    if inconclusive := low < limit <= high:
        more = labels_to_decide(*given, limit)
        advice = f"no number of labels would decide over {count(estimate.scenarios, item)}: draw more"
        if more is not None:
            advice = f"about {more:,} more labels would decide"
        text += f", within the interval: {advice}"
    return check.gate(text, value, passed=low >= limit, low=low, high=high, inconclusive=inconclusive)


def corrected_note(results: Results) -> str:
    """Return the rate as read and as corrected, with the interval and what it rests on, or ""."""
    calibration, metric = results.calibration, results.of_suite.metric_for(Dimension.TASK_COMPLETION)
    estimate = figure_of(metric, results.own) if calibration is not None and metric is not None else None
    if calibration is None or estimate is None or estimate.value is None:
        return ""
    of_true, of_false = calibration.sensitivity, calibration.specificity
    basis = (
        f"sensitivity {of_true.share:.2f} over {of_true.of}, specificity {of_false.share:.2f} over"
        f" {of_false.of} labels"
    )
    found, read = correct(estimate.value, estimate.users, of_true, of_false), "TCR as read"
    if found is None:
        return f"{read} {estimate.value:.2f}: {_NO_BETTER} ({basis})"
    ends = f"{found.value:.2f} (95 % {wording.ends_text(found.low, found.high)}; {basis})"
    return f"{read} {estimate.value:.2f}, corrected for the judge's errors {ends}"


def _pass_hat(check: Check) -> Gate:
    """Decide the gate on pass^k, the chance that a scenario passes in k of k trials."""
    k, item = int(check.floor.metric.removeprefix("pass^")), check.suite.item
    passes, scenarios = passes_of(check.items), len({i.key for i in check.items})
    shares = by_user({key: pass_share(*of_key, k) for key, of_key in passes.items() if of_key[1] >= k})
    value, used = pass_hat(passes.values(), k), sum(map(len, shares))
    label = f"chance of passing {k} times of {k}"
    if value is None:
        return check.gate(f"no {item} was scored in {count(k, 'trial')}")
    if not enough(used, scenarios, check.least):
        return check.gate(f"{label}: {check.only(used, scenarios, f'scored {k} times')}")
    return check.against(value, interval(shares, 0, 1), label, wording.over(used, len(shares), item))


def _lift(check: Check) -> Gate:
    """Decide the gate on the lift over a control."""
    results, suite, floor = check.results, check.suite, check.floor
    control = control_of(floor, suite, results.settings.get("control") or ())
    metric = suite.metric(floor.of)
    what = metric.label if metric is not None else ""
    if metric is None:
        assert suite.lift is not None  # `read_gate` accepted it for this suite
        metric, what = Metric.mean("lift", suite.lift[0]), suite.lift[0].names.title.lower()
    items = _read_in(metric, members(results.items, floor.group))
    gain = gain_of(metric, [i for i in items if i.control == control], [i for i in items if not i.control])
    label = f"lift of {what} over the control {suite.control_word(control or '')}"
    scenarios = len({i.scenario_key for i in items})
    if gain is not None and enough(gain.pairs, scenarios, check.least):
        basis = f"{wording.over(gain.pairs, gain.users, suite.item)}, {wording.p_text(gain.p)}"
        doubt = "; not significant" if gain.p > LEVEL else ""
        return check.against(gain.value, (gain.low, gain.high), label, basis, doubt)
    both = "scored both with and without its context"
    few = f"no {suite.item} was {both}" if gain is None else check.only(gain.pairs, scenarios, both)
    skipped = {*results.skipped} & {*results.of_controls}
    if here := sum(f"+{control}" in nodeid.rpartition("[")[2] for nodeid in skipped):
        few += f"; {here:,} skipped by your test: in a control, call evaluate() and return"
    return check.gate(f"{label}: {few}")


def _valid(check: Check) -> Gate:
    """Decide the gate on the share of what could be scored: of an item, the readings that the judge gave."""
    results, floor, items = check.results, check.floor, check.items
    missing = results.missing_by_group.get(floor.group, 0)
    total = len(items) + missing if floor.group else results.expected
    share = round(sum(i.evaluation.share for i in items) / total, 6) if total else 0.0
    message = f"{sum(i.evaluation.scored for i in items)} of {count(total, 'item')} could be scored"
    if unread := wording.unread_text(items, check.suite):
        message += f", without {unread}"
    if results.uncounted and not floor.group:
        message += f" (not: {', '.join(f'{n} {cause}' for cause, n in results.uncounted.items())})"
    return check.gate(f"{message}; {wording.share_text(floor.limit)}", share, passed=share >= floor.limit)


def _remains(item: Item) -> bool | None:
    look = item.evaluation.dialogue.store if item.evaluation.scored else None
    return None if look is None or look.residue is None else look.residue > 0


def _user_failed(item: Item) -> bool | None:
    faults = item.evaluation.user_faults
    return None if faults is None else bool(faults)


#: Shares of scored dialogues: what is so in them, what is missing where none is known, and whether it is so.
_SHARES: Final[Mapping[str, tuple[str, str, Callable[[Item], bool | None]]]] = {
    USER_FAULTS: (
        "with a fault of the user", "no user of this run was audited; run its tests again", _user_failed,
    ),
    LIMITS_BROKEN: ("that break a hard limit", "no personalization was read", breaks_a_limit),
    RESIDUE: (
        "with what was to be forgotten still in the store",
        "nobody looked; give the fixture personalens_memory_store with all, and draw the kind forget",
        _remains,
    ),
}  # fmt: skip


def _share(check: Check) -> Gate:
    """Decide the gate on the share of dialogues in which something is so; unknown ones do not count."""
    what, unknown, holds = _SHARES[check.floor.metric]
    label, limits = f"share of {check.suite.dialogue}s {what}", check.floor.metric == LIMITS_BROKEN
    if limits and not tells_limits(check.results.own):
        return check.gate(f"{label}: the judge of this run gives no reasons, so it tells no limit")
    by_scenario = defaultdict[tuple[str, ...], list[int]](list)
    for item in check.items:
        if (found := holds(item)) is not None:
            by_scenario[item.scenario_key].append(found)
    if not by_scenario:
        return check.gate(f"{label}: {unknown}")
    shares = by_user({key: mean(found) for key, found in by_scenario.items()})
    value = fmean(share for of_user in shares for share in of_user)
    basis = wording.over(len(by_scenario), len(shares), check.suite.item)
    note = limits_note(check.results) if limits and not check.floor.group else ""
    return check.against(value, interval(shares, 0, 1), label, basis + (f"; it {note}" if note else ""))


def _gap(check: Check) -> Gate:
    """Decide the gate on the largest gap between a group of users and the rest, in either direction."""
    floor, metric = check.floor, check.suite.metric(check.floor.of)
    assert metric is not None and metric.measure is not None  # `read_gate` accepted it
    what = f"largest gap of {metric.label}"
    largest = largest_gap(check.results.slices, metric.measure)
    if largest is None:
        few = f"no group and the rest have {LEAST_USERS} users each with tasks in common"
        return check.gate(f"{what}: {few}; draw more scenarios")
    group, figure = largest
    assert figure.gap is not None and figure.p is not None
    gap = round(abs(figure.gap), 6)
    passed, (value, limit) = floor.passes(gap), wording.apart(gap, floor.limit)
    where = f"{group.demographic} {group.name} {wording.signed(figure.gap)} against the rest"
    test = wording.p_text(figure.p, "two-sided") + ("" if figure.significant else ", which may be chance")
    over_tasks = f"{value} {'<=' if passed else '>'} {limit} over {count(figure.tasks, 'task')}"
    return check.gate(f"{what} {over_tasks}: {where}, {test}", gap, passed=passed)


def _drop(check: Check) -> Gate:
    """Decide the gate that passes only if a drop from the baseline larger than its limit is excluded."""
    largest, message = drop_of(check.results, check.floor, check.least)
    return check.gate(message, largest, passed=largest is not None and check.floor.passes(largest))


def _latency(check: Check) -> Gate:
    """Decide the gate on the time that 95 % of the replies do not exceed, in seconds."""
    times = times_of(check.items)
    p95, label = quantile(times, 0.95), "time that 95 % of the replies do not exceed"
    if p95 is None:
        return check.gate(f"{label}: no reply was timed; replayed and stored ones have no time")
    passed, latency = check.floor.passes(p95), check.results.latency
    value = f"{p95:.1f} s" if p95 >= SHORTEST else f"under {SHORTEST:g} s"
    side = wording.side_text(latency.side_by_side if latency is not None else 1)
    basis = f"over {wording.replies_text(len(times))}, {side}"
    way = "<=" if passed else ">"
    return check.gate(f"{label} {value} {way} {check.floor.limit:g} s {basis}", p95, passed=passed)


#: Metric -> the kind of its gates, and how they are decided; any other metric is a figure of the suite.
_KINDS: Final[Mapping[str, tuple[GateKind, Callable[[Check], Gate]]]] = {
    "valid": ("valid", _valid),
    "lift": ("lift", _lift),
    "drop": ("drop", _drop),
    "gap": ("gap", _gap),
    "pass^k": ("floor", _pass_hat),
    LATENCY_P95: ("floor", _latency),
    USER_FAULTS: ("floor", _share),
    LIMITS_BROKEN: ("floor", _share),
    RESIDUE: ("floor", _share),
}


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
        Check(results, floor, least.get(floor.group, least[""])).decide()
        for floor in floors
        # A run that replaces its baseline is compared with none.
        if floor.metric != "valid" and (floor.metric != "drop" or results.comparison is not None)
    ]
    gates += regression_gates(results, least[""])
    if (slower := latency_regression(results)) is not None:
        gates.append(slower)
    if (gates or shares or measured) and all(floor.group for floor in shares):
        shares.append(GateExpression("", "valid", VALID_FLOOR))
    return (*gates, *(Check(results, floor, least[""]).decide() for floor in shares))


def check_again(results: Results, gate: Gate) -> Gate:
    """Return the gate, decided again from `results`, or as it is if they hold nothing to decide it by."""
    if gate.kind == "judge":
        return judge_gate(results.drift) if results.drift is not None else gate
    if gate.kind in ("drop", "regression") and results.comparison is None:
        return gate
    shares = {other.name.rpartition(": ")[0]: other.limit for other in results.gates if other.kind == "valid"}
    whole = shares.get("", VALID_FLOOR)
    if gate.kind == "regression":
        decided = (*regression_gates(results, whole), latency_regression(results))
        return next((again for again in decided if again is not None and again.name == gate.name), gate)
    floor = parse_gate_name(gate.name, gate.limit, gate.direction)
    return Check(results, floor, shares.get(floor.group, whole)).decide()


def judge_gate(drift: Drift) -> Gate:
    """Return the gate on the judge, whose value is the share of verdicts that stayed the same.

    It fails if the judge changed or could not be asked, because its scores then have no meaning.
    """
    kept, passed = drift.kept, drift.passed
    return Gate(name="judge", kind="judge", value=kept, limit=1.0, passed=passed, message=drift.sentence)
