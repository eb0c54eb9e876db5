"""What a run must reach, as a value."""

from typing import Final, NamedTuple

#: Share of items that must be scored in a run with gates, unless a gate on `valid` says otherwise.
VALID_FLOOR: Final = 0.9


class GateExpression(NamedTuple):
    """The least value of a metric, over a domain, a kind, or the whole run (an empty `group`)."""

    group: str
    metric: str
    least: float

    @property
    def name(self) -> str:
        """Such as ``Movies: p``."""
        return f"{self.group}: {self.metric}" if self.group else self.metric
