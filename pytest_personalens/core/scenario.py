"""The values of a scenario: the user, the task and the situation."""

from __future__ import annotations

import hashlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.facts import Clock, Fact, Limit, Session, StoreLook, Thing
from pytest_personalens.core.frozen import Frozen, Sparse, Text
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.safe_text import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Kind = Literal["single", "multi"]
_ROUNDS: Final[dict[Kind, int]] = {"single": 20, "multi": 30}

#: The twenty domains of the PersonaLens benchmark (paper, Table 1).
DOMAINS: Final = (
    "Alarm", "Books", "Buses", "Calendar", "Events", "Finance", "Flights", "Games", "Hotels", "Media",
    "Messaging", "Movies", "Music", "Rental Cars", "Restaurants", "Services", "Shopping", "Sports", "Train",
    "Travel",
)  # fmt: skip


class ScenarioRef(NamedTuple):
    """A scenario by name, enough to collect and sample; `stratum` is its part of a draw, if not its kind."""

    user: str
    task: str
    kind: str
    domains: tuple[str, ...]
    stratum: str = ""

    @property
    def id(self) -> str:
        """The slug of task and user, such as ``movies-1-user7``."""
        return slug(f"{self.task}-{self.user}")


#: Stands for a part of a situation that a dataset does not tell.
UNKNOWN: Final = "unknown"


class Situation(Frozen):
    """The user's situation while asking (paper, section 2.3 and Figure 11); any part may be unknown."""

    location: Text = UNKNOWN
    device: Text = UNKNOWN
    time_of_day: Text = UNKNOWN
    day_of_week: Text = UNKNOWN
    environment: Text = UNKNOWN

    @property
    def known(self) -> dict[str, str]:
        """Return the parts that the dataset tells, by name."""
        return {name: text for name, text in self.model_dump().items() if text != UNKNOWN}


_UNTOLD: Final = Situation()


#: The kinds of detail that a part of a goal may ask for.
Slot = Literal["name", "title", "time", "day", "price", "count", "length", "place", "seat", "number"]


class GoalPart(Sparse):
    """One part of a goal, an action or a fact to tell, which rests on the facts named by `facts`."""

    text: Text
    kind: Literal["done", "told"]
    slots: tuple[Slot, ...] = Field((), description="Details that must appear.")
    words: tuple[Text, ...] = Field((), description="Words by which an assistant may speak of it.")
    domain: str = ""
    never: bool = Field(default=False, description="True for what must not happen.")
    facts: tuple[str, ...] = ()
    rare: ClassVar[Mapping[str, object]] = {"facts": ()}
    ask: str = Field("", description="How a user asks for it: what to do, or what to tell.")


class Task(Sparse):
    """The task that the user wants done.

    The user agent sees `intent`, and the judge of task completion sees `goal`. Neither sees the other's text.
    `relevant` holds pairs of (domain, preference type), because the name of a type is not unique across
    domains. `parts` holds the goal in parts. It is empty if the dataset has only the sentence. So are
    `facts`, what can be checked of the task, and `things`, what exists before the dialogue.
    """

    id: str
    description: Text
    intent: Text
    goal: Text
    relevant: tuple[tuple[str, Text], ...] = ()
    parts: tuple[GoalPart, ...] = ()
    facts: tuple[Fact, ...] = ()
    things: tuple[Thing, ...] = ()
    rare: ClassVar[Mapping[str, object]] = {"facts": (), "things": ()}


class PreferenceWords(Frozen):
    """The words with which an assistant asks for a preference type, and its `values` if these are a list.

    `synonyms` maps a value to other words that mean the same, such as "twin room" to "two beds". Nothing
    else counts as the value: "five-star" is "luxury" only if it stands here.
    """

    ask: tuple[Text, ...] = ()
    values: tuple[Text, ...] = ()
    multiple: bool = True
    synonyms: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)


class DomainWords(Frozen):
    """The words of an assistant about a domain, and about each of its preference types."""

    words: tuple[Text, ...] = ()
    types: dict[str, PreferenceWords] = Field(default_factory=dict)


