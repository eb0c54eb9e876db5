"""Measures: the dimensions of PersonaLens, a team's own criteria, and the figures that a gate may use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import ReprEnum
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.errors import SpecError, short_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.answer import Answer

#: A score of a judge. It is a whole number if the grid is 1.
Score = int | float
#: A score or a sum of scores, as statistics use it: without rounding.
Exact = int | Fraction
Better = Literal["high", "low"]
#: The beginning of the long name of a criterion of a team's own.
CRITERION: Final = "criterion "
_NAMED: Final = re.compile(rf"{CRITERION}([^\s:]{{1,32}}): (\S.*)")
#: No score of a judge is as large: the sums of larger ones are no numbers that statistics can hold.
_TOO_LARGE: Final = 1e15


class MeasureNames(NamedTuple):
    """The names of one measure.

    `short` is used in options, `title` where there is room, and `mean_of` in the sentence of a gate. `score`
    names one score and `mean` names a mean over scenarios. `heading` is the heading of the column of a mean
    in a text table. `paper_heading` is the same in the form of the paper's Table 3, which marks only the
    user's dimensions with their role.
    """

    short: str
    title: str
    mean_of: str
    score: str
    mean: str
    heading: str
    paper_heading: str = ""


class Scale(NamedTuple):
    """Lowest and highest score of a measure in steps, both possible."""

    low: int
    high: int


class Measure(str):
    """The long name of a measure, with all its properties.

    Scores lie on `grid`, from `low` to `high`. None means that there is no limit. `better` says which end is
    good. `kinds` are the kinds of scenario that have a score on this measure; empty means all kinds.
    """

    names: MeasureNames
    low: float | None
    high: float | None
    grid: Fraction
    is_whole: bool  # the grid is 1; to compare a fraction takes long
    better: Better
    kinds: tuple[str, ...]

    def __new__(
        cls,
        name: str,
        names: MeasureNames,
        low: float | None = 0,
        high: float | None = 1,
        grid: Fraction | int = 1,
        better: Better = "high",
        kinds: tuple[str, ...] = (),
    ) -> Measure:
        measure = super().__new__(cls, name)
        measure.names, measure.low, measure.high = names, low, high
        measure.grid, measure.better, measure.kinds = Fraction(grid), better, kinds
        measure.is_whole = grid == 1
        return measure

    def __reduce__(self) -> tuple[object, ...]:
        return Measure, (self.value, self.names, self.low, self.high, self.grid, self.better, self.kinds)

    @property
    def value(self) -> str:
        """The long name, which files use."""
        return str.__str__(self)

    @property
    def short(self) -> str:
        """The short name, which options use."""
        return self.names.short

    @property
    def purpose(self) -> str:
        """What a call of a model as the judge of this measure is for, in usage and on the tape."""
        of = "criteria " if self.value.startswith(CRITERION) else ""
        return f"judge {of}{self.short}"

    @property
    def in_steps(self) -> bool:
        """True for whole scores between two ends, which can be counted and charted one by one."""
        return self.is_whole and self.span is not None

    @property
    def span(self) -> float | None:
        """Distance from the lowest to the highest score; None if one of them is missing."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def scale(self) -> Scale:
        """Lowest and highest score of a measure in steps."""
        return Scale(int(self.low or 0), int(self.high or 0))

    @property
    def worst(self) -> float | None:
        """Worst possible score, or None if there is none."""
        return self.low if self.better == "high" else self.high

    @property
    def sign(self) -> int:
        """1 if more is better, else -1."""
        return 1 if self.better == "high" else -1

    def of_kinds(self, kinds: tuple[str, ...]) -> Measure:
        """Return the measure for a suite in which only scenarios of these kinds have a score on it."""
        return Measure(self.value, self.names, self.low, self.high, self.grid, self.better, kinds)

    def is_read_in(self, kind: str) -> bool:
        """True if scenarios of that kind have a score on this measure."""
        return not self.kinds or kind in self.kinds

    def range_text(self) -> str:
        """Return the range as text, such as ``1 to 4``, or ``0 or more``."""
        if self.high is None:
            return "any number" if self.low is None else f"{self.low:g} or more"
        return f"{self.high:g} or less" if self.low is None else f"{self.low:g} to {self.high:g}"

    def holds(self, score: object) -> bool:
        """True for a finite number within the range and on the grid."""
        if not isinstance(score, (int, float)) or not abs(score) < _TOO_LARGE:  # NaN too
            return False
        within = (self.low is None or score >= self.low) and (self.high is None or score <= self.high)
        return within and score == (round(score) if self.is_whole else float(_nearest(score, self.grid)))

    def check(self, score: Score) -> None:
        """Raise `ValueError` for a score outside the range or off the grid."""
        if not self.holds(score):
            raise ValueError(f"{self.value} is scored {self.range_text()}, not {short_repr(score, 40)}")

    def on_grid(self, score: float) -> Score:
        """Return the nearest score on the grid, as an int if it is whole."""
        if self.is_whole:
            return round(score)
        found = float(_nearest(score, self.grid))
        return int(found) if found.is_integer() else found

    def exact(self, score: Score) -> Exact:
        """Return a score as an exact number; sums of floats would differ in their last bits."""
        return int(score) if self.is_whole else _nearest(score, self.grid)

    def is_worse(self, score: float, other: float) -> bool:
        return score < other if self.better == "high" else score > other


