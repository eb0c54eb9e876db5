"""Who asks, for what, and where they are: the values a scenario is made of."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

Kind = Literal["single", "multi"]
_ROUNDS: Final[dict[Kind, int]] = {"single": 20, "multi": 30}

#: The twenty domains of the PersonaLens benchmark (paper, Table 1).
DOMAINS: Final = (
    "Alarm", "Books", "Buses", "Calendar", "Events", "Finance", "Flights", "Games", "Hotels", "Media",
    "Messaging", "Movies", "Music", "Rental Cars", "Restaurants", "Services", "Shopping", "Sports", "Train",
    "Travel",
)  # fmt: skip


def clean(text: str) -> str:
    """`text` as it can be stored anywhere: plain str, with lone surrogates (half of an emoji) replaced."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


#: What a model, a file or an assistant may have written. JSON can hold half an emoji, which no file and no
#: terminal takes.
Text = Annotated[str, AfterValidator(clean)]
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SLUG_LIMIT: Final = 80


def slug(text: str) -> str:
    """A name that is safe in file names and test ids: ``[a-z0-9-]``, at most 80 characters.

    Whatever is lost on the way (other letters, length) is made up for by a short digest of `text`, so
    that two different names do not share a slug. Upper case and spaces are not counted as lost.
    """
    plain = text.lower().replace(" ", "-").replace("_", "-")
    if _SLUG.fullmatch(plain) and len(plain) <= _SLUG_LIMIT:
        return plain
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    stem = "-".join(re.findall(r"[a-z0-9]+", ascii_text))[: _SLUG_LIMIT - 9].strip("-")
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{stem}-{mark}" if stem else mark


class ScenarioRef(NamedTuple):
    """A scenario by name only: enough to collect, filter and sample; `Dataset.load` makes it whole.

    `stratum` names the part of a draw that it counts for, where that is not its kind.
    """

    user: str
    task: str
    kind: str
    domains: tuple[str, ...]
    stratum: str = ""

    @property
    def id(self) -> str:
        """Slug of task and user, such as ``movies-1-user7``."""
        return slug(f"{self.task}-{self.user}")


class Frozen(BaseModel):
    """A value: immutable, strict about unknown fields, picklable, JSON through ``model_dump``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Situation(Frozen):
    """Where the user is while asking (paper, section 2.3 and Figure 11)."""

    location: Text
    device: Text
    time_of_day: Text
    day_of_week: Text
    environment: Text


#: The kinds of detail that a part of a goal may ask for.
Slot = Literal["name", "title", "time", "day", "price", "count", "length", "place", "seat", "number"]


class GoalPart(Frozen):
    """One thing that a goal asks for: a deed that must be carried out, or something that must be told."""

    text: Text
    kind: Literal["done", "told"]
    slots: tuple[Slot, ...] = Field((), description="Details that must appear.")
    words: tuple[Text, ...] = Field((), description="Words by which an assistant may speak of it.")
    domain: str = ""
    never: bool = Field(default=False, description="True for what must not happen.")


class Task(Frozen):
    """What the user wants done.

    `intent` is told to the user agent and `goal` to the judge of task completion; neither sees the other's.
    `relevant` holds (domain, preference type) pairs: a type's name alone is not unique over domains.
    `parts` is the goal read part by part; empty where the dataset has the sentence only.
    """

    id: str
    description: Text
    intent: Text
    goal: Text
    relevant: tuple[tuple[str, Text], ...] = ()
    parts: tuple[GoalPart, ...] = ()


class PreferenceWords(Frozen):
    """How an assistant asks for a preference type: words, and the values there are where these are a list."""

    ask: tuple[Text, ...] = ()
    values: tuple[Text, ...] = ()
    multiple: bool = True


class DomainWords(Frozen):
    """How an assistant speaks of a domain of somebody's own: words for the domain, and for each preference
    type.
    """

    words: tuple[Text, ...] = ()
    types: dict[str, PreferenceWords] = Field(default_factory=dict)


class BaseScenario(Frozen):
    """What the scenarios of all suites have: one user who wants one thing."""

    #: True if a reply may be a mapping with the field ``answer``, or JSON text of one.
    takes_answers: ClassVar[bool] = False

    id: str
    user: str
    name: Text = ""
    dataset: str = Field(description="Name and version of the dataset, such as 'embedded 1.0'.")
    kind: str
    domains: tuple[str, ...] = Field(min_length=1)

    @property
    def task_id(self) -> str:
        """What is asked for, by the name that no other scenario of this user has."""
        raise NotImplementedError

    @property
    def rounds(self) -> int:
        """Rounds of assistant and user after the opening, at most, where no option says otherwise."""
        return 1

    @property
    def digest(self) -> str:
        """A short digest of all that is in it but the version of its dataset: two runs of equal ones can be
        compared.
        """
        return hashlib.sha256(self.model_dump_json(exclude={"dataset"}).encode()).hexdigest()[:12]

    @property
    def who(self) -> str:
        """The user, in a line of a failing item."""
        return self.name or self.user

    @property
    def wish(self) -> str:
        """What the user wants, in a line of a report; empty where the dialogue says it all."""
        return ""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What a failing item tells beside that: what it is, in a word, and its text."""
        return ()

    def context(self, given: str) -> Context:
        """What an assistant may know of this user where it is `given` so much, in its suite's words."""
        return Context(user=self.user)