class BaseScenario(Frozen):
    """The fields that the scenarios of all suites share: one user, who wants one thing."""

    #: True if a reply may be a mapping with the field ``answer``, or JSON text of one.
    takes_answers: ClassVar[bool] = False
    #: The name of the suite that it belongs to.
    suite: ClassVar[str] = FIRST_SUITE
    #: The fields that do not change what a dialogue is.
    undigested: ClassVar[set[str]] = {"dataset"}

    id: str
    user: str
    name: Text = ""
    dataset: str = Field(description="Name and version of the dataset, such as 'embedded 1.0'.")
    kind: str
    domains: tuple[str, ...] = Field(min_length=1)

    @property
    def task_id(self) -> str:
        """The name of the task, unique among the scenarios of this user."""
        raise NotImplementedError

    @property
    def rounds(self) -> int:
        """Highest number of rounds after the opening, each a message of the assistant and one of the user."""
        return 1

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The texts of the user that are data of others: a record holds digests of them only."""
        return ()

    @property
    def digest(self) -> str:
        """A short digest of all fields but `undigested`; scenarios with equal digests can be compared."""
        return hashlib.sha256(self.model_dump_json(exclude=self.undigested).encode()).hexdigest()[:12]

    @property
    def who(self) -> str:
        """The user, for one line about a failing item."""
        return self.name or self.user

    @property
    def wish(self) -> str:
        """The user's wish in a line for reports; empty if the dialogue says it all."""
        return ""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Further facts about a failing item, each as (a word for it, its text)."""
        return ()

    def groups(self, demographics: Iterable[str]) -> dict[str, str]:
        """Return the user's value of each demographic; raise `SpecError` for one that no user has."""
        return {}

    def context(self, given: str) -> Context:
        """Return what an assistant may know; `given` says how much, in the words of the suite."""
        return Context(user=self.user)

    def is_read_on(self, measure: str) -> bool:
        """True if it has a score on the measure of this long name, on which its kind has one."""
        return True

    def in_results(self) -> BaseScenario:
        """Return the scenario as files of results hold it."""
        return self

    def in_session(self, context: Context, session: str) -> Context:
        """Return the context of one session, where a dialogue has several."""
        return context

    def questions_to_store(self, session: str) -> tuple[str, ...]:
        """Return what to look for in a memory store before a session; nothing if it is not looked into."""
        return ()

    def look_into_store(self, entries: Sequence[str] | None, found: Sequence[str] | None) -> StoreLook:
        """Return what there is of the scenario's values in all entries of a store, and in what it finds."""
        return StoreLook(entries=None if entries is None else len(entries))


