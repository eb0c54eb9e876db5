"""A suite, as a value: its name, its items and measures, how to run it, and what a page shows of them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Protocol

from pydantic import AfterValidator, ConfigDict

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.evaluation import Metric
from pytest_personalens.core.judging.measure import Measure, add_measures, get_measure
from pytest_personalens.core.suite_names import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import Dialogue, UserAgent
    from pytest_personalens.core.judging.verdict import Judge, UserFault
    from pytest_personalens.core.scenario import BaseScenario, Context

    #: The settings of a run, by name.
    SettingsByName = Mapping[str, Any]


def _open(name: str) -> str:
    try:
        return get_suite(name).name
    except SpecError as error:
        raise ValueError(str(error)) from None


#: The name of a suite as a field. It comes before the fields that hold the suite's measures.
SuiteField = Annotated[str, AfterValidator(_open)]


class Distance(NamedTuple):
    """How long before the end a user said what an item rests on.

    `of` returns that for a scenario, or None if nobody knows. `title` says what it counts. A range ends at
    each of `steps`, and the last range is open. Without steps, each number is a range.
    """

    title: str
    steps: tuple[int, ...]
    of: Callable[[Any], int | None]

    def range_of(self, far: int) -> str:
        """Return the name of the range of a number, such as ``8 to 30``."""
        if not self.steps:
            return f"{far:,}"
        place = sum(far > step for step in self.steps)
        if place == 0:
            return f"up to {self.steps[0]:,}"
        low, *high = self.steps[place - 1 : place + 1]
        return f"{low + 1:,} to {high[0]:,}" if high else f"over {low:,}"


@dataclass(frozen=True)
class Finding:
    """One problem: its rule, its file, its field and a message."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    rule: str
    file: str
    field: str
    message: str


@dataclass(frozen=True, kw_only=True)
class DataCheck:
    """The measures and the problems of a dataset of any suite, ready to be printed.

    A row is a measure, its value and its goal. `summary` are lines below the rows, `details` further ones on
    demand, and `every` one for each part that is not used. `rules` is the number of rules that were checked.
    `report` is everything as an object for JSON.
    """

    dataset: str
    rows: Sequence[tuple[str, str, str]]
    summary: Sequence[str] = ()
    details: Sequence[str] = ()
    every: Sequence[str] = ()
    findings: Sequence[Finding]
    rules: int
    report: Mapping[str, Any]


class StoredReplies(Protocol):
    """Replies of an earlier run, by the id of their item."""

    @property
    def items(self) -> Collection[str]:
        """The ids of the items with a reply."""
        ...

    def of_item(self, item: str) -> Callable[[Any], object]:
        """Return the assistant of an item; it raises `AssistantFault` if there is no reply."""
        ...


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A control: the same items with less context or another user's. Options and reports use its `word`."""

    name: str
    word: str
    title: str = ""
    #: True if its items need another user's scenario.
    swaps: bool = False


