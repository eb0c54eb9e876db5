"""A gate, as a value, and the expressions that name it: ``[DOMAIN or KIND:] METRIC >= VALUE``, or ``<=``."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.judging.measure import CRITERION, Dimension, name_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.suite import Suite


#: Share of items that must be scored in a run with gates, if no gate on `valid` gives another.
VALID_FLOOR: Final = 0.9
#: The chance that a test finds a difference where there is none, if no option gives another.
LEVEL: Final = 0.05

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
    metric that it is a lift `of`, and the `control` that it compares with. ``drop`` and ``gap`` name
    the metric that drops, or that differs between groups of users, and ``criterion`` the criterion.
    """

    group: str
    metric: str
    limit: float
    direction: Direction = ">="
    of: str = ""
    control: str = ""

    @property
    def name(self) -> str:
        """A name such as ``Movies: p``, ``lift(p, other-user)`` or ``drop(p)``."""
        of = ", ".join(filter(None, (self.of, self.control)))
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


#: Metrics that every suite has, in addition to its own.
_COMMON: Final = ("valid", "lift", "drop", "gap", LATENCY_P95, "pass^k")
_EXPRESSION: Final = re.compile(
    r"\s*(?:(?P<group>[^:<>=]+):)?\s*(?P<metric>[\w^-]+)\s*"
    r"(?:\((?P<of>[^(),]*)(?:,(?P<control>[^(),]*))?\))?"
    r"\s*(?P<direction>>=|≥|<=|≤|=)\s*(?P<value>-?[\d.]+)\s*(?P<percent>%?)\s*"
)
_DIRECTIONS: Final[dict[str, Direction]] = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}
_MUST_NOT: Final = {"drop": "drop", "gap": "differ between groups of users"}
#: A larger limit must be a typing error.
_MOST: Final = 1_000_000_000
#: The least difference that can be excluded; a limit has six digits.
_LEAST: Final = 0.000001
_LOW_IS_GOOD: Final = (USER_FAULTS, LIMITS_BROKEN, RESIDUE, LATENCY_P95)


class _Scale(NamedTuple):
    """The values of what a gate is on: the lowest and the highest, None for no limit, and the good way."""

    low: float | None = 0
    high: float | None = 1
    way: Direction = ">="

    def refuse(self, name: str, expression: re.Match[str]) -> None:
        """Raise ValueError if a gate on `name` asks for the bad way, or for a value that there is none of."""
        if _DIRECTIONS.get(expression["direction"], self.way) != self.way:
            better = "high" if self.way == ">=" else "low"
            raise ValueError(f"{name} is better {better}: write {name} {self.way} {expression['value']}")
        if expression["percent"] and self.high != 1:
            raise ValueError(f"{name} is no share: give a number {self.span()}")
        value = self.value(expression)
        lowest, highest = (-_MOST if self.low is None else self.low), (self.high or _MOST)
        if not lowest <= value <= highest:
            meant = f"; did you mean {expression['value']}%?" if self.high == 1 and 1 < value <= 100 else ""
            raise ValueError(f"{name} lies {self.span()}{meant}")

    def value(self, expression: re.Match[str]) -> float:
        """Return the value of a gate, a percentage as a share; raise ValueError if it is no number."""
        try:
            return round(float(expression["value"]) / (100 if expression["percent"] else 1), 6)
        except ValueError:
            raise ValueError(f"expected a number after {self.way}, not {expression['value']!r}") from None

    def span(self) -> str:
        if self.low == _LEAST:
            return f"above 0, up to {self.high:g}"
        if self.high is None:
            return "anywhere" if self.low is None else f"from {self.low:g} up"
        return f"up to {self.high:g}" if self.low is None else f"from {self.low:g} to {self.high:g}"


def read_gate(text: str, suite: Suite) -> GateExpression:
    """Return the gate of ``[GROUP:] METRIC >= VALUE``; raise ValueError with what is expected."""
    expression = _EXPRESSION.fullmatch(text)
    metric = "" if expression is None else _metric(expression["metric"], suite)
    if expression is None or (
        expression["of"] is not None and metric not in ("lift", CRITERION_GATE, *DIFFERENCES)
    ):
        raise ValueError(f"expected [DOMAIN or KIND:] METRIC >= VALUE, such as {suite.gate_example}")
    group, of, control = ((expression[name] or "").strip() for name in ("group", "of", "control"))
    known = suite.metric(metric)
    if metric == CRITERION_GATE or (known and known.measure and known.measure.startswith(CRITERION)):
        # The criterion may be that of a mark, which is read later.
        of, metric, scale = name_of(of) if metric == CRITERION_GATE else metric, CRITERION_GATE, _Scale()
        if not of or expression["control"] is not None:
            raise ValueError("name the criterion: criterion(price-first) >= 0.9")
    elif metric in DIFFERENCES:
        of, scale = _difference(metric, of, suite)
        if expression["control"] is not None:
            raise ValueError(f"name what must not {_MUST_NOT[metric]}: {metric}(METRIC) <= VALUE")
        if group:
            raise ValueError(f"a {metric} is of the whole run; leave {group!r} out")
    elif metric == "lift":
        of, control, scale = _lift(of, control, suite)
    else:
        way: Direction = "<=" if metric in _LOW_IS_GOOD or (known and known.better == "low") else ">="
        low, high = (known.low, known.high) if known else (0, None if metric == LATENCY_P95 else 1)
        scale = _Scale(low, high, way)
    named = GateExpression(group, metric, 0, scale.way, of, control)
    scale.refuse(named._replace(group="").name, expression)
    return named._replace(limit=scale.value(expression))


