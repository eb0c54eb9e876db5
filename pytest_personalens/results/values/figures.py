"""Figures of a run: means with intervals, gates, what changed since a baseline, and drift of the judge."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.measure import Better
from pytest_personalens.core.judging.verdict import FaultCode, MeasureField
from pytest_personalens.core.options.gate import Direction


class Mean(Frozen):
    """A mean over `count` scored items.

    If there are several trials, each scenario counts by its mean. `value` is null if there are no items.
    """

    value: float | None
    count: int = Field(ge=0)


class Figure(Mean):
    """A figure over `count` scored items.

    `better` says which end of its range is good. `low` to `high` is its 95 % interval. Only figures of the
    whole run or of a whole control have one, if it can be computed.
    """

    low: float | None = None
    high: float | None = None
    better: Better = "high"


class Group(Frozen):
    """The figures of a group of items.

    A multi-domain item counts in each of its domains. `items` is the number of all items, and `scored` is the
    number of those with scores. `figures` holds the mean of each measure, with task completion as a rate
    (TCR). It also holds the metrics that are no means, by their names.
    """

    name: str
    items: int
    scored: int
    figures: dict[str, Figure]


class SliceFigure(Figure):
    """A figure of a group of users.

    `gap` is how much higher it is than that of the other users, over the `tasks` that both sides have. It is
    null if fewer than three users of either side have such a task. `p` is two-sided. `significant` says
    whether it passes the procedure of Holm (1979) over all gaps of the run.
    """

    gap: float | None = None
    p: float | None = None
    tasks: int = 0
    significant: bool = False


class Slice(Frozen):
    """The figures of the users with one value of a demographic, such as ``age`` and ``18-24``."""

    demographic: str
    name: str
    users: int
    items: int
    scored: int
    figures: dict[str, SliceFigure]


GateKind = Literal["floor", "valid", "regression", "lift", "drop", "gap", "judge"]
#: The codes of gates that failed, by their kinds.
_CODES: Final = {
    "valid": "PL605", "regression": "PL602", "lift": "PL603", "drop": "PL603", "gap": "PL601",
    "judge": "PL604",
}  # fmt: skip


class Gate(Frozen):
    """A gate of the run: a value, its limit, and whether the gate passed.

    The value must reach the limit in the `direction` that is better. `low` to `high` is the 95 % interval of
    the value, if there is one.

    `kind` is "floor" for a metric, "valid" for the share of scored items, "regression" for a comparison with
    a baseline (its value is the change), "lift" for a comparison with a control, "drop" for the
    largest drop from a baseline that is not excluded, "gap" for the largest gap between a group of users and
    the rest, or "judge" for a check that
    the judge did not change since it was adopted.

    A gate on a rate that is corrected for the judge's errors is `inconclusive`, and has not passed, if the
    limit lies within the interval.
    """

    name: str
    value: float | None
    limit: float
    passed: bool
    message: str
    kind: GateKind = "floor"
    direction: Direction = ">="
    low: float | None = None
    high: float | None = None
    inconclusive: bool = False

    @property
    def code(self) -> str:
        """The code under which ``personalens explain`` tells what to do if it failed."""
        if self.inconclusive:
            return "PL607"
        if self.kind == "floor":
            return "PL605" if self.value is None else "PL601"
        return _CODES[self.kind]


class UserAudit(Frozen):
    """The faults of the simulated users in the scored dialogues of the run itself.

    `audited` is the number of dialogues, and `faulty` of those with a fault. `faults` counts the dialogues
    with a fault of each kind. `lost` counts those that were lost to the user, by the first fault that may
    have cost the task.
    """

    audited: int = Field(ge=1)
    faulty: int = Field(ge=0)
    faults: dict[FaultCode, int] = Field(default_factory=dict)
    lost: dict[FaultCode, int] = Field(default_factory=dict)


class Trials(Frozen):
    """The result of running each scenario several times.

    `pass_k` holds pass^1 to pass^K. Each is the probability that a scenario passes its thresholds in k of k
    trials (Yao et al. 2024, tau-bench). `spread` is the pooled standard deviation within a scenario, by
    dimension.
    """

    count: int
    pass_k: tuple[float | None, ...] = ()
    spread: dict[MeasureField, float] = Field(default_factory=dict)


class PairedChange(Frozen):
    """One dimension in two runs of the same scenarios.

    `before` and `after` are the means over `pairs` scenarios. `low` to `high` is the 95 % interval of the
    mean change, null for fewer than three users. `better` and `worse` are numbers of scenarios, by their
    means over equally many trials on each side. If users have several scenarios, the interval and the test
    are over users. `p` is one-sided, for the direction that matters there: a drop from a baseline, a lift
    over a control.
    """

    dimension: MeasureField
    pairs: int = Field(ge=1)
    users: int = Field(ge=1, description="Users of these scenarios.")
    before: float
    after: float
    change: float
    low: float | None = None
    high: float | None = None
    better: int = 0
    worse: int = 0
    p: float = 1.0

    @property
    def gain(self) -> tuple[float, float | None, float | None]:
        """The change and its interval, with positive numbers for improvements."""
        if self.dimension.better == "high":
            return self.change, self.low, self.high
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return -self.change, low, high


class Difference(PairedChange):
    """The change of one dimension since the baseline, over all scenarios or over those of a `kind`.

    Dimensions that are `gated` are tested together (Holm); the others are only shown. `low` to `high` is an
    interval of `confidence`, 0 to 1: of a gated one it excludes 0 exactly if its test does. `detectable` is
    the smallest true drop that this number of pairs finds with a probability of 0.8. `largest_drop` is the
    largest one that is not excluded at the level (one-sided), where a gate asks for it; null for fewer than
    three users.
    """

    kind: str = ""
    gated: bool = False
    confidence: float = Field(default=0.95, description="Chance with which the interval holds the change.")
    margin: float = 0.0
    judged: int = Field(default=0, description="Scenarios compared in which either run has a score on it.")
    detectable: float | None = None
    decidable: bool = Field(default=True, description="False if not even a fall of all would be significant.")
    regressed: bool = False
    largest_drop: float | None = None


class Flip(Frozen):
    """A scenario whose score changed; with several trials, the scores are means.

    `nodeids` are those of the items of the run. `records` are the files with their dialogues, without stale
    ones.
    """

    scenario: str
    user: str
    task: str
    dimension: MeasureField
    before: float
    after: float
    nodeids: tuple[str, ...] = ()
    records: tuple[str, ...] = ()

    @property
    def fell(self) -> bool:
        return self.dimension.is_worse(self.after, self.before)


class Latency(Frozen):
    """How long the assistant took for its replies, in seconds; in a run of quick replies there is none.

    `replies` were measured, and `replayed` ones were not. The first pieces are those of streamed replies.
    """

    p50: float
    p95: float
    replies: int
    replayed: int = 0
    first_p50: float | None = None
    first_p95: float | None = None
    side_by_side: int = Field(default=1, description="Dialogues that ran at the same time.")


class LatencyChange(Frozen):
    """The mean time of a reply since the baseline, in seconds.

    `p` is one-sided, for slower replies. `before`, `after` and `p` are null if the numbers of dialogues side
    by side differ, because such runs are not compared.
    """

    side_by_side: int
    then_side_by_side: int | None
    before: float | None = None
    after: float | None = None
    scenarios: int = 0
    p: float | None = None
    slower: bool = False


class Comparison(Frozen):
    """The comparison of the run with a baseline, by scenario.

    It is not `tested`, and says nothing of significance, where more than the assistant may have changed.
    `compared` scenarios were scored in both, on any of the same dimensions; `shared` are in both, scored or
    not. `shared_by_test` counts a scenario that both have once for every test with scores of it in the
    baseline, and `compared_by_test` those of them that the same test ran and scored now. `one_sided` says
    which run alone has scores on a dimension that is to be gated. `left_out` maps the reason why scenarios
    could not be compared to these scenarios.
    """

    baseline: str = Field(description="The file, as it was given.")
    level: float = Field(
        description="Chance of any false alarm, over all dimensions together (Holm); 0 if nothing is tested."
    )
    compared: int
    shared: int = 0
    shared_by_test: int = 0
    compared_by_test: int = 0
    differences: tuple[Difference, ...] = ()
    one_sided: dict[MeasureField, Literal["then", "now"]] = Field(default_factory=dict)
    flips: tuple[Flip, ...] = ()
    left_out: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    latency: LatencyChange | None = Field(default=None, description="Null without times in both runs.")
    notes: tuple[str, ...] = Field(default=(), description="What else differs between the two runs.")

    @property
    def tested(self) -> bool:
        return self.level > 0


class ControlFigures(Frozen):
    """A control: the same scenarios without the context, or with another user's.

    `lift` says how much better the run itself was: before is this control, after is the run.
    """

    name: str
    overall: Group
    kinds: tuple[Group, ...] = ()
    lift: tuple[PairedChange, ...] = ()


class Shift(Frozen):
    """The change of the readings on one dimension since the baseline.

    `changed` of `compared` readings differ; `far` of them differ by a flip or by more than one step. `mean`
    is the mean difference, and `p` that of the two-sided exact sign test. `beyond_judge` is set for scores on
    a dimension that the judge now reads otherwise: the two-sided p of the hypothesis that the scores moved in
    the same way as the anchors with the same score.
    """

    dimension: MeasureField
    compared: int
    changed: int
    far: int
    mean: float
    p: float
    beyond_judge: float | None = None


DriftOutcome = Literal[
    "the judge changed", "your assistant changed", "both changed", "neither changed",
    "the judge did not change", "the judge could not be checked", "the judge was adopted",
    "the judge could not be adopted",
]  # fmt: skip


class Drift(Frozen):
    """The result of adopting or checking the judge; `sentence` begins with the `outcome`.

    `anchors` are the readings of the anchor dialogues against the adopted ones, and `kept` is the share of
    them that are as they were. `scores` are this run's against the baseline's, by scenario; the outcome is
    "the judge did not change" if there were none to compare.
    """

    outcome: DriftOutcome
    sentence: str
    judge: str = Field(description="Identity of the judge of this run.")
    anchors: tuple[Shift, ...] = ()
    scores: tuple[Shift, ...] = ()
    kept: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """False if the judge changed, or if the check could not decide that."""
        return self.outcome in (
            "your assistant changed", "neither changed", "the judge did not change", "the judge was adopted",
        )  # fmt: skip