class Scenario(BaseScenario, Sparse):
    """One user with one task in one situation.

    `preferences` and `summaries` hold only the domains of the task. `sessions` are the past conversations
    that the summaries sum up. With ``personalens_interactions = all``, `others` holds the summaries of the
    user's other domains, `elsewhere` the preferences there, and `sessions` theirs too.
    """

    undigested: ClassVar[set[str]] = {"dataset", "elsewhere"}

    kind: Kind
    demographics: dict[Text, Text]
    preferences: dict[str, dict[Text, tuple[Text, ...]]]
    summaries: dict[str, Text]
    situation: Situation = Situation()
    task: Task
    words: dict[str, DomainWords] = Field(
        default_factory=dict,
        description="Domain -> the words of an assistant about it, and the values and synonyms of its types.",
    )

    now: Clock | None = Field(default=None, description="The moment at which the dialogue begins.")
    limits: tuple[Limit, ...] = Field((), description="What must never happen to the user.")
    sessions: tuple[Session, ...] = Field((), description="Past conversations, in order of date.")
    others: dict[str, Text] = Field(
        default_factory=dict, description="Domain -> summary, of domains beside the task's."
    )
    elsewhere: dict[str, dict[Text, tuple[Text, ...]]] = Field(
        default_factory=dict, description="Domain -> preferences, of domains beside the task's."
    )

    #: What a dataset does not have is no part of a scenario's digest.
    rare: ClassVar[Mapping[str, object]] = {
        "words": {}, "now": None, "limits": (), "sessions": (), "others": {}, "elsewhere": {},
        "situation": _UNTOLD,
    }  # fmt: skip

    @property
    def task_id(self) -> str:
        return self.task.id

    @property
    def who(self) -> str:
        place = self.situation.known
        day, time, device = (place.get(name, "") for name in ("day_of_week", "time_of_day", "device"))
        told = (f"{day} {time.lower()}".strip(), device.lower(), place.get("location", ""))
        return ", ".join(filter(None, (self.name or self.user, *told)))

    @property
    def wish(self) -> str:
        return self.task.intent

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The user's wish, the goal for the judge, and the preferences that the task names, or else all."""
        every = tuple((domain, name) for domain, types in self.preferences.items() for name in types)
        relevant = (
            f"{domain}, {name}: {', '.join(self.preferences.get(domain, {}).get(name, ())) or 'none'}"
            for domain, name in self.task.relevant or every
        )
        return (
            ("wants", self.task.intent),
            ("goal", self.task.goal),
            *(("known", text) for text in relevant),
        )

    @property
    def rounds(self) -> int:
        """20 for a single-domain and 30 for a multi-domain task, as in the official code."""
        return _ROUNDS[self.kind]

    def groups(self, demographics: Iterable[str]) -> dict[str, str]:
        known = ", ".join(self.demographics) or f"none, because the scenario {self.id} has no demographics"
        for name in demographics:
            if name not in self.demographics:
                near = get_close_matches(name, self.demographics, n=1)
                meant = f" (did you mean {near[0]}?)" if near else ""
                raise SpecError(f"personalens_slice: unknown demographic {name!r}{meant}; known: {known}")
        return {name: self.demographics[name] for name in demographics}

    def without_history(self) -> dict[str, Any]:
        """Return the scenario as plain data for labels and the page: without past conversations."""
        return self.model_copy(update={"sessions": (), "others": {}, "elsewhere": {}}).model_dump(mode="json")

    def context(self, letters: str = "DIS") -> Context:
        """Return what an assistant may know: `letters` of D, I, H and S.

        D is the demographics, I the summaries of past interactions, with their sessions, H the sessions
        alone, and S the situation.

        Preferences are never included: the assistant must infer them (paper, section 4.1).
        """
        # By name beside other domains: an assistant must not find the task's domains by their place.
        told = dict(sorted((self.summaries | self.others).items())) if self.others else self.summaries
        return Context(
            user=self.user,
            demographics=dict(self.demographics) if "D" in letters else {},
            interactions=told if "I" in letters else {},
            sessions=self.sessions if "I" in letters or "H" in letters else (),
            situation=self.situation if "S" in letters and self.situation != _UNTOLD else None,
            now=self.now if "S" in letters else None,
        )


class Context(Frozen):
    """What the assistant may know of the user before the dialogue; it can fill a memory."""

    user: str = Field(description="The user's id, to key a memory store with.")
    dialogue: str = Field(
        default="",
        description=(
            "An id of this dialogue, to key a conversation with: another for each test, scenario, control,"
            " trial and attempt."
        ),
    )
    session: str = Field(
        default="", description="The session that is going on, in a dialogue of several; else empty."
    )
    date: str = Field(default="", description="The day of the session, such as 2026-03-14.")
    demographics: dict[str, str] = Field(default_factory=dict)
    interactions: dict[str, str] = Field(
        default_factory=dict, description="Domain -> past-interaction summary."
    )
    sessions: tuple[Session, ...] = Field(
        (),
        description="The conversations that the interactions sum up, in order of date.",
    )
    situation: Situation | None = None
    now: Clock | None = Field(default=None, description="The user's date and time, if the dataset has them.")

    def text(self) -> str:
        """Return the context as plain text for a system prompt; empty if nothing is known."""
        parts = []
        if self.demographics:
            parts.append("About the user:\n" + "\n".join(f"- {k}: {v}" for k, v in self.demographics.items()))
        parts += [f"Past conversations about {d}:\n{text.strip()}" for d, text in self.interactions.items()]
        if self.sessions and not self.interactions:  # which would sum them up
            parts += ["Past conversations:", *(session.text() for session in self.sessions)]
        place = self.situation.known if self.situation is not None else {}
        lines = [f"- {k.replace('_', ' ')}: {v}" for k, v in place.items()]
        if self.now is not None:
            lines.append(f"- now: {self.now}")
        if lines:
            parts.append("Right now:\n" + "\n".join(lines))
        return "\n\n".join(parts)