@lru_cache(maxsize=4096)  # few scores of a run differ
def _nearest(score: Score, grid: Fraction) -> Fraction:
    return round(Fraction(score) / grid) * grid


#: Long name -> the measure with that name. A name means the same measure in all suites.
_KNOWN: Final[dict[str, Measure]] = {}


def add_measures(measures: Iterable[Measure]) -> None:
    """Register measures; raise `SpecError` if a different measure already has the name.

    Only the kinds of a measure may differ from suite to suite.
    """
    for measure in measures:
        registered = _KNOWN.setdefault(measure.value, measure)
        if registered.of_kinds(measure.kinds).__reduce__() != measure.of_kinds(measure.kinds).__reduce__():
            problem = f"two suites have different measures of the name {measure.value!r}"
            raise SpecError(f"{problem}; rename one", code="PL307")


def get_measure(name: object) -> Measure:
    """Return the measure with that long name; raise ValueError if no loaded suite has it.

    The long name of a criterion of a team's own tells all of it, so that any file may hold one.
    """
    if isinstance(name, Measure):
        return name
    if isinstance(name, str) and name.startswith(CRITERION):
        # The criterion that was read last has its short name, which another run may have given another text.
        _KNOWN[name] = measure = _KNOWN.pop(name) if name in _KNOWN else _criterion(name)
        return measure
    if not isinstance(name, str) or name not in _KNOWN:
        raise ValueError(f"unknown measure {name!r:.60}; known: {', '.join(_KNOWN)}")
    return _KNOWN[name]


def _criterion(long_name: str) -> Measure:
    """Return the criterion ``criterion NAME: TEXT``; raise ValueError if that is none."""
    named = _NAMED.fullmatch(long_name)
    if named is None:
        raise ValueError(
            f"{long_name!r:.60} is no criterion, such as '{CRITERION}price-first: names the price'"
        )
    name = named[1]
    names = MeasureNames(name, name, f"share of dialogues that meet {name}", name, name, name, name)
    return Measure(long_name, names)


def find_measure(short: str) -> Measure | None:
    """Return the measure with that short name, or None if no loaded suite has it."""
    return next((measure for measure in reversed(_KNOWN.values()) if measure.short == short), None)


#: The word for all criteria together, where a judge of its own reads them: ``criteria=SPEC,SPEC``.
ALL_CRITERIA: Final = Measure("criteria", MeasureNames(*("criteria",) * 6))
#: Why a judge gives no reading of a criterion, and what to do.
NEEDS_MODEL: Final = (
    "criteria are read by a model as the judge, under the default protocol; name one with"
    " --personalens-judge-model, such as criteria=SPEC,embedded for the criteria alone"
)
#: What a model may answer, with its score. Only yes meets a criterion.
ANSWERS: Final = {"yes": 1, "no": 0, "cannot tell": 0}
_MOST_WORDS: Final = 100
_LONGEST_NAME: Final = 24
_WITH_NAME: Final = re.compile(r"([a-z][a-z0-9_-]{0,31}):(?:\s+|$)(.*)", re.DOTALL)


def name_of(text: str) -> str:
    """Return the short name of a criterion: the one before its colon, or its first words with dashes.

    >>> name_of("price-first: names the price before it books"), name_of("Names the price before booking")
    ('price-first', 'names-the-price-before')
    """
    if (named := _WITH_NAME.fullmatch(text.strip())) is not None:
        return named[1].replace("_", "-")
    words = re.findall(r"\w+", text.lower())
    name = ""
    for word in words:
        if len(longer := f"{name}-{word}" if name else word) > _LONGEST_NAME and name:
            break
        name = longer[:_LONGEST_NAME]
    return name


