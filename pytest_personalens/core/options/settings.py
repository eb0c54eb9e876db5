"""The settings of a run or a test, as one frozen value, and whether a run measures what its gates need."""

# This module does not postpone annotations, because pydantic reads the types here for the settings in a
# results file.

import difflib
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import ALL_CRITERIA, NEEDS_MODEL, Dimension
from pytest_personalens.core.options.gate import (
    CRITERION_GATE,
    LATENCY_P95,
    LIMITS_BROKEN,
    VALID_FLOOR,
    GateExpression,
    control_of,
    is_metric,
    measure_of,
)
from pytest_personalens.core.options.option_table import OPTIONS, judge_specs, keys_of

if TYPE_CHECKING:
    from pytest_personalens.core.suite import Suite

#: The dialogues that a run has side by side where it decides, in all its processes.
AT_ONCE: Final = 32
#: The beginning of the option prompts if it names a checkout of the official repository.
OFFICIAL_PROMPTS: Final = "official:"


class _Fields(NamedTuple):
    """The fields of `Settings`."""

    suite: str
    sample: int | None
    seed: str
    shard: tuple[int, int] | None
    data: str
    users: tuple[str, ...]
    domain: tuple[str, ...]
    #: "all", or kinds of the suite with commas.
    kind: str
    trials: int
    control: tuple[str, ...]
    context: str
    max_turns: int
    turn_timeout: float
    dimensions: tuple[str, ...]
    threshold: tuple[tuple[str, int | float], ...]
    user_model: str
    judge_model: str
    #: True, False, or the most dialogues side by side in a process; None if the run decides.
    parallel: bool | int | None
    executor: str | None
    judge_votes: int
    assistant: str | None
    assistant_prompt: Literal["base", "vanilla"]
    #: The name of a protocol of the suite.
    protocol: str
    #: The text that a model writes before a message when it plays the user.
    user_agent: Literal["plain", "reasoning", "state"]
    prompts: str | None
    #: The domains of which the assistant knows the past interactions: those of the task, or all.
    interactions: Literal["task", "all"]
    #: The place of a user's past.
    history: Literal["request", "context"]
    embedding: str | None
    nltk_data: str | None
    #: The bugs of the official code that are mended.
    official_bugs: str
    #: Caps of the run: the unit, "calls" or "usd", and the number.
    budget: tuple[tuple[Literal["calls", "usd"], float], ...]
    gate: tuple[GateExpression, ...]
    baseline: str | None
    level: float
    margin: tuple[tuple[str, float], ...]
    anchors: str | None
    #: Dimensions that the user asked for and that the embedded judge cannot read.
    not_read: tuple[str, ...] = ()
    #: True for a run that only measures and reports. Nothing makes it fail.
    report_only: bool = False
    exit_infra: int | None = None
    #: The demographics by which users are grouped.
    slice: tuple[str, ...] = ()
    #: Absolute paths, and the word "github" if it is given.
    report: tuple[str, ...] = ()
    save_baseline: str | None = None
    adopt_judge: str | None = None
    check_judge: str | None = None
    record: Literal["none", "live", "new", "all"] = "none"
    resume: bool = False
    estimate: bool = False
    #: The request to a service that is the assistant, as JSON, and the path of the reply in its answer.
    assistant_request: str | None = None
    assistant_reply: str | None = None
    #: Paths, and patterns of paths, of the dialogues to judge.
    dialogues: tuple[str, ...] = ()
    #: The file of a calibration of the judge.
    calibration: str | None = None
    #: Criteria of the team's own, by their long names.
    criteria: tuple[str, ...] = ()
    generate_only: bool = False
    #: The manner of the simulated user, "all" for one drawn by scenario; empty for none.
    manner: str = ""


