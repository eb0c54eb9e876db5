"""Changes between two runs of the same scenarios: with a baseline, and between a control and the run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.verdict import MeasureField
from pytest_personalens.results.values.figures import Group


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

    Dimensions that are `gated` are tested together (Holm); the others are only shown. `detectable` is the
    smallest true drop that this number of pairs finds with a probability of 0.8. `largest_drop` is the
    largest one that is not excluded at the level (one-sided), where a gate asks for it; null for fewer than
    three users.
    """

    kind: str = ""
    gated: bool = False
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
        """True for a change for the worse."""
        return self.dimension.is_worse(self.after, self.before)


class Comparison(Frozen):
    """The comparison of the run with a baseline, by scenario.

    `compared` scenarios were scored in both, on any of the same dimensions; `shared` are in both, scored or
    not. `shared_by_test` counts a scenario that both have once for every test with scores of it in the
    baseline, and `compared_by_test` those of them that the same test ran and scored now. `one_sided` says
    which run alone has scores on a dimension that is to be gated. `left_out` maps the reason why scenarios
    could not be compared to these scenarios.
    """

    baseline: str = Field(description="The file, as it was given.")
    level: float = Field(description="Chance of any false alarm, over all dimensions together (Holm).")
    compared: int
    shared: int = 0
    shared_by_test: int = 0
    compared_by_test: int = 0
    differences: tuple[Difference, ...] = ()
    one_sided: dict[MeasureField, Literal["then", "now"]] = Field(default_factory=dict)
    flips: tuple[Flip, ...] = ()
    left_out: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class Arm(Frozen):
    """A control: the same scenarios without the context, or with another user's.

    `lift` says how much better the run itself was: before is this arm, after is the run.
    """

    name: str
    overall: Group
    kinds: tuple[Group, ...] = ()
    lift: tuple[PairedChange, ...] = ()
