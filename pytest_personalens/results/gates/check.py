"""Decides the gates of a run: each is a question, whose class answers it from the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.judging.metric import Metric
from pytest_personalens.core.options.gate import (
    CRITERION_GATE,
    LATENCY_P95,
    LIMITS_BROKEN,
    RESIDUE,
    USER_FAULTS,
    VALID_FLOOR,
    GateExpression,
    control_of,
    parse_gate_name,
)
from pytest_personalens.results.comparison.pairs import gain_of, passes_of
from pytest_personalens.results.gates.corrected import corrected_gate
from pytest_personalens.results.gates.since_baseline import drop_of, latency_regression, regression_gates
from pytest_personalens.results.means import LEAST_USERS, by_user, figure_of, largest_gap, mean
from pytest_personalens.results.reasons.reasons import (
    breaks_a_limit,
    intrusion_kinds,
    limits_note,
    tells_limits,
)
from pytest_personalens.results.stats.intervals import interval, pass_hat, pass_share
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import SHORTEST, members, quantile, times_of
from pytest_personalens.results.wording import (
    NO_INTERVAL,
    apart,
    count,
    ends_text,
    over,
    p_text,
    replies_text,
    share_text,
    side_text,
    signed,
    unread_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.figures import Drift
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: A lift with a larger one-sided p may be chance.
_LEVEL: Final = 0.05


class Check:
    """A gate's question to a run, whose `items` are those of the gate's group.

    `least` is the share of items that must be scored.
    """

    kind: ClassVar[Literal["floor", "valid", "lift", "drop", "gap"]] = "floor"

    def __init__(self, results: Results, floor: GateExpression, least: float) -> None:
        self.results, self.floor, self.least, self.suite = results, floor, least, results.of_suite
        self.items = members(results.own, floor.group)

    def decide(self) -> Gate:
        raise NotImplementedError

    def gate(self, message: str, value: float | None = None, *, passed: bool = False, **ends: Any) -> Gate:
        """Return the gate, with the `ends` low and high of its interval; without a value it failed."""
        asked = {"name": self.floor.name, "limit": self.floor.limit, "direction": self.floor.direction}
        return Gate(kind=self.kind, value=value, passed=passed, message=message, **asked, **ends)

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
        measured, least = (f"{value:.2f}", f"{limit:.2f}") if passed else apart(value, limit)
        between = NO_INTERVAL if low is None or high is None else ends_text(low, high)
        message = f"{label} {measured} ({between}) {way} {least} {basis}{note if passed else ''}"
        return self.gate(message, value, passed=passed, low=low, high=high)

    def metric(self, name: str) -> Metric:
        """Return the metric of the suite that `read_gate` accepted."""
        found = self.suite.metric(name)
        assert found is not None
        return found

    def too_few(self) -> str:
        """Return why the gate cannot be decided, because too few of its items could be scored, or ""."""
        metric = self.suite.metric(self.floor.figure)
        measure = metric.measure if metric is not None else None
        scored = sum(i.evaluation.gives(measure) for i in _read_in(metric, self.items))
        total = self.asked(metric)
        if not scored and (not self.floor.group or not total):
            return ""  # the gate itself gives a better message
        if round(scored / total, 6) >= self.least:
            return ""
        its = "its " if self.floor.group or (metric is not None and metric.read_in) else ""
        return f"only {scored} of {its}{count(total, 'item')} could be scored; {share_text(self.least)}"

    def asked(self, metric: Metric | None) -> int:
        """Return the number of items for a metric, with those without a result."""
        results, group = self.results, self.floor.group
        groups = (group,) if group else metric.read_in if metric is not None else ()
        if not groups:
            measure = metric.measure if metric is not None else None
            return results.expected - sum(measure in i.evaluation.not_judged for i in results.own)
        missing = sum(results.missing_by_group.get(name, 0) for name in groups)
        return len(_read_in(metric, self.items)) + missing


def _read_in(metric: Metric | None, items: Sequence[Item]) -> list[Item]:
    """Return the items that the metric is computed from; without a metric, all of them.

    The mean of a measure is computed without the scored items of which its reading was not asked.
    """
    kinds, measure = (metric.read_in, metric.measure) if metric is not None else ((), None)
    of_kinds = ((i, i.evaluation) for i in items if not kinds or i.evaluation.kind in kinds)
    return [i for i, e in of_kinds if measure is None or not e.gives(measure) or e.score(measure) is not None]


class FigureCheck(Check):
    """The gate on a metric, such as TCR or the mean of P."""

    def decide(self) -> Gate:
        if few := self.too_few():
            return self.gate(few)
        results, floor = self.results, self.floor
        if floor.metric == CRITERION_GATE and self.suite.metric(floor.figure) is None:
            names = ", ".join(get_measure(name).short for name in results.criteria) or "none"
            return self.gate(f"no test of this run has a criterion of that name; known: {names}")
        metric = self.metric(floor.figure)
        items = _read_in(metric, self.items)
        estimate = figure_of(metric, items)
        if estimate.value is None:
            return self.gate(f"{metric.label}: {self._why_no_value(metric, estimate)}")
        if metric.measure == Dimension.TASK_COMPLETION and results.calibration is not None:
            return corrected_gate(floor, estimate, results.calibration, self.suite.item)
        basis = over(estimate.scenarios, estimate.users, self.suite.item)
        if without := len(self._not_judged(metric)):
            basis += f", of {without + len(items)} that were run"
        if metric.measure == Dimension.INTRUSIONS and (kinds := intrusion_kinds(items)):
            basis += f": {kinds}"
        ends, luck = (estimate.low, estimate.high), ""
        if (worst := metric.measure.worst if metric.measure is not None else None) is not None:
            total = self.asked(metric)
            unscored = total - estimate.dialogues
            least = (estimate.value * estimate.dialogues + worst * unscored) / total
            if not floor.passes(round(least, 6)):  # those without a score may be exactly the bad ones
                end = "lowest" if metric.better == "high" else "highest"
                luck = f"; it would be {least:.2f} if the {unscored} without a score had the {end}"
        return self.against(estimate.value, ends, metric.label, basis, luck)

    def _why_no_value(self, metric: Metric, estimate: Estimate) -> str:
        if estimate.dialogues:
            return metric.undecided
        if reasons := self._not_judged(metric):
            return reasons[0]
        if _read_in(metric, self.items) or not metric.read_in:
            return "no item could be scored"
        among = self.floor.group or " or ".join(metric.read_in)
        return f"no {self.suite.item} of {among} in this sample counts for it"

    def _not_judged(self, metric: Metric) -> list[str]:
        """Return why items have no reading of the metric, of those that the judge does not judge."""
        if metric.measure is None:
            return []
        reasons = (i.evaluation.not_judged.get(metric.measure) for i in self.items)
        return [why for why in reasons if why is not None]


class PassCheck(Check):
    """The gate on pass^k, the chance that a scenario passes in k of k trials."""

    def decide(self) -> Gate:
        if few := self.too_few():
            return self.gate(few)
        k, item = int(self.floor.metric.removeprefix("pass^")), self.suite.item
        passes, scenarios = passes_of(self.items), len({i.key for i in self.items})
        shares = by_user({key: pass_share(*of_key, k) for key, of_key in passes.items() if of_key[1] >= k})
        value, used = pass_hat(list(passes.values()), k), sum(map(len, shares))
        label = f"chance of passing {k} times of {k}"
        if value is None:
            return self.gate(f"no {item} was scored in {count(k, 'trial')}")
        if used < self.least * scenarios:
            some = (
                f"only {used} of {count(scenarios, item)} {'was' if used == 1 else 'were'} scored {k} times"
            )
            return self.gate(f"{label}: {some}; {share_text(self.least)}")
        return self.against(value, interval(shares, 0, 1), label, over(used, len(shares), item))


class LiftCheck(Check):
    """The gate on the lift over a control."""

    kind = "lift"

    def decide(self) -> Gate:
        results, suite, floor = self.results, self.suite, self.floor
        control = control_of(floor, suite, results.settings.get("control") or ())
        if floor.of:
            metric = self.metric(floor.of)
            what = metric.label
        else:
            assert suite.lift is not None  # `read_gate` accepted it for this suite
            metric, what = Metric.mean("lift", suite.lift[0]), suite.lift[0].names.title.lower()
        items = _read_in(metric, members(results.items, floor.group))
        gain = gain_of(
            metric, [i for i in items if i.control == control], [i for i in items if not i.control]
        )
        label = f"lift of {what} over the control {suite.control_word(control or '')}"
        scenarios = len({i.scenario_key for i in items})
        if gain is not None and gain.pairs >= self.least * scenarios:
            basis = f"{over(gain.pairs, gain.users, suite.item)}, {p_text(gain.p)}"
            doubt = "; not significant" if gain.p > _LEVEL else ""
            return self.against(gain.value, (gain.low, gain.high), label, basis, doubt)
        some, limit = f"no {suite.item} was", ""
        if gain is not None:
            were = "was" if gain.pairs == 1 else "were"
            some = f"only {gain.pairs} of {count(scenarios, suite.item)} {were}"
            limit = f"; {share_text(self.least)}"
        message = f"{label}: {some} scored both with and without its context{limit}"
        skipped = {*results.skipped} & {*results.of_controls}
        if here := sum(f"+{control}" in nodeid.rpartition("[")[2] for nodeid in skipped):
            message += f"; {here:,} skipped by your test: in a control, call evaluate() and return"
        return self.gate(message)


class ValidCheck(Check):
    """The gate on the share of what could be scored: of an item, the readings that the judge gave."""

    kind = "valid"

    def decide(self) -> Gate:
        results, floor = self.results, self.floor
        scored = sum(i.evaluation.scored for i in self.items)
        missing = results.missing_by_group.get(floor.group, 0)
        total = len(self.items) + missing if floor.group else results.expected
        share = round(sum(i.evaluation.share for i in self.items) / total, 6) if total else 0.0
        message = f"{scored} of {count(total, 'item')} could be scored"
        if unread := unread_text(self.items, self.suite):
            message += f", without {unread}"
        if results.uncounted and not floor.group:
            message += f" (not: {', '.join(f'{n} {cause}' for cause, n in results.uncounted.items())})"
        return self.gate(f"{message}; {share_text(floor.limit)}", share, passed=share >= floor.limit)


def _remains(item: Item) -> bool | None:
    look = item.evaluation.dialogue.store if item.evaluation.scored else None
    return None if look is None or look.residue is None else look.residue > 0


def _user_failed(item: Item) -> bool | None:
    faults = item.evaluation.user_faults
    return None if faults is None else bool(faults)


#: Shares of scored dialogues: what is so in them, what is missing where none is known, and whether it is so.
_SHARES: Final[dict[str, tuple[str, str, Callable[[Item], bool | None]]]] = {
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


class ShareCheck(Check):
    """A gate on the share of dialogues in which something is so; those where it is not known do not count."""

    def decide(self) -> Gate:
        if few := self.too_few():
            return self.gate(few)
        what, unknown, holds = _SHARES[self.floor.metric]
        label, limits = f"share of {self.suite.dialogue}s {what}", self.floor.metric == LIMITS_BROKEN
        if limits and not tells_limits(self.results.own):
            return self.gate(f"{label}: the judge of this run gives no reasons, so it tells no limit")
        by_scenario = defaultdict[tuple[str, str], list[int]](list)
        for item in self.items:
            if (found := holds(item)) is not None:
                by_scenario[item.scenario_key].append(found)
        if not by_scenario:
            return self.gate(f"{label}: {unknown}")
        shares = by_user({key: mean(found) for key, found in by_scenario.items()})
        value = fmean(share for of_user in shares for share in of_user)
        basis = over(len(by_scenario), len(shares), self.suite.item)
        note = limits_note(self.results) if limits and not self.floor.group else ""
        return self.against(value, interval(shares, 0, 1), label, basis + (f"; it {note}" if note else ""))


class GapCheck(Check):
    """The gate on the largest gap between a group of users and the rest, in either direction."""

    kind = "gap"

    def decide(self) -> Gate:
        floor, metric = self.floor, self.metric(self.floor.of)
        assert metric.measure is not None  # `read_gate` accepted it
        what = f"largest gap of {metric.label}"
        largest = largest_gap(self.results.slices, metric.measure)
        if largest is None:
            few = f"no group and the rest have {LEAST_USERS} users each with tasks in common"
            return self.gate(f"{what}: {few}; draw more scenarios")
        group, figure = largest
        assert figure.gap is not None and figure.p is not None
        gap = round(abs(figure.gap), 6)
        passed, (value, limit) = floor.passes(gap), apart(gap, floor.limit)
        where = f"{group.demographic} {group.name} {signed(figure.gap)} against the rest"
        test = p_text(figure.p, "two-sided") + ("" if figure.significant else ", which may be chance")
        over_tasks = f"{value} {'<=' if passed else '>'} {limit} over {count(figure.tasks, 'task')}"
        return self.gate(f"{what} {over_tasks}: {where}, {test}", gap, passed=passed)


class DropCheck(Check):
    """The gate that passes only if a drop from the baseline larger than its limit is excluded."""

    kind = "drop"

    def decide(self) -> Gate:
        largest, message = drop_of(self.results, self.floor, self.least)
        return self.gate(message, largest, passed=largest is not None and self.floor.passes(largest))


class LatencyCheck(Check):
    """The gate on the time that 95 % of the replies do not exceed, in seconds."""

    def decide(self) -> Gate:
        times = times_of(self.items)
        p95, label = quantile(times, 0.95), "time that 95 % of the replies do not exceed"
        if p95 is None:
            return self.gate(f"{label}: no reply was timed; replayed and stored ones have no time")
        passed, latency = self.floor.passes(p95), self.results.latency
        value = f"{p95:.1f} s" if p95 >= SHORTEST else f"under {SHORTEST:g} s"
        side = side_text(latency.side_by_side if latency is not None else 1)
        basis = f"over {replies_text(len(times))}, {side}"
        way = "<=" if passed else ">"
        return self.gate(f"{label} {value} {way} {self.floor.limit:g} s {basis}", p95, passed=passed)


_CHECKS: Final[dict[str, Callable[[Results, GateExpression, float], Check]]] = {
    "valid": ValidCheck,
    "lift": LiftCheck,
    "drop": DropCheck,
    "gap": GapCheck,
    LATENCY_P95: LatencyCheck,
    **dict.fromkeys(_SHARES, ShareCheck),
}


def _decided(results: Results, floor: GateExpression, least: float) -> Gate:
    other = PassCheck if floor.metric.startswith("pass^") else FigureCheck
    check = _CHECKS.get(floor.metric, other)(results, floor, least)
    if floor.group and not check.items:
        return check.gate(f"no {results.of_suite.item} of {floor.group} is in this sample")
    return check.decide()


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
        _decided(results, floor, least.get(floor.group, least[""]))
        for floor in floors
        # A run that replaces its baseline is compared with none.
        if floor.metric != "valid" and (floor.metric != "drop" or results.comparison is not None)
    ]
    gates += regression_gates(results, least[""])
    if (slower := latency_regression(results)) is not None:
        gates.append(slower)
    if (gates or shares or measured) and all(floor.group for floor in shares):
        shares.append(GateExpression("", "valid", VALID_FLOOR))
    return (*gates, *(_decided(results, floor, least[""]) for floor in shares))


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
    return _decided(results, floor, shares.get(floor.group, whole))


def judge_gate(drift: Drift) -> Gate:
    """Return the gate on the judge, whose value is the share of verdicts that stayed the same.

    It fails if the judge changed or could not be asked, because its scores then have no meaning.
    """
    kept, passed = drift.kept, drift.passed
    return Gate(name="judge", kind="judge", value=kept, limit=1.0, passed=passed, message=drift.sentence)