class Scenario(BaseScenario):
    """One user with one task in one situation; `preferences` and `summaries` hold the task's domains only."""

    kind: Kind
    demographics: dict[Text, Text]
    preferences: dict[str, dict[Text, tuple[Text, ...]]]
    summaries: dict[str, Text]
    situation: Situation
    task: Task
    words: dict[str, DomainWords] = Field(
        default_factory=dict,
        description="Domain -> the words that the embedded agents listen for, beside their own.",
    )

    @model_serializer(mode="wrap")
    def _without_empty_words(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = serialize(self)
        if not data.get(
            "words", True
        ):  # so that a scenario without them keeps the digest that it had before there were any
            del data["words"]
        return data

    @property
    def task_id(self) -> str:
        """The id of its task."""
        return self.task.id

    @property
    def who(self) -> str:
        """The user, when, and where."""
        place = self.situation
        when, device = f"{place.day_of_week} {place.time_of_day.lower()}", place.device.lower()
        return f"{self.name or self.user}, {when}, {device}, {place.location}"

    @property
    def wish(self) -> str:
        """The intent that the user agent is told."""
        return self.task.intent

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What the user wants, by which goal that is judged, and the preferences that matter for it."""
        known = (
            f"{domain}, {name}: {', '.join(self.preferences.get(domain, {}).get(name, ())) or 'none'}"
            for domain, name in self.task.relevant
        )
        return (("wants", self.task.intent), ("goal", self.task.goal), *(("known", text) for text in known))

    @property
    def rounds(self) -> int:
        """As the official code runs the benchmark: 20 for a single-domain and 30 for a multi-domain task."""
        return _ROUNDS[self.kind]

    def context(self, letters: str = "DIS") -> Context:
        """What an assistant may know of this user: any subset of D(emographics), I(nteractions), S(ituation).

        Preferences are never part of it: the benchmark leaves them to be inferred from past interactions
        (paper, section 4.1).
        """
        return Context(
            user=self.user,
            demographics=dict(self.demographics) if "D" in letters else {},
            interactions=dict(self.summaries) if "I" in letters else {},
            situation=self.situation if "S" in letters else None,
        )


class Context(Frozen):
    """What the assistant is allowed to know of the user before the dialogue begins; a memory to seed."""

    user: str = Field(description="The user's id, to key a memory store with.")
    dialogue: str = Field(
        default="",
        description=(
            "An id of this dialogue, to key a conversation with: another for each test, scenario, control,"
            " trial and attempt."
        ),
    )
    demographics: dict[str, str] = Field(default_factory=dict)
    interactions: dict[str, str] = Field(
        default_factory=dict, description="Domain -> past-interaction summary."
    )
    situation: Situation | None = None

    def text(self) -> str:
        """The context as plain text for a system prompt; the empty string when nothing is known."""
        parts = []
        if self.demographics:
            parts.append("About the user:\n" + "\n".join(f"- {k}: {v}" for k, v in self.demographics.items()))
        parts += [f"Past conversations about {d}:\n{text.strip()}" for d, text in self.interactions.items()]
        if self.situation is not None:
            lines = (f"- {k.replace('_', ' ')}: {v}" for k, v in self.situation.model_dump().items())
            parts.append("Right now:\n" + "\n".join(lines))
        return "\n\n".join(parts)
