"""A suite as a value: what its items are, what is measured of them, and how a run of it is made."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.measure import Better, Measure, add_measures
from pytest_personalens.core.suite_names import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue import UserAgent
    from pytest_personalens.core.evaluation import Answer
    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.core.verdict import Judge


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure of a run that a gate may be on: the mean of a `measure`, or what `of` makes of all answers.

    `label` is its name in a sentence, `heading` that of its column. `of` gives None where the answers do not
    decide it. The range and the better end of a mean are those of its measure.
    """

    name: str
    measure: Measure | None = None
    of: Callable[[Sequence[Answer]], float | None] | None = None
    label: str = ""
    heading: str = ""
    low: float | None = 0
    high: float | None = 1
    better: Better = "high"
    #: The kinds whose answers it is of; empty for all.
    kinds: tuple[str, ...] = ()
    #: Other names by which a gate may ask for it.
    aliases: tuple[str, ...] = ()

    @classmethod
    def mean(cls, name: str, measure: Measure, *aliases: str) -> Metric:
        """The mean of a measure."""
        return cls(
            name=name,
            measure=measure,
            label=measure.names.mean_of,
            heading=measure.names.heading,
            low=measure.low,
            high=measure.high,
            better=measure.better,
            aliases=aliases,
        )

    @property
    def read_in(self) -> tuple[str, ...]:
        """The kinds of items that it is a figure of; empty for all."""
        return self.measure.kinds if self.measure is not None else self.kinds

    @property
    def key(self) -> str:
        """By which `Group.figures` holds it: a mean by its measure, any other by its name."""
        return self.measure.value if self.measure is not None else self.name


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A control: the same items again, in which the assistant is given less, or what is another user's.

    `name` stands in items and results, `word` on the command line and in reports, `title` on the page.
    """

    name: str
    word: str
    title: str = ""
    #: True if an item of it needs another user's scenario.
    swaps: bool = False


def _same_scenario(scenario: BaseScenario, given: str, other: BaseScenario | None) -> BaseScenario:
    return scenario


def _known(scenario: BaseScenario, given: str, other: BaseScenario | None) -> Context:
    return (other or scenario).context(given)


def _one_of_each(kinds: Sequence[str]) -> Callable[[Mapping[str, int]], Sequence[str]]:
    return lambda drawn: sorted(kinds, key=lambda kind: (drawn.get(kind, 0), kinds.index(kind)))


def _nothing_wrong(settings: Any) -> None:
    return None


def _no_terms(settings: Mapping[str, Any]) -> dict[str, str]:
    return {}


def _no_stranger(dataset: Any, seed: str, ref: Any) -> Any:
    raise SpecError("--personalens-control: this suite gives nobody another user's context")


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What one suite is. The first block says what results and reports need, the second what a run needs."""

    name: str
    #: What its items are called, one of them.
    item: str = "scenario"
    #: In the order of tables.
    kinds: tuple[str, ...]
    #: Those that gates may name though no item of a run has them; its dataset may have others.
    domains: tuple[str, ...] = ()
    #: All that its scorer may be asked for, in the order of tables.
    measures: tuple[Measure, ...]
    #: Those that are held against a baseline and a control; all where none are named.
    compared: tuple[Measure, ...] = ()
    #: Those that are read, and tested against a baseline, where no option says otherwise.
    main: tuple[Measure, ...]
    metrics: tuple[Metric, ...]
    #: An expression of a gate, for messages.
    gate_example: str
    #: The measure and the arms, the first that was run, of the gate ``lift`` without an argument.
    lift: tuple[Measure, tuple[str, ...]] | None = None
    arms: tuple[Arm, ...] = ()
    #: Word -> the arms that it stands for together.
    arm_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Word that is gone -> the word for it now.
    gone_words: Mapping[str, str] = field(default_factory=dict)
    #: What an item must reach, by measure.
    thresholds: Mapping[Measure, float] = field(default_factory=dict)
    #: True if its dialogues have turns to be counted.
    has_turns: bool = True

    #: Class of its scenarios.
    scenario: type[BaseScenario]
    #: Spec and root folder -> its dataset. Raises `DataError`.
    open_dataset: Callable[[str, Path], Any]
    #: Who plays the user, and who scores, where no model does.
    asker: Callable[[], UserAgent]
    scorer: Callable[[], Judge]
    #: Measures that this scorer does not give.
    not_scored: tuple[Measure, ...] = ()
    #: Option key -> its default, where that is another than the table's.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Keys of the options that mean nothing in it.
    lacks: Collection[str] = ()
    #: What the option context gives. Raises ValueError.
    read_context: Callable[[str], str] = str.strip
    #: Context of the run and name of an arm -> what the assistant is given in it.
    given: Callable[[str, str], str] = lambda context, arm: arm or context
    #: Scenario, what is given, and another user's scenario where the arm swaps -> what is known of whom.
    context: Callable[[BaseScenario, str, BaseScenario | None], Context] = _known
    #: The same -> the scenario as its asker and its scorer are to have it.
    situated: Callable[[BaseScenario, str, BaseScenario | None], BaseScenario] = _same_scenario
    #: How many of each stratum are drawn -> strata, the one to be drawn next first.
    strata: Callable[[Mapping[str, int]], Sequence[str]] | None = None
    #: Dataset, seed and scenario by name -> another user's, for an arm that swaps. Raises `SpecError`.
    stranger: Callable[[Any, str, Any], Any] = _no_stranger
    #: Raises `SpecError` for settings that contradict each other.
    check: Callable[[Any], None] = _nothing_wrong
    #: Settings by name -> what two runs must have in common, beside dataset and agents.
    terms: Callable[[Mapping[str, Any]], dict[str, str]] = _no_terms
    #: Settings by name -> what else the header says of how the items are run.
    about: Callable[[Mapping[str, Any]], str] = lambda settings: ""
    #: The same -> what reports say of it: name of a fact -> fact.
    facts: Callable[[Mapping[str, Any]], dict[str, str]] = lambda settings: {}

    @property
    def gated(self) -> tuple[Measure, ...]:
        """The measures that results hold against each other."""
        return self.compared or self.measures

    def metric(self, name: str) -> Metric | None:
        """The metric of that name, or by another name that it has."""
        return next((m for m in self.metrics if name in (m.name, *m.aliases)), None)

    def metric_of(self, measure: Measure) -> str:
        """What a gate calls the mean of a measure."""
        return next((m.name for m in self.metrics if m.measure == measure), measure.short)

    def measure(self, name: str) -> Measure:
        """The measure of that long or short name. Raises `SpecError` naming the known ones."""
        key = name.strip().lower().replace("_", "-")
        for measure in self.measures:
            if key in (measure.short, measure.value.replace("_", "-")):
                return measure
        known = ", ".join(measure.short for measure in self.measures)
        raise SpecError(f"unknown dimension {name!r}; known: {known}")

    def measures_named(self, names: Collection[str]) -> tuple[Measure, ...]:
        """Measures by name, in their order, each once; "all" stands for those that are compared."""
        wanted = {
            m
            for name in names
            for m in (self.gated if name.strip().lower() == "all" else (self.measure(name),))
        }
        return tuple(m for m in self.measures if m in wanted)

    def headings(self) -> dict[str, str]:
        """The key of each figure of a group -> the heading of its column, in the order of tables."""
        columns = {measure.value: measure.names.heading for measure in self.measures}
        return columns | {m.name: m.heading or m.name for m in self.metrics if m.of is not None}

    def arm(self, name: str) -> Arm:
        """The arm of that name; one of an unknown name is called by it."""
        return next((arm for arm in self.arms if arm.name == name), Arm(name=name, word=name, title=name))

    def arm_word(self, name: str) -> str:
        """The word for an arm in options and reports."""
        return self.arm(name).word

    def arms_by_word(self) -> dict[str, tuple[str, ...]]:
        """Each word of the option control -> the arms that it asks for."""
        telling_first = sorted(self.arms, key=lambda arm: arm.word == arm.name)
        return {arm.word: (arm.name,) for arm in telling_first} | dict(self.arm_groups)

    def draw_order(self, drawn: Mapping[str, int]) -> Sequence[str]:
        """The strata of the draw, the one to be drawn next first: the kinds in turn, or its own."""
        return (self.strata or _one_of_each(self.kinds))(drawn)


_OPEN: Final[dict[str, Suite]] = {}


def suite_named(name: str) -> Suite:
    """The suite of that name, whose measures are known from then on.

    Raises `SpecError` naming the known suites.
    """
    if name not in _OPEN:
        if name not in SUITES:
            raise SpecError(f"unknown suite {name!r}; known: {', '.join(SUITES)}")
        suite: Suite = importlib.import_module(SUITES[name]).SUITE
        add_measures(suite.measures)
        _OPEN[name] = suite
    return _OPEN[name]


def other_suites(name: str) -> Iterator[Suite]:
    """Every suite but the one of that name."""
    return (suite_named(other) for other in SUITES if other != name)