def _difference(name: str, of: str, suite: Suite) -> tuple[str, _Scale]:
    """Return the metric and the scale of the largest drop that is not excluded, or of a gap between users."""
    of = _metric(of, suite) if of else ""
    metric = suite.metric(of)
    if metric is None or metric.measure is None:
        raise ValueError(f"name what must not {_MUST_NOT[name]}: {name}(METRIC) <= VALUE")
    if name == "drop" and metric.measure not in suite.gated:
        raise ValueError(f"{of} is not compared with a baseline")
    if name == "gap" and metric.measure not in suite.main:
        raise ValueError(f"{of} is not compared between groups of users")
    if (span := metric.measure.span) is None:
        raise ValueError(f"{of} has no lowest or no highest score, so no {name} of it can be excluded")
    return of, _Scale(_LEAST, span, "<=")


def _lift(of: str, control: str, suite: Suite) -> tuple[str, str, _Scale]:
    """Return metric, word of the control and scale of ``lift(METRIC, CONTROL)``; it is symmetric around 0."""
    if not of:
        if suite.lift is None:
            raise ValueError("name a metric and a control: lift(METRIC, CONTROL) >= VALUE")
        span = suite.lift[0].span
        return "", "", _Scale(None if span is None else -span, span)
    of, words = _metric(of, suite), {one.word.lower(): one.word for one in suite.controls}
    if (metric := suite.metric(of)) is None:
        raise ValueError(f"no lift can be had of {of}")
    if control.lower() not in words:
        raise ValueError(f"unknown control {control!r}; known: {', '.join(words.values())}")
    span = None if metric.low is None or metric.high is None else metric.high - metric.low
    return of, words[control.lower()], _Scale(None if span is None else -span, span)


def parse_gate_name(name: str, limit: float, direction: Direction) -> GateExpression:
    """Return the gate with that name, the inverse of `GateExpression.name`."""
    group, _, metric = name.rpartition(": ")
    metric, _, rest = metric.partition("(")
    of, _, control = rest.removesuffix(")").partition(", ")
    return GateExpression(group, metric, limit, direction, of, control)


def measure_of(gate: GateExpression, suite: Suite) -> Measure | None:
    """Return the measure whose mean a gate uses, or None for a gate on something else."""
    if gate.metric == "lift" and not gate.of:
        return suite.lift[0] if suite.lift is not None else None
    metric = suite.metric(gate.of or gate.metric)
    return metric.measure if metric is not None else None


def is_metric(name: str, suite: Suite) -> bool:
    """True if a gate of the suite may use the metric."""
    names = _names(suite)[:-1]
    return name in names or re.fullmatch(r"pass\^[1-9]\d{0,2}", name) is not None


def control_of(gate: GateExpression, suite: Suite, controls: Collection[str]) -> str | None:
    """Return the control of a lift, if the run has it, else None."""
    named = [one.name for one in suite.controls if one.word == gate.control]
    _, usual = suite.lift or (None, ())
    return next((name for name in (named if gate.control else usual) if name in controls), None)


def is_gate(gate: GateExpression, suite: Suite) -> bool:
    """True if the suite has what a gate is on; false for a name that somebody wrote into a file."""
    of = suite.metric(gate.of)
    if gate.metric == CRITERION_GATE:
        return bool(gate.of)
    if gate.metric in DIFFERENCES:
        return of is not None and of.measure is not None
    if gate.metric == "lift":
        return of is not None if gate.of else suite.lift is not None
    return is_metric(gate.metric, suite) and not gate.of


def _names(suite: Suite) -> tuple[str, ...]:
    audited = (USER_FAULTS,) if suite.auditor else ()
    has_limits = Dimension.PERSONALIZATION in suite.measures and "limits" in suite.scenario.model_fields
    limits = (LIMITS_BROKEN,) if has_limits else ()
    residue = (RESIDUE,) if suite.remembers else ()
    criteria = () if "criteria" in suite.lacks else (CRITERION_GATE,)
    named = (metric.name for metric in suite.metrics)
    return (*named, *audited, *limits, *residue, *criteria, *_COMMON)


def _metric(text: str, suite: Suite) -> str:
    names = {name.lower(): m.name for m in suite.metrics for name in (m.name, *m.aliases)}
    metric = names.get(text.lower(), text.lower())
    if not is_metric(metric, suite):
        from pytest_personalens.core.suite import other_suites  # needed only after an error

        near = difflib.get_close_matches(metric, _names(suite), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        if owners := [other.name for other in other_suites(suite.name) if metric in _names(other)]:
            hint = f" (of the suite {owners[0]}: give --personalens-suite {owners[0]})"
        raise ValueError(f"unknown metric {metric!r}{hint}; known: {', '.join(_names(suite))}")
    return metric
