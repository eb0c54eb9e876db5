"""Figures of a run: means with intervals, groups of items, gates, and repeated trials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.measure import Better
from pytest_personalens.core.judging.user_fault import FaultCode
from pytest_personalens.core.judging.verdict import MeasureField
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


class Gate(Frozen):
    """A gate of the run: a value, its limit, and whether the gate passed.

    The value must reach the limit in the `direction` that is better. `low` to `high` is the 95 % interval of
    the value, if there is one.

    `kind` is "floor" for a metric, "valid" for the share of scored items, "regression" for a comparison with
    a baseline (its value is the change), "lift" for a comparison with a control, "drop" for the
    largest drop from a baseline that is not excluded, "gap" for the largest gap between a group of users and
    the rest, or "judge" for a check that
    the judge did not change since it was adopted.
    """

    name: str
    value: float | None
    limit: float
    passed: bool
    message: str
    kind: Literal["floor", "valid", "regression", "lift", "drop", "gap", "judge"] = "floor"
    direction: Direction = ">="
    low: float | None = None
    high: float | None = None


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
