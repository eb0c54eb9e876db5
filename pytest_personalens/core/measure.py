"""What a score is a score of: a measure of a suite, with its names, its range, and the grid of its scores."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A score of a judge: a whole number where the grid is 1.
Score = int | float
#: A score, or a sum of scores, as statistics reckon with it: without rounding.
Exact = int | Fraction
Better = Literal["high", "low"]


class MeasureNames(NamedTuple):
    """The names of one measure.

    `short` stands in options, `title` where there is room, `mean_of` in a gate's sentence. `score` and `mean`
    name one score and a mean over scenarios. `heading` is that of a mean's column in a table of text,
    `paper_heading` the same in the shape of the paper's Table 3, which says of the user's dimensions alone
    whose they are.
    """

    short: str
    title: str
    mean_of: str
    score: str
    mean: str
    heading: str
    paper_heading: str = ""


class Measure(str):
    """The long name of a measure, with all that is known of it.

    Scores lie on `grid`, from `low` to `high` (None: without end), and `better` says which end is the good
    one. `kinds` are the kinds of scenario that it is read in; empty for all.
    """

    names: MeasureNames
    low: float | None
    high: float | None
    grid: Fraction
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
        return measure

    def __reduce__(self) -> tuple[object, ...]:
        return Measure, (self.value, self.names, self.low, self.high, self.grid, self.better, self.kinds)

    @property
    def value(self) -> str:
        """The long name, as it stands in files."""
        return str.__str__(self)

    @property
    def short(self) -> str:
        """The name used in options."""
        return self.names.short

    @property
    def in_steps(self) -> bool:
        """True for whole scores between two ends: they can be counted and charted one by one."""
        return self.grid == 1 and self.span is not None

    @property
    def span(self) -> float | None:
        """From the lowest to the highest score; None without both."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def worst(self) -> float | None:
        """The score that nothing is worse than, if there is one."""
        return self.low if self.better == "high" else self.high

    @property
    def sign(self) -> int:
        """1 where more is better, else -1."""
        return 1 if self.better == "high" else -1

    def is_read_in(self, kind: str) -> bool:
        """True if scenarios of that kind are scored on it."""
        return not self.kinds or kind in self.kinds

    def range_text(self) -> str:
        """Such as ``1 to 4``, or ``0 or more``."""
        if self.high is None:
            return "any number" if self.low is None else f"{self.low:g} or more"
        return f"{self.high:g} or less" if self.low is None else f"{self.low:g} to {self.high:g}"

    def holds(self, score: object) -> bool:
        """True for a finite number within the range and on the grid."""
        if not isinstance(score, (int, float)) or not abs(score) < float("inf"):
            return False
        within = (self.low is None or score >= self.low) and (self.high is None or score <= self.high)
        return within and (self.on_grid(score) == score)

    def on_grid(self, score: float) -> Score:
        """The nearest score on the grid."""
        return round(score) if self.grid == 1 else float(self.exact(score))

    def exact(self, score: Score) -> Exact:
        """A score on the grid as a number to reckon with: sums of floats would differ in their last bits."""
        return int(score) if self.grid == 1 else round(Fraction(score) / self.grid) * self.grid

    def is_worse(self, score: float, other: float) -> bool:
        """True if `score` is worse than `other`."""
        return score < other if self.better == "high" else score > other


#: Long name -> the measure of that name: one in all suites.
_KNOWN: Final[dict[str, Measure]] = {}


def add_measures(measures: Iterable[Measure]) -> None:
    """Make measures known by their names. Raises `SpecError` for a name that another measure has."""
    for measure in measures:
        known = _KNOWN.setdefault(measure.value, measure)
        if known.__reduce__()[1] != measure.__reduce__()[1]:
            raise SpecError(f"two suites have different measures of the name {measure.value!r}; rename one")


def measure_named(name: object) -> Measure:
    """The measure of that long name. Raises ValueError where no suite that is open has it."""
    if isinstance(name, Measure):
        return name
    if not isinstance(name, str) or name not in _KNOWN:
        raise ValueError(f"unknown measure {name!r:.60}; known: {', '.join(_KNOWN)}")
    return _KNOWN[name]


def measure_called(short: str) -> Measure | None:
    """The measure of that short name, of a suite that is open."""
    return next((measure for measure in _KNOWN.values() if measure.short == short), None)
