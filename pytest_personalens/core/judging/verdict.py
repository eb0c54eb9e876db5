"""The verdict of a judge, with its scale and its evidence, and a fault of the simulated user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Protocol

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from pytest_personalens.core.frozen import Frozen, Sparse, Text
from pytest_personalens.core.judging.measure import DEFAULT_DIMENSIONS as DEFAULT_DIMENSIONS
from pytest_personalens.core.judging.measure import LABELLED as LABELLED
from pytest_personalens.core.judging.measure import READINGS as READINGS
from pytest_personalens.core.judging.measure import Dimension as Dimension
from pytest_personalens.core.judging.measure import Measure, Score, get_measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.dialogue import Dialogue


def _as_whole(score: Score) -> Score:
    return int(score) if isinstance(score, float) and score.is_integer() else score


ScoreField = Annotated[Score, AfterValidator(_as_whole)]
#: A measure as a field. Files hold its long name.
MeasureField = Annotated[
    Measure,
    PlainValidator(get_measure),
    PlainSerializer(lambda measure: measure.value, return_type=str),
    WithJsonSchema({"type": "string"}),
]


_QUOTE: Final = 160


class Evidence(Frozen):
    """A `quote` of message number `turn` (from 0), and what it shows."""

    turn: int = Field(ge=0)
    quote: Text
    note: Text = ""

    @classmethod
    def of(cls, turn: int, text: str, note: str = "") -> Evidence:
        """Return evidence with a quote in one line of at most 160 characters."""
        quote = " ".join(text.split())
        return cls(turn=turn, quote=quote if len(quote) <= _QUOTE else f"{quote[: _QUOTE - 3]}...", note=note)


#: The most quotes of a verdict of the embedded judge.
MOST_EVIDENCE: Final = 4
#: How the assistant treated a preference. A verdict on personalization is based on it.
PreferenceCode = Literal[
    "limit-broken", "asks-known", "contradicts", "ignores", "recites", "uses-stated", "applies", "anticipates"
]
#: The last state of a part of the goal. A verdict on task completion is based on it.
PartState = Literal["done", "promised", "proposed", "refused", "handed-back", "wrong", "claimed", "missing"]
#: What was wrong with what an assistant remembers.
MemoryCode = Literal["not-said", "must-not-say", "told-again", "made-up", "not-admitted", "no-reply"]
#: What the assistant says or acts on without need for the task: whose or which it is.
IntrusionCode = Literal[
    "religion", "ethnicity", "health", "family", "age", "gender", "work", "other-domain", "other-person"
]
#: Why a criterion of a team's own was not met, where the judge did not answer no.
CriterionCode = Literal["cannot-tell"]
ReasonCode = Literal[PreferenceCode, PartState, MemoryCode, IntrusionCode, CriterionCode]


class Reason(Sparse):
    """A reason that a program can read: a code, its subject and its message.

    A reason about a preference has `domain`, `type` and `value`. A reason about a part of the goal has
    `part`, and `code` is the last state of that part. A reason about memory has the `value` that is said or
    missing, and one about an intrusion the `value` that is said. `turn` is the message in which the judge saw
    it. `detail` says what is wrong with a part, found and wanted: ``the day: Sunday 28 June, wanted Friday 26
    June``; it is stored only if it is not empty.
    """

    code: ReasonCode
    domain: str = ""
    type: str = ""
    value: str = ""
    part: str = ""
    turn: int | None = Field(default=None, ge=0)
    detail: str = ""
    rare: ClassVar[Mapping[str, object]] = {"detail": ""}


class Vote(Frozen):
    """One of several votes that decided a verdict."""

    score: ScoreField
    justification: Text


class Verdict(Sparse):
    """One reading of one dialogue.

    `score` lies on the measure's scale and grid. For task completion, 1 means done and 0 means not done.

    `turns` holds a score for each turn of the assistant if the reading is by turn; `score` is then the last
    one. `votes` holds every vote if there was more than one. `observations` and `improvements` are extra
    texts of a judge under the paper's protocol (Figure 17).

    The quotes of a model are searched in the transcript. `unfound_quotes` is the number of quotes that are
    not in it and are no evidence. A verdict is `unsupported` if no quote was found, even after the model was
    asked again. It is `echoed` if the line with its score stands in the transcript too, so that the judge may
    have repeated what the assistant wrote.
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
    echoed: bool = False
    rare: ClassVar[Mapping[str, object]] = {
        "observations": (), "improvements": (), "unfound_quotes": 0, "unsupported": False,
        "echoed": False,
    }  # fmt: skip

    @model_validator(mode="after")
    def _on_scale(self) -> Verdict:
        for score in (self.score, *self.turns, *(v.score for v in self.votes)):
            self.dimension.check(score)
        return self


class Judge(Protocol):
    """A judge, which reads a dialogue on one dimension.

    `identity` names the judge, its rubric version and everything that shapes its verdicts. `paid` is true if
    a reading costs money.

    A judge may have four further attributes. `dimensions` lists the readings that it gives; it gives no
    others. If `parallel` is true (default: false), several threads may ask the judge, and it gives its
    readings of a dialogue at the same time. If `reads_criteria` is true, it also reads criteria of a team's
    own: the dimension is then a `Measure` whose `value` ends with the text. A judge of a suite whose items
    have a true answer also has a method `answer`: (scenario, dialogue) -> `Answer`.
    """

    identity: str
    paid: bool

    def verdict(self, scenario: Any, dialogue: Dialogue, dimension: Any) -> Verdict:
        """Return the reading of a dialogue on one dimension.

        `scenario` is a `Scenario` and `dimension` a `Dimension`, or what the suite uses instead. Raise
        `JudgeFault` if there is no verdict; a judge never guesses one.
        """
        ...


#: What a simulated user may do wrong: it says another value than a fact of the scenario, ends the dialogue
#: before the deed, thanks for what was not done, speaks for the assistant, or says a sentence twice.
FaultCode = Literal["contradicted", "ended-early", "thanked-early", "spoke-as-assistant", "repeated"]
#: The fault that costs no dialogue.
HARMLESS: Final[FaultCode] = "repeated"


class UserFault(Frozen):
    """One fault of the simulated user at message `turn` of the dialogue, counted from 0.

    `quote` is the part of the message that shows it. It is empty if the user left without a word; `turn` is
    then the reply that it left. `text` is a plain sentence without a full stop, with both values where there
    are some: "says Saturday, the scenario says Friday 27 November".
    """

    code: FaultCode
    turn: int = Field(ge=0)
    quote: Text = ""
    text: Text