def _no_other_user(dataset: Any, seed: str, ref: Any) -> Any:
    raise SpecError("--personalens-control: this suite gives nobody another user's context", code="PL108")


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite: its items, measures and gates (all that results and reports need), and how to run it."""

    name: str
    #: The words for one of its items, for what the assistant does in it, and for who scores that.
    item: str = "scenario"
    dialogue: str = "dialogue"
    judged_by: str = "judge"
    #: The kinds of its items, in the order of tables.
    kinds: tuple[str, ...]
    #: Domains that gates may name even if no item of a run has them. The dataset may have others.
    domains: tuple[str, ...] = ()
    #: All measures that its scorer may give, in the order of tables.
    measures: tuple[Measure, ...]
    #: Measures that are compared with a baseline and a control. If it is empty, all measures are.
    compared: tuple[Measure, ...] = ()
    #: Measures that are tested against a baseline, and read, if no option says otherwise.
    main: tuple[Measure, ...]
    #: Settings -> the measures that are read if no option names any, where these are not the main ones.
    read_by_default: Callable[[SettingsByName], tuple[Measure, ...]] | None = None
    #: The measures that the word ``all`` stands for, where these are not all that are compared.
    in_all: tuple[Measure, ...] = ()
    #: Measures that the suite's own scorer reads also where a model judges, because they need none.
    free: tuple[Measure, ...] = ()
    metrics: tuple[Metric, ...]
    #: An example of a gate's expression, for messages.
    gate_example: str
    #: The measure and the arms of the gate ``lift`` without an argument. The first arm that was run counts.
    lift: tuple[Measure, tuple[str, ...]] | None = None
    arms: tuple[Arm, ...] = ()
    #: What the run itself has, and a control has not.
    own: str = "this user's context"
    #: What the controls lack.
    without: str = "with the context withheld, or another user's"
    #: Word -> the arms that it stands for together.
    arm_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: What the bots of the example project reach by the suite's own scorer on its own data, in a sentence.
    bearings: str = ""
    #: The worst score with which an item passes, by measure.
    thresholds: Mapping[Measure, float] = field(default_factory=dict)
    #: True if it makes sense to count the turns of its dialogues.
    has_turns: bool = True
    #: True if the assistant itself keeps what its users tell it: each item then has users of its own.
    remembers: bool = False
    #: True if its kinds have measures of their own, so that each gets a table in the summary.
    table_by_kind: bool = False
    #: True if each kind tests something else, so that a rise of one must not hide the fall of another: the
    #: first of `main` is compared with a baseline by kind, too.
    kinds_apart: bool = False
    #: Kind -> its name on the page.
    kind_name: Callable[[str], str] = str
    #: What its items are made of, in the singular, where some of it gives no item.
    made_of: str = "entry"
    #: Why something gives no item, or what a request gives away -> its words in reports.
    words: Mapping[str, str] = field(default_factory=dict)
    #: A kind and the items of the run itself -> further lines under the table of the kind.
    notes: Callable[[str, Sequence[Any]], Iterator[str]] = lambda kind, items: iter(())
    #: How far back lies what its items rest on, which reports show as ranges; datasets differ in the unit.
    distances: tuple[Distance, ...] = ()
    #: Item -> a word for its answer that the page can filter by, such as ``right``; empty for none.
    outcome: Callable[[Any], str] = lambda item: ""
    #: Settings and what the assistant is given -> this in words, for an item on the page.
    given_words: Callable[[SettingsByName, str], str] = lambda settings, given: ""

    #: The class of its scenarios.
    scenario: type[BaseScenario]
    #: Spec, root folder and settings -> its dataset. It raises `DataError`.
    open_dataset: Callable[[str, Path, SettingsByName], Any]
    #: Settings -> the user agent and the judge if no model plays these roles. The setting ``kind`` is that of
    #: the item, or empty. ``root`` is the folder at which relative paths start.
    asker: Callable[[SettingsByName], UserAgent]
    scorer: Callable[[SettingsByName], Judge]
    #: Settings, a model, its meter and a context -> the assistant that the model plays. Without it, the model
    #: is told what the first suite tells it.
    played: Callable[[SettingsByName, Any, Any, Context], Any] | None = None
    #: Settings, a model, its meter and a temperature -> the judge that the model plays. Without it, the model
    #: judges as in the first suite.
    judged: Callable[[SettingsByName, Any, Any, float], Judge] | None = None
    #: A model and its meter -> the user that it plays. Without it, the model plays as in the first suite.
    user_played: Callable[[Any, Any], UserAgent] | None = None
    #: A value of the option assistant that only this suite has -> the stored replies that play the assistant.
    stored_replies: Callable[[str, SettingsByName], StoredReplies | None] = lambda spec, settings: None
    #: Settings -> True if a control changes what the user says, and not only the context.
    controls_request: Callable[[SettingsByName], bool] = lambda settings: False
    #: Opens what this scorer needs before the run begins. It raises `SpecError` for what is missing.
    prepare: Callable[[SettingsByName], None] = lambda settings: None
    #: Settings -> the measures that this scorer does not give, each with the reason, a semicolon and what to
    #: do. The text is empty if there is nothing to do.
    not_scored: Callable[[SettingsByName], Mapping[Measure, str]] = lambda settings: {}
    #: Settings, scenario and measure -> what the suite's own scorer needs to read it, where words alone of
    #: this scenario do not tell; empty where they do.
    needs: Callable[[SettingsByName, Any, Measure], str] = lambda settings, scenario, measure: ""
    #: Identity of the judge of an item -> that of the judge of its run, which two runs must have in common.
    judge_of_run: Callable[[str], str] = str
    #: Option key -> its default, if it differs from the default in the table of options.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Keys of the options that have no meaning in this suite.
    lacks: Collection[str] = ()
    #: The values of the option protocol, with the default first.
    protocols: tuple[str, ...] = ("default", "paper")
    #: Reads the option context. It raises ValueError.
    read_context: Callable[[str], str] = str.strip
    #: Context of the run and name of an arm -> what the assistant gets in this arm.
    given: Callable[[str, str], str] = lambda context, arm: arm or context
    #: Settings, scenario, the assistant's part, and another user's scenario if the arm swaps -> the context.
    context: Callable[[SettingsByName, BaseScenario, str, BaseScenario | None], Context] = (
        lambda settings, scenario, given, other: (other or scenario).context(given)
    )
    #: The same arguments -> the scenario in the form for its asker and its scorer.
    situated: Callable[[SettingsByName, BaseScenario, str, BaseScenario | None], BaseScenario] = (
        lambda settings, scenario, given, other: scenario
    )
    #: Dataset -> by kind, the number of its items, and by reason that of what gave none.
    source: Callable[[Any], tuple[Mapping[str, int], Mapping[str, Mapping[str, int]]]] = lambda dataset: (
        {},
        {},
    )
    #: Dataset -> a line for each thing that gave no item.
    left_out: Callable[[Any], Iterator[str]] = lambda dataset: iter(())
    #: Scenario and dialogue -> the faults of the simulated user. Without it, no user is audited.
    audit: Callable[[Any, Dialogue], tuple[UserFault, ...]] | None = None
    #: The name and version of the audit: what it found in a dialogue is used again while this is the same.
    auditor: str = ""
    #: Number of drawn scenarios by stratum -> strata, beginning with the one to draw next.
    strata: Callable[[Mapping[str, int]], Sequence[str]] | None = None
    #: Dataset, seed and scenario by name -> another user's scenario, for an arm that swaps. It raises
    #: `SpecError`.
    other_user: Callable[[Any, str, Any], Any] = _no_other_user
    #: Raises `SpecError` for settings that contradict each other.
    check: Callable[[SettingsByName], None] = lambda settings: None
    #: Settings by name -> what two runs must have in common, besides dataset and agents.
    terms: Callable[[SettingsByName], dict[str, str]] = lambda settings: {}
    #: Settings by name -> further text in the header about how the items are run.
    about: Callable[[SettingsByName], str] = lambda settings: ""
    #: Spec of a dataset and a number of words to compare -> what `check-dataset` tells about it, or None if
    #: it is no data of this suite. It raises `DataError`.
    check_data: Callable[[str, int], DataCheck | None] = lambda spec, words: None
    #: Settings by name -> facts for reports, by the name of the fact.
    facts: Callable[[SettingsByName], dict[str, str]] = lambda settings: {}

    @property
    def gated(self) -> tuple[Measure, ...]:
        """The measures that are compared between results."""
        return self.compared or self.measures

    def metric(self, name: str) -> Metric | None:
        return next((m for m in self.metrics if name in (m.name, *m.aliases)), None)

    def metric_for(self, measure: Measure) -> Metric | None:
        return next((m for m in self.metrics if m.measure == measure), None)

    def metric_of(self, measure: Measure) -> str:
        """Return the name that a gate uses for the mean of a measure."""
        return next((m.name for m in self.metrics if m.measure == measure), measure.short)

    def measure(self, name: str) -> Measure:
        """Return the measure with that long or short name; raise `SpecError` if there is none."""
        key = name.strip().lower().replace("_", "-")
        for measure in self.measures:
            if key in (measure.short, measure.value.replace("_", "-")):
                return measure
        names = ", ".join(measure.short for measure in self.measures)
        raise SpecError(f"unknown dimension {name!r}; known: {names}")

    def measures_named(self, names: Collection[str]) -> tuple[Measure, ...]:
        """Return measures by name in their own order; "all" is what the suite means by it."""
        every = self.in_all or self.gated
        wanted = {
            m for name in names for m in (every if name.strip().lower() == "all" else (self.measure(name),))
        }
        return tuple(m for m in self.measures if m in wanted)

    def default_dimensions(self, settings: SettingsByName) -> tuple[str, ...]:
        """Return the long names of what is read if no option names anything."""
        measures = self.main if self.read_by_default is None else self.read_by_default(settings)
        return tuple(measure.value for measure in measures)

    def measures_of(self, scenario: BaseScenario, names: Collection[str]) -> tuple[Measure, ...]:
        """Return those of the measures by their long names that the scenario has a score on."""
        named = {m.value: m for m in self.measures if m.is_read_in(scenario.kind)}
        return tuple(named[name] for name in names if name in named and scenario.is_read_on(name))

    def headings(self) -> dict[str, str]:
        """Return the column heading of each figure by its key, in the order of tables."""
        columns = {measure.value: measure.names.heading for measure in self.measures}
        return columns | {m.name: m.heading or m.name for m in self.metrics if m.of is not None}

    def arm(self, name: str) -> Arm:
        """Return the arm with that name; an unknown name is its own word and title."""
        return next((arm for arm in self.arms if arm.name == name), Arm(name=name, word=name, title=name))

    def arm_word(self, name: str) -> str:
        return self.arm(name).word

    def arms_by_word(self) -> dict[str, tuple[str, ...]]:
        """Return the arms that each word of the option control asks for."""
        telling_first = sorted(self.arms, key=lambda arm: arm.word == arm.name)
        return {arm.word: (arm.name,) for arm in telling_first} | dict(self.arm_groups)

    def draw_order(self, drawn: Mapping[str, int]) -> Sequence[str]:
        """Return the strata of the draw, the next one first; by default the kinds take turns."""
        if self.strata is not None:
            return self.strata(drawn)
        return sorted(self.kinds, key=lambda kind: drawn.get(kind, 0))

    def with_criteria(self, names: Sequence[str]) -> Suite:
        """Return the suite with criteria of a team's own, by their long names; each is to be met."""
        if not names:
            return self
        known = _WITH_CRITERIA.get((self.name, tuple(names)))
        if known is not None:
            return known
        new = tuple(m for m in map(get_measure, names) if m not in self.measures)
        known = _WITH_CRITERIA[self.name, tuple(names)] = replace(
            self,
            measures=(*self.measures, *new),
            compared=(*self.gated, *new),
            metrics=(*self.metrics, *(Metric.mean(m.short, m) for m in new)),
            thresholds={**self.thresholds, **dict.fromkeys(new, 1)},
        )
        return known


_OPEN: Final[dict[str, Suite]] = {}
#: Name of a suite and long names of criteria -> the suite with them, which is asked for at every figure.
_WITH_CRITERIA: Final[dict[tuple[str, tuple[str, ...]], Suite]] = {}


def get_suite(name: str) -> Suite:
    """Return the suite with that name and register its measures; raise `SpecError` if it is unknown."""
    if name not in _OPEN:
        if name not in SUITES:
            raise SpecError(f"unknown suite {name!r}; known: {', '.join(SUITES)}")
        suite: Suite = importlib.import_module(SUITES[name]).SUITE
        add_measures(suite.measures)
        _OPEN[name] = suite
    return _OPEN[name]


def other_suites(name: str) -> Iterator[Suite]:
    return (get_suite(suite_name) for suite_name in SUITES if suite_name != name)
