"""A whole dataset in one form for all layouts, with the file and the field of everything."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.core.suite.data_check import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_personalens.datasets.embedded.entries import PreferenceType
    from pytest_personalens.datasets.world.entries import LimitEntry

#: The key of a preference type: its domain and its name. The same name may occur in several domains.
TypeName = tuple[str, str]
#: The file and the field of a problem, and what is wrong there.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Person:
    """One profile; `dealing_devices` holds (file, number of the dealing, device)."""

    id: str
    file: str
    demographics: Mapping[str, str]
    preferences: Mapping[TypeName, tuple[str, ...]]
    summaries: Mapping[str, str]
    interests: Mapping[str, int]
    fields: tuple[str, str] = ("domains.{0}.{1}", "domains.{0}.summary")
    devices: tuple[str, ...] = ()
    limits: tuple[LimitEntry, ...] = ()
    dealing_devices: tuple[tuple[str, int, str], ...] = ()

    @property
    def mask(self) -> frozenset[str]:
        """The domains of interest."""
        return frozenset(d for d, on in self.interests.items() if on)

    def field_of(self, domain: str, name: str | None = None) -> str:
        """Return the field of a preference, or of a domain's summary if `name` is None."""
        return self.fields[1].format(domain) if name is None else self.fields[0].format(domain, name)


@dataclass(frozen=True)
class TaskText:
    """One task in the words of its author; the domain of a `relevant` type may be empty.

    `facts` is None if the format has none; `deeds_on_facts` of the `deeds` rest on one.
    """

    id: str
    file: str
    field: str
    domains: tuple[str, ...]
    relevant: tuple[TypeName, ...]
    texts: tuple[str, str, str]
    devices: tuple[str, ...] = ()
    facts: int | None = None
    deeds: int = 0
    deeds_on_facts: int = 0


@dataclass(frozen=True)
class Assignment:
    """One scenario, a task as a user has it; `at_home` is None if the data does not tell."""

    user: str
    task: str
    file: str
    field: str
    domains: tuple[str, ...]
    relevant: tuple[TypeName, ...]
    texts: tuple[str, str, str]
    situation: Mapping[str, str]
    at_home: bool | None = None
    contradictions: tuple[str, ...] = ()


@dataclass
class Corpus:
    """A whole dataset.

    `types` holds each preference type that a catalogue knows. `kinds` holds the kind of a type by the
    dataset's own catalogue, and `possible` the number of values that this lists for a categorical type.
    `problems` holds what cannot be read. `shared` is false if each user may have tasks of their own.
    """

    name: str
    domains: tuple[str, ...] = DOMAINS
    shared: bool = True
    problems: list[Finding] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    tasks: list[TaskText] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    types: dict[TypeName, PreferenceType] = field(default_factory=dict)
    kinds: dict[TypeName, Literal["categorical", "open"]] = field(default_factory=dict)
    possible: dict[TypeName, int] = field(default_factory=dict)

    def categorical(self, key: TypeName) -> bool:
        """True if the values of this type come from a list."""
        kind = self.kinds.get(key) or (self.types[key].kind if key in self.types else "open")
        return kind == "categorical"

    @cached_property
    def catalogue(self) -> defaultdict[str, frozenset[str]]:
        """The names of the preference types of each domain, from the catalogue and the profiles."""
        names: dict[str, set[str]] = {d: set() for d in self.domains}
        for domain, name in [*self.types, *(key for p in self.people for key in p.preferences)]:
            names.setdefault(domain, set()).add(name)
        return defaultdict(frozenset, {d: frozenset(n) for d, n in names.items()})

    def summaries(self) -> Iterator[Place]:
        """Yield each summary with its file and its field."""
        for person in self.people:
            yield from ((person.file, person.field_of(d), text) for d, text in person.summaries.items())

    @contextmanager
    def recording_errors(self) -> Iterator[None]:
        """Record a `DataError` raised inside as a problem, and raise nothing."""
        try:
            yield
        except DataError as error:
            self.record_errors([error])

    def record_errors(self, errors: Iterable[DataError]) -> None:
        self.problems += [Finding("unreadable", e.file, e.field, e.problem) for e in errors]