def read_criteria(value: object, taken: Collection[str]) -> tuple[str, ...]:
    """Return the long names of criteria, from a list of texts such as ``NAME: TEXT``, or the text alone.

    `taken` are the names of other measures. Raise ValueError for what is no list of texts, and for a text
    that is empty, too long or doubled.
    """
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(
            f"expected a list of texts, such as ['names the price'], not {short_repr(value, 60)}"
        )
    read: dict[str, str] = {}
    for number, text in enumerate(value, 1):
        where = f"criterion {number}"
        if not isinstance(text, str) or not (name := name_of(text)):
            raise ValueError(f"{where}: expected a text with words, not {short_repr(text, 60)}")
        said = " ".join((named[2] if (named := _WITH_NAME.fullmatch(text.strip())) else text).split())
        if not re.search(r"\w", said):
            raise ValueError(f"{where}: {name} has a name and no text")
        if (words := len(said.split())) > _MOST_WORDS or len(said) > 10 * _MOST_WORDS:
            raise ValueError(
                f"{where}: {name} has {words:,} words and {len(said):,} characters; the most are"
                f" {_MOST_WORDS} and {10 * _MOST_WORDS:,}: ask one thing, and make others of the rest"
            )
        if said in read.values():
            raise ValueError(f"{where}: {short_repr(said, 60)} stands there twice; leave one out")
        if name in read or name in taken:
            why = (
                "another criterion has that name" if name in read else "a reading of the suite has that name"
            )
            raise ValueError(f"{where}: {name}: {why}; give it one of its own: NAME: TEXT")
        read[name] = said
    return tuple(f"{CRITERION}{name}: {said}" for name, said in read.items())


def text_of(measure: Measure) -> str:
    """Return the text of a criterion."""
    return measure.value.partition(": ")[2]


#: Numbers of one answer or of several together, as exact as a test of a lift needs them.
Row = tuple[Exact, ...]


@dataclass(frozen=True)
class OfSums:
    """A figure of answers that depends only on sums over them, such as F1 on its four counts.

    `rows` gives the numbers of each answer, 0 or more. `figure` is given the sums of the columns in `uses`,
    or of all columns. It rises or falls with each sum. Intervals and tests of such a figure need the sums
    only, so they are fast or exact.
    """

    rows: Callable[[Sequence[Answer]], Sequence[Row]]
    figure: Callable[[Row], float | None]
    uses: tuple[int, ...] = ()

    def __call__(self, answers: Sequence[Answer]) -> float | None:
        return self.figure(self.used(total(self.rows(answers))))

    def used(self, sums: Row) -> Row:
        """Return the sums that the figure depends on, of all sums."""
        return tuple(sums[column] for column in self.uses) if self.uses else sums