class Settings(_Fields):
    """The settings of a run or of one test; without a `sample` the plugin does nothing."""

    def __reduce__(self) -> tuple[object, ...]:
        return Settings, tuple(self)  # without what every process works out for itself

    @classmethod
    def default(cls, **changed: Any) -> "Settings":
        """Return the settings of a run without options, with those that are `changed`."""
        return cls(**{o.key: o.default for o in OPTIONS if o.key in cls._fields} | changed)

    @property
    def protocol_in_force(self) -> str:
        """The protocol, which is "official" for the prompts of a checkout."""
        return "official" if (self.prompts or "").startswith(OFFICIAL_PROMPTS) else self.protocol

    @cached_property
    def may_spend(self) -> bool:
        return self.record != "none"

    @property
    def writes_records(self) -> bool:
        return self.record in ("new", "all")

    @property
    def max_calls(self) -> int | None:
        """Cap on model calls, or None."""
        return min((int(cap) for unit, cap in self.budget if unit == "calls"), default=None)

    @property
    def max_usd(self) -> float | None:
        """Cap on the cost of model calls in US dollars, or None."""
        return min((cap for unit, cap in self.budget if unit == "usd"), default=None)

    @cached_property
    def must_share(self) -> bool:
        """True if the team says that its assistant serves several dialogues at once."""
        return self.parallel is True or int(self.parallel or 0) > 1

    def at_once(self, processes: int = 1) -> int:
        """Return the most dialogues that run side by side in one of the `processes` of a run, at least 1."""
        if self.parallel is None or self.parallel is True:
            return -(-AT_ONCE // processes)
        return max(1, int(self.parallel))

    @property
    def names_assistant(self) -> bool:
        """True if an option says who answers, so that the fixture does not."""
        return self.assistant is not None or bool(self.dialogues)

    @cached_property
    def fails_on(self) -> Literal["item", "gate", "nothing"]:
        """What makes the run fail: gates, if there are any, else low items; nothing if it only reports."""
        return "nothing" if self.report_only else "gate" if self.asks_for_gates else "item"

    @property
    def asks_for_gates(self) -> bool:
        return any(getattr(self, key) not in (None, ()) for key in keys_of("gate"))

    @property
    def valid_floor(self) -> float:
        """Share of items that must be scored, 0 to 1: the limit of the gate ``valid``, or 0.9."""
        return next((gate.limit for gate in self.gate if gate.name == "valid"), VALID_FLOOR)

    @cached_property
    def of_suite(self) -> "Suite":
        from pytest_personalens.core.suite import get_suite

        return get_suite(self.suite).with_criteria(self.criteria)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the draw; empty for all kinds."""
        return () if self.kind == "all" else tuple(self.kind.split(","))

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The long names of what the judge is asked for: dimensions, and criteria of the team's own."""
        return (*self.dimensions, *self.criteria)

    @cached_property
    def thresholds(self) -> dict[str, int | float]:
        """Worst score with which an item passes, by measure that the run reads; some have defaults."""
        readings, of_suite = self.readings, self.of_suite.thresholds
        every = {measure.value: score for measure, score in of_suite.items()} | dict(self.threshold)
        return {d: s for d, s in every.items() if d in readings}


def check_expressions(settings: Settings) -> None:
    """Raise `SpecError` for two gates on the same thing, and for a gate or margin on what is not measured."""
    names, suite = set[str](), settings.of_suite
    for gate in settings.gate:
        where = f"--personalens-gate: {gate.name}"
        if gate.name.lower() in names:
            raise SpecError(f"{where} has two floors; give one", code="PL108")
        names.add(gate.name.lower())
        if not is_metric(gate.metric, suite):  # can only come from a results file that was edited by hand
            raise SpecError(f"{where}: unknown metric {gate.metric!r}")
        if problem := _not_measured(gate, settings, suite):
            raise SpecError(f"{where}{problem}", code="PL108")
    for name, _ in settings.margin if settings.baseline else ():
        where = f"personalens_margin: {suite.measure(name).short}"
        if name not in suite.gated:
            raise SpecError(f"{where} is not compared", code="PL108")
        if name not in settings.readings:
            problem = f"{where} is not judged in this run; add it with --personalens-dimensions"
            raise SpecError(problem, code="PL108")


def _not_measured(gate: GateExpression, settings: Settings, suite: "Suite") -> str:
    """Return why the run does not measure what the gate is on, with its punctuation, or ""."""
    measure, nothing = measure_of(gate, suite), ": there is nothing to compare with; add"
    if gate.metric == CRITERION_GATE:
        specs = judge_specs(settings.judge_model)
        spec = specs.get(ALL_CRITERIA, specs[""])
        if spec == "embedded" or settings.protocol_in_force != "default":
            return f": {NEEDS_MODEL}"
    if measure is not None and measure.value not in settings.readings:
        if advice := suite.not_scored(settings._asdict()).get(measure):
            return f": {advice}"
        return f" is not judged in this run; add {measure.short} with --personalens-dimensions"
    if gate.metric == LIMITS_BROKEN and Dimension.PERSONALIZATION not in settings.dimensions:
        return ": personalization is not judged in this run; add p with --personalens-dimensions"
    if gate.metric == LATENCY_P95 and settings.dialogues:
        return ": stored dialogues have no times"
    if gate.metric == "drop" and settings.baseline is None:
        return f"{nothing} --personalens-baseline PATH"
    if gate.metric == "gap" and not settings.slice:
        return ": there are no groups to compare; add -o personalens_slice=DEMOGRAPHIC"
    if gate.metric == "lift" and control_of(gate, suite, settings.control) is None:
        _, controls = suite.lift or (None, ())
        words = [gate.control] if gate.control else [c.word for c in suite.controls if c.name in controls]
        return f"{nothing} --personalens-control {' or '.join(words)}"
    k = gate.metric.removeprefix("pass^")
    if k != gate.metric and int(k) > settings.trials:
        return f": needs at least as many runs of each {suite.item}; add --personalens-trials {k}"
    return ""


def with_groups(
    gates: Sequence[GateExpression], domains: Collection[str], kinds: Sequence[str]
) -> tuple[GateExpression, ...]:
    """Return the gates with their groups in the dataset's spelling; raise `SpecError` for any other group."""
    known = {name.lower(): name for name in (*kinds, *domains)}
    for gate in gates:
        if gate.group and gate.group.lower() not in known:
            near = difflib.get_close_matches(gate.group.lower(), known, n=1)
            unknown = f"unknown group {gate.group!r}" + (f" (did you mean {known[near[0]]}?)" if near else "")
            raise SpecError(f"--personalens-gate: {unknown}; known: {', '.join(known.values())}")
    return tuple(gate._replace(group=known.get(gate.group.lower(), "")) for gate in gates)
