"""A suite: its name, its items and measures, how to run it, and what a page shows of them."""

from __future__ import annotations

import importlib
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, ConfigDict

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.measure import Measure, Metric, add_measures, get_measure
from pytest_personalens.core.names import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import Dialogue, UserAgent
    from pytest_personalens.core.judging.verdict import Judge, UserFault
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import BaseScenario, Context

    #: The settings of a run or of a results file, by name.
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


@dataclass(frozen=True, kw_only=True)
class Control:
    """A control: the same items with less context or another user's. Options and reports use its `word`."""

    name: str
    word: str
    title: str = ""
    #: True if its items need another user's scenario.
    swaps: bool = False


class Suite:
    """A suite: its items, measures and gates (all that results and reports need), and how to run it.

    A suite is a subclass that overrides what differs. Methods that take `settings` by name are also asked
    about the settings of a results file, where any may be missing.
    """

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
    #: The measures that the word ``all`` stands for, where these are not all that are compared.
    in_all: tuple[Measure, ...] = ()
    #: Measures that the suite's own scorer reads also where a model judges, because they need none.
    free: tuple[Measure, ...] = ()
    metrics: tuple[Metric, ...]
    #: An example of a gate's expression, for messages.
    gate_example: str
    #: The measure and the controls of the gate ``lift`` without an argument; the first that was run counts.
    lift: tuple[Measure, tuple[str, ...]] | None = None
    controls: tuple[Control, ...] = ()
    #: What the run itself has, and a control has not.
    own: str = "this user's context"
    #: What the controls lack.
    without: str = "with the context withheld, or another user's"
    #: Word -> the controls that it stands for together.
    control_groups: Mapping[str, tuple[str, ...]] = {}
    #: What the bots of the example project reach by the suite's own scorer on its own data, in a sentence.
    bearings: str = ""
    #: The worst score with which an item passes, by measure.
    thresholds: Mapping[Measure, float] = {}
    #: True if it makes sense to count the turns of its dialogues.
    has_turns: bool = True
    #: True if the assistant itself keeps what its users tell it: each item then has users of its own.
    remembers: bool = False
    #: True if its kinds have measures of their own, so that each gets a table in the summary.
    table_by_kind: bool = False
    #: True if each kind tests something else, so that a rise of one must not hide the fall of another: the
    #: first of `main` is compared with a baseline by kind, too.
    kinds_apart: bool = False
    #: What its items are made of, in the singular, where some of it gives no item.
    made_of: str = "entry"
    #: Why something gives no item, or what a request gives away -> its words in reports.
    words: Mapping[str, str] = {}
    #: How far back lies what its items rest on, which reports show as ranges; datasets differ in the unit.
    distances: tuple[Distance, ...] = ()
    #: The class of its scenarios.
    scenario: type[BaseScenario]
    #: True if no other agent than a model can replace the suite's own user.
    only_models_ask: bool = False
    #: The name and version of the audit of users: what it found in a dialogue is used again while this is the
    #: same. It is empty if no user is audited.
    auditor: str = ""
    #: Option key -> its default, if it differs from the default in the table of options.
    defaults: Mapping[str, Any] = {}
    #: Keys of the options that have no meaning in this suite.
    lacks: Collection[str] = ()
    #: The values of the option protocol, with the default first.
    protocols: tuple[str, ...] = ("default", "paper")

    # The dataset, and its draw.

    def open_dataset(self, spec: str, base: Path, settings: Settings) -> Any:
        """Return the dataset of a spec; a relative path starts at `base`. Raise `DataError`."""
        raise NotImplementedError

    def draw_order(self, drawn: Mapping[str, int]) -> Sequence[str]:
        """Return the strata of the draw, the next one first; by default the kinds take turns."""
        return sorted(self.kinds, key=lambda kind: drawn.get(kind, 0))

    def source(self, dataset: Any) -> tuple[Mapping[str, int], Mapping[str, Mapping[str, int]]]:
        """Return the number of items by kind, and by reason that of what gave none."""
        return {}, {}

    def left_out(self, dataset: Any) -> Iterator[str]:
        """Yield a line for each thing that gave no item."""
        return iter(())

    def other_user(self, dataset: Any, seed: str, ref: Any) -> Any:
        """Return another user's scenario, for a control that swaps; raise `SpecError` if there is none."""
        raise SpecError("--personalens-control: this suite gives nobody another user's context", code="PL108")

    def check_data(self, spec: str, words: int) -> DataCheck | None:
        """Return what `check-dataset` tells about a dataset, or None if it is no data of this suite.

        `words` is the number of words to compare. Raise `DataError` if it cannot be read.
        """
        return None

    # The agents.

    def asker(self, settings: Settings) -> UserAgent:
        """Return the user agent if no model plays it."""
        raise NotImplementedError

    def scorer(self, settings: Settings, root: str) -> Judge:
        """Return the judge if no model judges; relative paths start at `root`."""
        raise NotImplementedError

    def prepare(self, settings: Settings, root: str) -> None:
        """Open what the scorer needs before the run begins; raise `SpecError` for what is missing."""

    def played(self, settings: Settings, model: Any, meter: Any, context: Context) -> Any:
        """Return the assistant that a model plays, or None if it is told what the first suite tells it."""
        return None

    def judged(self, model: Any, meter: Any, temperature: float) -> Judge | None:
        """Return the judge that a model plays, or None if it judges as in the first suite."""
        return None

    def user_played(self, model: Any, meter: Any) -> UserAgent | None:
        """Return the user that a model plays, or None if it plays as in the first suite."""
        return None

    def audit(self, scenario: Any, dialogue: Dialogue) -> tuple[UserFault, ...]:
        """Return the faults of the simulated user."""
        return ()

    # What an item gets, in the run itself and in a control.

    def read_context(self, text: str) -> str:
        """Return the value of the option context; raise ValueError for another text."""
        return text.strip()

    def given(self, context: str, control: str) -> str:
        """Return what the assistant gets in a control; the run itself has the control ""."""
        return control or context

    def context(
        self, settings: Settings, scenario: BaseScenario, given: str, other: BaseScenario | None
    ) -> Context:
        """Return what the assistant may know; `other` is another user's scenario if the control swaps."""
        return (other or scenario).context(given)

    def situated(
        self, settings: Settings, scenario: BaseScenario, given: str, other: BaseScenario | None
    ) -> BaseScenario:
        """Return the scenario in the form for its asker and its scorer."""
        return scenario

    def controls_request(self, settings: Settings) -> bool:
        """True if a control changes what the user says, and not only the context."""
        return False

    # What is read, refused and said.

    def default_measures(self, settings: SettingsByName) -> tuple[Measure, ...]:
        """Return the measures that are read if no option names any."""
        return self.main

    def not_scored(self, settings: SettingsByName) -> Mapping[Measure, str]:
        """Return measures that the scorer does not give, each with the reason, a semicolon and what to do.

        The text is empty if there is nothing to do.
        """
        return {}

    def needs(self, settings: Settings, scenario: Any, measure: Measure) -> str:
        """Return what the scorer needs to read a measure of a scenario where its words do not tell, or ""."""
        return ""

    def check(self, settings: Settings) -> None:
        """Raise `SpecError` for settings that contradict each other."""

    def about(self, settings: Settings) -> str:
        """Return further text in the header about how the items are run."""
        return ""

    def judge_of_run(self, identity: str) -> str:
        """Return the identity of the judge of a run, which two runs must share, from that of an item's."""
        return identity

    def terms(self, settings: SettingsByName) -> dict[str, str]:
        """Return what two runs must have in common, besides dataset and agents."""
        return {}

    def facts(self, settings: SettingsByName) -> dict[str, str]:
        """Return facts for reports, by the name of the fact."""
        return {}

    def kind_name(self, kind: str) -> str:
        """Return the name of a kind on the page."""
        return kind

    def notes(self, kind: str, items: Sequence[Any]) -> Iterator[str]:
        """Yield further lines under the table of a kind, from the items of the run itself."""
        return iter(())

    def outcome(self, item: Any) -> str:
        """Return a word for an item's answer that the page can filter by, such as ``right``, or ""."""
        return ""

    def given_words(self, settings: SettingsByName, given: str) -> str:
        """Return what the assistant is given in words, for an item on the page."""
        return ""

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
        return tuple(measure.value for measure in self.default_measures(settings))

    def measures_of(self, scenario: BaseScenario, names: Collection[str]) -> tuple[Measure, ...]:
        """Return those of the measures by their long names that the scenario has a score on."""
        named = {m.value: m for m in self.measures if not m.kinds or scenario.kind in m.kinds}
        return tuple(named[name] for name in names if name in named and scenario.is_read_on(name))

    def headings(self) -> dict[str, str]:
        """Return the column heading of each figure by its key, in the order of tables."""
        columns = {measure.value: measure.names.heading for measure in self.measures}
        return columns | {m.name: m.heading or m.name for m in self.metrics if m.of is not None}

    def control(self, name: str) -> Control:
        """Return the control with that name; an unknown name is its own word and title."""
        return next((c for c in self.controls if c.name == name), Control(name=name, word=name, title=name))

    def control_word(self, name: str) -> str:
        return self.control(name).word

    def controls_by_word(self) -> dict[str, tuple[str, ...]]:
        """Return the controls that each word of the option control asks for."""
        telling_first = sorted(self.controls, key=lambda control: control.word == control.name)
        return {control.word: (control.name,) for control in telling_first} | dict(self.control_groups)

    def with_criteria(self, names: Sequence[str]) -> Suite:
        """Return the suite with criteria of a team's own, by their long names; each is to be met."""
        if not names:
            return self
        known = _WITH_CRITERIA.get((self.name, tuple(names)))
        if known is not None:
            return known
        new = tuple(m for m in map(get_measure, names) if m not in self.measures)
        known = _WITH_CRITERIA[self.name, tuple(names)] = copy(self)
        known.measures = (*self.measures, *new)
        known.compared = (*self.gated, *new)
        known.metrics = (*self.metrics, *(Metric.mean(m.short, m) for m in new))
        known.thresholds = {**self.thresholds, **dict.fromkeys(new, 1)}
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
