"""Measures of a suite, a team's own criteria, which are measures too, and the figures that a gate may use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.errors import SpecError, short_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

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
