"""What a judge said, on which scale, and on what evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from pytest_personalens.core.dimensions import DEFAULT_DIMENSIONS as DEFAULT_DIMENSIONS
from pytest_personalens.core.dimensions import READINGS as READINGS
from pytest_personalens.core.dimensions import Dimension as Dimension
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.measure import Measure, Score, measure_named
from pytest_personalens.core.scenario import Frozen, Text
from pytest_personalens.core.suite import suite_named

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue import Dialogue


def _by_name(value: object) -> Measure:
    return measure_named(value)


def _as_whole(score: Score) -> Score:
    return int(score) if isinstance(score, float) and score.is_integer() else score


ScoreField = Annotated[Score, AfterValidator(_as_whole)]
#: A measure as a field: files hold its long name.
MeasureField = Annotated[
    Measure,
    PlainValidator(_by_name),
    PlainSerializer(lambda measure: measure.value, return_type=str),
    WithJsonSchema({"type": "string"}),
]


def _open(name: str) -> str:
    try:
        return suite_named(name).name
    except SpecError as error:
        raise ValueError(str(error)) from None


#: The name of a suite as a field, before those that hold what it measures.
SuiteField = Annotated[str, AfterValidator(_open)]

_QUOTE: Final = 160


class Evidence(Frozen):
    """What a verdict rests on: a `quote` of message number `turn` (from 0), and what it shows."""

    turn: int = Field(ge=0)
    quote: Text
    note: Text = ""

    @classmethod
    def of(cls, turn: int, text: str, note: str = "") -> Evidence:
        """Evidence with its quote in one line of at most 160 characters."""
        quote = " ".join(text.split())
        return cls(turn=turn, quote=quote if len(quote) <= _QUOTE else f"{quote[: _QUOTE - 3]}...", note=note)


#: What became of a preference: a verdict on personalization rests on it.
PreferenceCode = Literal[
    "asks-known", "contradicts", "ignores", "recites", "uses-stated", "applies", "anticipates"
]
#: The last state of a part of the goal: a verdict on task completion rests on it.
PartState = Literal["done", "promised", "proposed", "refused", "handed-back", "wrong", "missing"]
ReasonCode = Literal[PreferenceCode, PartState]


class Reason(Frozen):
    """A reason that a program can read: a code, what it is about, and the message it was seen in.

    About a preference: `domain`, `type` and `value`. About a part of the goal: `part`, and `code` is its last
    state.
    """

    code: ReasonCode
    domain: str = ""
    type: str = ""
    value: str = ""
    part: str = ""
    turn: int | None = Field(default=None, ge=0)


class Vote(Frozen):
    """One of several votes that a verdict was decided by."""

    score: ScoreField
    justification: Text


#: Fields of a verdict that hardly any has.
_RARE: Final = ("observations", "improvements", "unfound_quotes", "unsupported")


class Verdict(Frozen):
    """One reading of one dialogue; `score` lies on the measure's scale and grid (task completion: 1 is done,
    0 is not).

    `turns` holds a score for each turn of the assistant where the reading is by turn; `score` is then the
    last one. `votes` holds every vote where more than one was cast. `observations` and `improvements` are
    what a judge gives beside its justification under the paper's protocol (Figure 17). The quotes of a model
    are looked up in the transcript: `unfound_quotes` were not in it and are no evidence; the verdict is
    `unsupported` where none was, also when the model was asked again. None of these four is stored where
    there is none of it.
    """

    dimension: MeasureField
    score: ScoreField
    justification: Text
    evidence: tuple[Evidence, ...] = ()
    reasons: tuple[Reason, ...] = ()
    turns: tuple[ScoreField, ...] = ()
    votes: tuple[Vote, ...] = ()
    observations: tuple[Text, ...] = ()
    improvements: tuple[Text, ...] = ()
    unfound_quotes: int = Field(default=0, ge=0)
    unsupported: bool = False

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # What hardly a verdict has stands in no record that lacks it, so that records stay as they were.
        data: dict[str, Any] = serialize(self)
        return {name: value for name, value in data.items() if value or name not in _RARE}

    @model_validator(mode="after")
    def _on_scale(self) -> Verdict:
        for score in (self.score, *self.turns, *(v.score for v in self.votes)):
            if not self.dimension.holds(score):
                raise ValueError(
                    f"{self.dimension.value} is scored {self.dimension.range_text()}, not {score:g}"
                )
        return self


class Judge(Protocol):
    """Reads a dialogue on one dimension.

    `identity` names the judge, its rubric version and all that shapes its verdicts; `paid` is true when a
    reading costs money. A judge that has an attribute `dimensions` gives these readings and no other. A judge
    whose attribute `parallel` is true (default: false) may be asked from several threads, and gives its
    readings of a dialogue side by side. A judge of a suite whose items have a true answer has a method
    `answer` too, (scenario, dialogue) -> `Answer`.
    """

    identity: str
    paid: bool

    def verdict(self, scenario: Any, dialogue: Dialogue, dimension: Any) -> Verdict:
        """The reading of a `Scenario` on a `Dimension`, or of what its suite has in their places.

        Raises `JudgeFault` when no verdict can be had, never guesses one.
        """
        ...
