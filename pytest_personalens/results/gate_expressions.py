"""What a run must reach, said in one expression each: ``[DOMAIN or KIND:] METRIC >= VALUE``."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.verdict import READINGS, Dimension

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.settings import Settings

TCR: Final = "tcr"
SCALES: Final[dict[str, Dimension]] = {TCR: Dimension.TASK_COMPLETION, **{d.short: d for d in READINGS[1:]}}
_METRICS: Final = (*SCALES, "valid", "lift", "pass^k")
_EXPRESSION: Final = re.compile(r"\s*(?:(?P<group>[^:<>=]+):)?\s*(?P<metric>[\w^-]+)\s*(?:>=|≥)\s*(?P<value>-?[\d.]+)\s*(?P<percent>%?)\s*")
KINDS: Final = ("single", "multi")


class GateExpression(NamedTuple):
    """The least value of a metric, over a domain, a kind, or the whole run (an empty `group`)."""

    group: str
    metric: str
    least: float

    @property
    def name(self) -> str:
        """Such as ``Movies: p``."""
        return f"{self.group}: {self.metric}" if self.group else self.metric


def read_floor(text: str) -> GateExpression:
    """The floor that ``[GROUP:] METRIC >= VALUE`` asks for. Raises ValueError saying what it expected."""
    expression = _EXPRESSION.fullmatch(text)
    if expression is None:
        raise ValueError("expected [DOMAIN or KIND:] METRIC >= VALUE, such as tcr >= 0.9 or Movies: p >= 3")
    metric = expression["metric"].lower()
    metric = {"tc": TCR, "task_completion": TCR, "personalization": "p"}.get(metric, metric)
    power = re.fullmatch(r"pass\^([1-9]\d{0,2})", metric)
    if metric not in _METRICS[:-1] and power is None:
        near = difflib.get_close_matches(metric, _METRICS, n=1)
        raise ValueError(f"unknown metric {metric!r}{f' (did you mean {near[0]}?)' if near else ''}; known: {', '.join(_METRICS)}")
    try:
        value = round(float(expression["value"]) / (100 if expression["percent"] else 1), 6)
    except ValueError:
        raise ValueError(f"expected a number after >=, not {expression['value']!r}") from None
    low, high = SCALES[metric].scale if metric in SCALES else (-3, 3) if metric == "lift" else (0, 1)
    if expression["percent"] and high != 1:
        raise ValueError(f"{metric} is no share: give a number from {low} to {high}")
    if not low <= value <= high:
        meant = f"; did you mean {expression['value']}%?" if high == 1 and 1 < value <= 100 else ""
        raise ValueError(f"{metric} lies from {low} to {high}{meant}")
    return GateExpression((expression["group"] or "").strip(), metric, value)


def floors_of(settings: Settings) -> tuple[GateExpression, ...]:
    """The floors of a run, each once, those over all first. Raises `SpecError` for two of one thing and for what is not measured."""
    short = [("--personalens-min-tcr", TCR, settings.min_tcr), ("--personalens-min-p", "p", settings.min_p)]
    floors = [(flag, GateExpression("", metric, least)) for flag, metric, least in short if least is not None]
    floors += [("--personalens-gate", GateExpression(*gate)) for gate in settings.gate]
    seen: dict[str, str] = {}
    for flag, floor in floors:
        where = f"{flag}: {floor.name}"
        if floor.name.lower() in seen:
            other = seen[floor.name.lower()]
            raise SpecError(f"{where} has two floors, in {flag} and in {other}; give one")
        seen[floor.name.lower()] = flag
        dimension = Dimension.PERSONALIZATION if floor.metric == "lift" else SCALES.get(floor.metric)
        if dimension is not None and dimension.value not in settings.dimensions:
            raise SpecError(f"{where} is not judged in this run; add {dimension.short} with --personalens-dimensions")
        if floor.metric == "lift" and not settings.control:
            raise SpecError(f"{where}: there is nothing to compare with; add --personalens-control none or swapped")
        if floor.metric.startswith("pass^") and int(floor.metric[5:]) > settings.trials:
            raise SpecError(f"{where}: needs at least as many runs of each scenario; add --personalens-trials {floor.metric[5:]}")
    for name, _ in settings.margin if settings.baseline else ():
        if Dimension(name) not in READINGS or name not in settings.dimensions:
            problem = (
                "is not compared" if Dimension(name) not in READINGS else "is not judged in this run; add it with --personalens-dimensions"
            )
            raise SpecError(f"--personalens-margin: {Dimension(name).short} {problem}")
    return tuple(floor for _, floor in floors)


def with_groups(floors: Sequence[GateExpression], domains: Collection[str]) -> tuple[GateExpression, ...]:
    """The floors with their groups as the dataset spells them. Raises `SpecError` for a group that it does not have."""
    known = {name.lower(): name for name in (*KINDS, *domains)}
    for floor in floors:
        if floor.group and floor.group.lower() not in known:
            near = difflib.get_close_matches(floor.group.lower(), known, n=1)
            hint = f" (did you mean {known[near[0]]}?)" if near else ""
            raise SpecError(f"--personalens-gate: unknown group {floor.group!r}{hint}; known: {', '.join(known.values())}")
    return tuple(floor._replace(group=known.get(floor.group.lower(), "")) for floor in floors)
