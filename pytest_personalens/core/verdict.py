"""What a judge said, on which scale, and on what evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from pytest_personalens.core.dimension_names import NAMES, DimensionNames
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.scenario import Frozen, Scenario, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.dialogue import Dialogue


class Scale(NamedTuple):
    """Lowest and highest score of a dimension, both possible."""

    low: int
    high: int


class Dimension(StrEnum):
    """The readings of the benchmark's judge agent (paper, section 3.2 and Figures 16 to 20), and of ours
    whether the assistant says that it did what no tool call did (unbacked).
    """

    TASK_COMPLETION = "task_completion"
    PERSONALIZATION = "personalization"
    NATURALNESS_USER = "naturalness_user"
    NATURALNESS_ASSISTANT = "naturalness_assistant"
    COHERENCE_USER = "coherence_user"
    COHERENCE_ASSISTANT = "coherence_assistant"
    PERSONALIZATION_TURNS = "personalization_turns"
    OPENING_LEAK = "opening_leak"
    UNBACKED = "unbacked"

    @property
    def scale(self) -> Scale:
        """0-1 for task completion (TC), the leak check and unbacked claims, 1-4 for personalization (P),
        1-5 for the others.
        """
        if self in (Dimension.TASK_COMPLETION, Dimension.OPENING_LEAK, Dimension.UNBACKED):
            return Scale(0, 1)
        return (
            Scale(1, 4)
            if self in (Dimension.PERSONALIZATION, Dimension.PERSONALIZATION_TURNS)
            else Scale(1, 5)
        )

    @property
    def names(self) -> DimensionNames:
        """What it is called in sentences and tables."""
        return NAMES[self.value]

    @property
    def short(self) -> str:
        """The name used in options: tc, p, nat-user, nat-assistant, coh-user, coh-assistant, p-turns,
        leak, unbacked.
        """
        return self.names.short


#: The six readings of a dialogue (paper, Table 3). The others look closer: P by turn (Figure 5),
#: whether the simulated user's opening states a preference, which would spoil P, and whether the assistant
#: claims what it did not do.
READINGS: Final = tuple(Dimension)[:6]
DEFAULT_DIMENSIONS: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)


def dimension(name: str) -> Dimension:
    """The dimension of that long or short name; raises `SpecError` naming the known ones."""
    key = name.strip().lower().replace("_", "-")
    for dim in Dimension:
        if key in (dim.short, dim.value.replace("_", "-")):
            return dim
    raise SpecError(f"unknown dimension {name!r}; known: {', '.join(d.short for d in Dimension)}")


def dimensions(names: Iterable[str]) -> tuple[Dimension, ...]:
    """Dimensions by name, in the benchmark's order, each once; "all" stands for the six `READINGS`."""
    wanted = {
        d for name in names for d in (READINGS if name.strip().lower() == "all" else (dimension(name),))
    }
    return tuple(d for d in Dimension if d in wanted)


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

    score: int
    justification: Text


#: Fields of a verdict that hardly any has.
_RARE: Final = ("observations", "improvements", "unfound_quotes", "unsupported")


class Verdict(Frozen):
    """One reading of one dialogue; `score` lies on the dimension's scale (task completion: 1 is done, 0 is
    not).

    `turns` holds a score for each turn of the assistant where the reading is by turn; `score` is then the
    last one. `votes` holds every vote where more than one was cast. `observations` and `improvements` are
    what a judge gives beside its justification under the paper's protocol (Figure 17). The quotes of a model
    are looked up in the transcript: `unfound_quotes` were not in it and are no evidence; the verdict is
    `unsupported` where none was, also when the model was asked again. None of these four is stored where
    there is none of it.
    """

    dimension: Dimension
    score: int
    justification: Text
    evidence: tuple[Evidence, ...] = ()
    reasons: tuple[Reason, ...] = ()
    turns: tuple[int, ...] = ()
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
        low, high = self.dimension.scale
        for score in (self.score, *self.turns, *(v.score for v in self.votes)):
            if not low <= score <= high:
                raise ValueError(f"{self.dimension.value} is scored {low} to {high}, not {score}")
        return self


class Judge(Protocol):
    """Reads a dialogue on one dimension.

    `identity` names the judge, its rubric version and all that shapes its verdicts; `paid` is true when a
    reading costs money. A judge that has an attribute `dimensions` gives these readings and no other. A judge
    whose attribute `parallel` is true (default: false) may be asked from several threads, and gives its
    readings of a dialogue side by side.
    """

    identity: str
    paid: bool

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """The reading on `dimension`. Raises `JudgeFault` when no verdict can be had, never guesses one."""
        ...
