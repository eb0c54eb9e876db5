"""The pydantic models of the files of ``data/``."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.scenario import DomainWords, GoalPart, PreferenceWords, Slot
from pytest_personalens.datasets.world.fact_entries import (
    Entry,
    FactEntry,
    FilledText,
    Life,
    LimitEntry,
    ThingEntry,
)

Place = Literal["home", "work", "transit", "out"]
Device = Literal["Smartphone", "Laptop", "Tablet", "Smart speaker", "Smartwatch"]
TimeOfDay = Literal["Morning", "Afternoon", "Evening", "Night"]
Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class PreferenceType(Entry):
    """One preference type of a domain; `values` are those of a profile, if the type is categorical."""

    kind: Literal["categorical", "open"]
    multiple: bool
    values: tuple[FilledText, ...] = ()
    others: tuple[FilledText, ...] = Field(
        (), description="Of an open type: values that nobody has, for facts that must be wrong."
    )
    ask: tuple[FilledText, ...] = Field(min_length=1)
    synonyms: dict[FilledText, tuple[FilledText, ...]] = Field(
        default_factory=dict,
        description="A value -> other words that mean the same; an empty list: there are none.",
    )


class PartEntry(Entry):
    """One part of a goal: an action to be `done` or a fact to be `told`."""

    done: str = ""
    told: str = ""
    slots: tuple[Slot, ...] = ()
    words: tuple[str, ...] = Field(min_length=1)
    domain: str = ""
    never: bool = False
    facts: tuple[str, ...] = ()
    ask: str = ""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.done) == bool(self.told):
            raise ValueError("a part has either 'done' or 'told'")
        return self

    @property
    def text(self) -> str:
        return self.done or self.told

    def part(self, text: str, ask: str) -> GoalPart:
        """Return the part in the form that scenarios hold, with the facts put into its texts."""
        shared = {name: getattr(self, name) for name in ("slots", "words", "domain", "never", "facts")}
        return unchecked(GoalPart, text=text, kind="done" if self.done else "told", **shared, ask=ask)


class TaskEntry(Entry):
    """One task of a domain's file."""

    number: int = Field(ge=1)
    description: FilledText
    intent: FilledText
    goal: FilledText
    parts: tuple[PartEntry, ...] = ()
    relevant: tuple[str, ...] = Field(min_length=1)
    where: tuple[Place, ...] = Field(min_length=1)
    devices: tuple[Device, ...] = Field(min_length=1)
    times: tuple[TimeOfDay, ...] = Field(min_length=1)
    near: Literal["", "birthday"] = ""
    facts: dict[str, Annotated[FactEntry | ThingEntry, Field(discriminator="kind")]] = Field(
        default_factory=dict
    )

    def fact_names(self) -> list[str]:
        """Return the names of all facts; the fields of a thing are called ``booking.time``."""
        names: list[str] = []
        for name, entry in self.facts.items():
            names += [f"{name}.{field}" for field in entry.has] if isinstance(entry, ThingEntry) else [name]
        return names


class MultiTaskEntry(TaskEntry):
    """One task over several domains; `relevant` is keyed by domain."""

    domains: tuple[str, ...] = Field(min_length=2)
    relevant: dict[str, tuple[str, ...]]  # type: ignore[assignment]


class Domain(Entry):
    """One file of ``data/domains``; a sentence with one of its `words` or its name is about the domain."""

    name: str
    description: str
    words: tuple[FilledText, ...] = ()
    preferences: dict[str, PreferenceType]
    tasks: tuple[TaskEntry, ...] = ()

    def possible(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each preference type that a person may have."""
        return {name: t.values or t.others for name, t in self.preferences.items()}

    def as_said(self) -> DomainWords:
        """Return the words in the form that scenarios hold."""
        types = {
            name: PreferenceWords(ask=t.ask, values=t.values, multiple=t.multiple, synonyms=t.synonyms)
            for name, t in self.preferences.items()
        }
        return DomainWords(words=self.words, types=types)


class MultiTasks(Entry):
    """The file ``data/multi.toml``."""

    tasks: tuple[MultiTaskEntry, ...]


class Routine(Entry):
    """The routine of a person, from which the situations of their scenarios are derived."""

    home: FilledText
    work: str = ""
    transit: str = ""
    out: str = ""
    devices: tuple[Device, ...] = Field(min_length=1)
    free: tuple[Day, ...] = ()
    busy: tuple[TimeOfDay, ...] = ()
    zone: str = ""
    noisy: tuple[Place, ...] = ()


class Demographics(Entry):
    """The attributes that the benchmark takes from PRISM (paper, section 2.1)."""

    age: Literal["18-24", "25-34", "35-44", "45-54", "55-64", "65+"]
    gender: Literal["Female", "Male", "Non-binary", "Prefer not to say"]
    employment_status: Literal[
        "Working full-time", "Working part-time", "Student", "Homemaker", "Retired",
        "Unemployed, seeking work",
        "Unemployed, not seeking work", "Prefer not to say",
    ]  # fmt: skip
    education: Literal[
        "Primary school", "Some secondary school", "Secondary school", "Vocational training",
        "Some university",
        "Bachelor's degree", "Graduate degree", "Prefer not to say",
    ]  # fmt: skip
    marital_status: Literal[
        "Never married", "Married", "Divorced or separated", "Widowed", "Prefer not to say"
    ]
    english_proficiency: Literal["Native", "Fluent", "Advanced", "Intermediate", "Basic"]
    ethnicity: FilledText
    religion: FilledText
    birth_country: FilledText
    reside_country: FilledText


class ProfileEntry(Entry):
    """One person; a domain without a history has a ``summary`` beside its preferences."""

    name: FilledText
    demographics: Demographics
    routine: Routine
    life: Life = Field(default_factory=dict)
    limits: tuple[LimitEntry, ...] = ()
    domains: dict[str, dict[str, str | tuple[str, ...]]]

    def preferences(self, domain: str) -> dict[str, tuple[str, ...]]:
        """Return the values of each preference type of a domain."""
        return {
            name: (value,) if isinstance(value, str) else tuple(value)
            for name, value in self.domains[domain].items()
            if name != "summary"
        }