def total(rows: Sequence[Row]) -> Row:
    """Return the sum of each column of at least one row."""
    return tuple(sum(column) for column in zip(*rows, strict=True))


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure of a run that a gate may use.

    It is the mean of a `measure`, or the result of `of` for all answers. `label` is its name in a sentence,
    and `heading` is the heading of its column. `of` returns None if the answers do not determine the figure.
    A mean has the range and the better end of its measure.
    """

    name: str
    measure: Measure | None = None
    of: OfSums | None = None
    label: str = ""
    heading: str = ""
    low: float | None = 0
    high: float | None = 1
    better: Better = "high"
    #: The kinds whose answers it uses; empty for all.
    kinds: tuple[str, ...] = ()
    #: True if it also uses the answers that were not read and have no value.
    counts_unread: bool = False
    #: Why `of` returned None, for a gate that then fails.
    undecided: str = "what was answered does not decide it"
    #: Other names that a gate may use for it.
    aliases: tuple[str, ...] = ()

    @classmethod
    def mean(cls, name: str, measure: Measure, *aliases: str) -> Metric:
        """Return the metric for the mean of a measure."""
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
        """The kinds of items that the figure is about; empty for all."""
        return self.measure.kinds if self.measure is not None else self.kinds


#: Long name of a dimension -> its other names.
_NAMES: Final[Mapping[str, MeasureNames]] = {
    "task_completion": MeasureNames(
        "tc", "Task completion", "task completion rate", "TC", "TCR", "TCR", "TCR",
    ),
    "personalization": MeasureNames(
        "p", "Personalization", "mean personalization", "P", "P", "P", "P",
    ),
    "facts": MeasureNames(
        "facts", "Facts", "mean share of facts that stand", "Facts", "Facts", "Facts", "Facts",
    ),
    "naturalness_user": MeasureNames(
        "nat-user", "Naturalness of the user", "mean naturalness of the user",
        "Nat. user", "Nat. user", "Nat.u", "Nat.u",
    ),
    "naturalness_assistant": MeasureNames(
        "nat-assistant", "Naturalness of the assistant", "mean naturalness of the assistant",
        "Nat. asst.", "Nat. asst.", "Nat.a", "Nat",
    ),
    "coherence_user": MeasureNames(
        "coh-user", "Coherence of the user", "mean coherence of the user",
        "Coh. user", "Coh. user", "Coh.u", "Coh.u",
    ),
    "coherence_assistant": MeasureNames(
        "coh-assistant", "Coherence of the assistant", "mean coherence of the assistant",
        "Coh. asst.", "Coh. asst.", "Coh.a", "Coh",
    ),
    "personalization_turns": MeasureNames(
        "p-turns", "Personalization by turn", "mean personalization after the last turn",
        "P last", "P last", "P.last", "P.last",
    ),
    "opening_leak": MeasureNames(
        "leak", "Leak in the opening", "share of leaks in the opening", "Leak", "Leak", "Leak", "Leak",
    ),
    "unbacked": MeasureNames(
        "unbacked", "Claims without a call", "share of dialogues with a claim that no call stands behind",
        "Unbacked", "Unbacked", "Unb.", "Unb.",
    ),
    "intrusions": MeasureNames(
        "intrusions", "Intrusions", "share of dialogues that say what the task does not need",
        "Intrusions", "Intrusions", "Intr.", "Intr.",
    ),
}  # fmt: skip


class Dimension(Measure, ReprEnum):
    """A dimension that the judge scores (paper, section 3.2, Figures 16 to 20), or one of our own.

    Scores are 0 or 1 for task completion (TC), the leak check, unbacked and intrusions, 1 to 4 for
    personalization (P), and 1 to 5 for naturalness and coherence.

    `FACTS`, `UNBACKED` and `INTRUSIONS` are our own. Facts is the share, 0 to 1, of the closed facts of the
    task's parts that the assistant's replies affirm in the end; typed values are compared, and no model reads
    them. Unbacked is 1 if the assistant says that it did what no tool call did. Intrusions is 1 if it says or
    acts on something of the user that the task does not need.
    """

    TASK_COMPLETION = "task_completion", 0, 1
    PERSONALIZATION = "personalization", 1, 4
    FACTS = "facts", 0, 1, "high", Fraction(1, 1000)
    NATURALNESS_USER = "naturalness_user", 1, 5
    NATURALNESS_ASSISTANT = "naturalness_assistant", 1, 5
    COHERENCE_USER = "coherence_user", 1, 5
    COHERENCE_ASSISTANT = "coherence_assistant", 1, 5
    PERSONALIZATION_TURNS = "personalization_turns", 1, 4
    OPENING_LEAK = "opening_leak", 0, 1
    UNBACKED = "unbacked", 0, 1, "low"
    INTRUSIONS = "intrusions", 0, 1, "low"

    def __new__(
        cls, name: str, low: int = 0, high: int = 1, better: Better = "high", grid: Fraction | int = 1
    ) -> Dimension:
        member = super().__new__(cls, name, _NAMES[name], low, high, grid, better)
        member._value_ = name  # type: ignore[attr-defined]
        return member  # type: ignore[return-value]


add_measures(Dimension)

#: What task completion is read from, in the words of every message about a reading without any of it.
NEEDS_FACTS: Final = "task completion needs facts, tool calls, a state or a model"
#: Why there is no share of facts.
NO_FACTS: Final = "no part of the task has a fact with a right value"
#: The six readings of a dialogue (paper, Table 3). There are four more: the share of facts that stand, P by
#: turn (Figure 5), whether the simulated user states a preference in the opening, which would make P
#: meaningless, and whether the assistant claims what no tool call did.
READINGS: Final = (
    Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.NATURALNESS_USER,
    Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_USER, Dimension.COHERENCE_ASSISTANT,
)  # fmt: skip
#: What annotators may label.
LABELLED: Final = (*READINGS, Dimension.UNBACKED)
DEFAULT_DIMENSIONS: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
#: The main readings where typed values are read without a model. Intrusions are read by default beside them.
FREE_DIMENSIONS: Final = (*DEFAULT_DIMENSIONS, Dimension.FACTS)


def dimensions(names: Iterable[str]) -> tuple[Dimension, ...]:
    """Return dimensions by long or short name, in the benchmark's order; "all" means the six `READINGS`.

    Raise `SpecError` for an unknown name; the text names the known ones.
    """
    by_name = {name: (d,) for d in Dimension for name in (d.short, d.value.replace("_", "-"))}
    chosen: set[Dimension] = set()
    for name in names:
        key = name.strip().lower().replace("_", "-")
        if key != "all" and key not in by_name:
            raise SpecError(f"unknown dimension {name!r}; known: {', '.join(d.short for d in Dimension)}")
        chosen.update(READINGS if key == "all" else by_name[key])
    return tuple(d for d in Dimension if d in chosen)
