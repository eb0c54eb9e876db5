"""What a run must reach, as a value."""

from typing import Final, Literal, NamedTuple

#: Share of items that must be scored in a run with gates, unless a gate on `valid` says otherwise.
VALID_FLOOR: Final = 0.9

#: ``>=`` where high values are the good ones, else ``<=``.
Direction = Literal[">=", "<="]


class GateExpression(NamedTuple):
    """The worst value of a metric that passes, over a domain, a kind, or the whole run (an empty `group`).

    The metric ``lift`` may name what it is a lift `of`, and over which `arm`.
    """

    group: str
    metric: str
    limit: float
    direction: Direction = ">="
    of: str = ""
    arm: str = ""

    @property
    def name(self) -> str:
        """Such as ``Movies: p``, or ``lift(p, other-user)``."""
        metric = f"{self.metric}({self.of}, {self.arm})" if self.of else self.metric
        return f"{self.group}: {metric}" if self.group else metric

    def passes(self, value: float) -> bool:
        """True if the value is as good as the limit, or better."""
        return value >= self.limit if self.direction == ">=" else value <= self.limit
