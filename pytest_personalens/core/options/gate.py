"""A gate, as a value: the worst result with which a run still passes."""

from typing import Final, Literal, NamedTuple

#: Share of items that must be scored in a run with gates, if no gate on `valid` gives another.
VALID_FLOOR: Final = 0.9

#: The metric that a suite with audited users has: the share of dialogues with a fault of the user.
USER_FAULTS: Final = "user_faults"
#: The metric of a suite that reads personalization: the share of dialogues that break a user's hard limit.
LIMITS_BROKEN: Final = "limits_broken"

#: The metric of a suite whose assistant remembers: the share of dialogues after which its store still holds
#: what a user asked to forget.
RESIDUE: Final = "residue"
#: The metric that every suite has: the seconds that 95 % of the assistant's replies do not exceed.
LATENCY_P95: Final = "latency_p95"

#: The share of dialogues that meet a criterion of the team's own, which is named in parentheses.
CRITERION_GATE: Final = "criterion"

#: The exit code of a run that failed only because intervals of corrected rates hold their floors.
INCONCLUSIVE_EXIT: Final = 7

#: Metrics of one measure that are a difference, so that low is good: from a baseline, and between groups.
DIFFERENCES: Final = ("drop", "gap")

#: ``>=`` if high values are good, else ``<=``.
Direction = Literal[">=", "<="]


class GateExpression(NamedTuple):
    """The worst value of a metric that passes a gate.

    `group` is a domain or a kind; an empty `group` means the whole run. The metric ``lift`` may name the
    metric that it is a lift `of`, and the `arm` that it compares with. ``drop`` and ``gap`` name
    the metric that drops, or that differs between groups of users, and ``criterion`` the criterion.
    """

    group: str
    metric: str
    limit: float
    direction: Direction = ">="
    of: str = ""
    arm: str = ""

    @property
    def name(self) -> str:
        """A name such as ``Movies: p``, ``lift(p, other-user)`` or ``drop(p)``."""
        of = ", ".join(filter(None, (self.of, self.arm)))
        metric = f"{self.metric}({of})" if of else self.metric
        return f"{self.group}: {metric}" if self.group else metric

    @property
    def figure(self) -> str:
        """The metric whose value is held against the limit: of a criterion, its own name."""
        return self.of if self.metric == CRITERION_GATE else self.metric

    @property
    def text(self) -> str:
        """The expression, such as ``Gaming: mae <= 60``; `read_gate` reads it."""
        return f"{self.name} {self.direction} {self.limit:g}"

    def passes(self, value: float) -> bool:
        """True if the value is at least as good as the limit."""
        return value >= self.limit if self.direction == ">=" else value <= self.limit
