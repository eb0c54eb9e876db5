"""A whole dataset in one shape, ours or the official one, with the file and the field of everything in it."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import ConfigDict

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_personalens.datasets.entries import PreferenceType

#: A preference type is known by its domain and its name: names alone repeat from domain to domain.
TypeName = tuple[str, str]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: by which rule, in which file and field, and what."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    rule: str
    file: str
    field: str
    message: str


@dataclass(frozen=True)
class Person:
    """One profile. `interests` is kept as it stands in the file."""

    id: str
    file: str
    demographics: Mapping[str, str]
    preferences: Mapping[TypeName, tuple[str, ...]]
    summaries: Mapping[str, str]
    interests: Mapping[str, int]
    fields: tuple[str, str] = ("domains.{0}.{1}", "domains.{0}.summary")

    @property
    def mask(self) -> frozenset[str]:
        """The domains of interest."""
        return frozenset(d for d, on in self.interests.items() if on)

    def field_of(self, domain: str, name: str | None = None) -> str:
        """Where a preference (or, without a name, the summary of a domain) stands in the file."""
        return self.fields[1].format(domain) if name is None else self.fields[0].format(domain, name)


@dataclass(frozen=True)
class TaskText:
    """One task as its author wrote it.

    `relevant` holds (domain, type); the domain is empty where the file names the type alone.
    """

    id: str
    file: str
    field: str
    domains: tuple[str, ...]
    relevant: tuple[TypeName, ...]
    texts: tuple[str, str, str]
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """One scenario: a task as a user has it. `at_home` is None where the data does not tell."""

    user: str
    task: str
    file: str
    field: str
    domains: tuple[str, ...]
    relevant: tuple[TypeName, ...]
    texts: tuple[str, str, str]
    situation: Mapping[str, str]
    at_home: bool | None = None


@dataclass
class Corpus:
    """A dataset, read whole. `types` holds the kind of each preference type that a catalogue knows.

    `possible` holds how many values the dataset's own catalogue lists for a type. `problems` are what cannot
    be read; `shared` is false where each user may have tasks of their own.
    """

    name: str
    domains: tuple[str, ...] = DOMAINS
    shared: bool = True
    problems: list[Finding] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    tasks: list[TaskText] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    types: dict[TypeName, PreferenceType] = field(default_factory=dict)
    possible: dict[TypeName, int] = field(default_factory=dict)

    def categorical(self, key: TypeName) -> bool:
        """Whether the values of this type come from a list."""
        return key in self.types and self.types[key].kind == "categorical"

    @cached_property
    def catalogue(self) -> defaultdict[str, frozenset[str]]:
        """Domain -> the names of its preference types, from the catalogue and from the profiles; none for an
        unknown domain.
        """
        names: dict[str, set[str]] = {d: set() for d in self.domains}
        for domain, name in [*self.types, *(key for p in self.people for key in p.preferences)]:
            names.setdefault(domain, set()).add(name)
        return defaultdict(frozenset, {d: frozenset(n) for d, n in names.items()})

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What cannot be read inside is one of the problems, and no error."""
        try:
            yield
        except DataError as error:
            self.tell([error])

    def tell(self, errors: Iterable[DataError]) -> None:
        """Add to the problems."""
        self.problems += [Finding("unreadable", e.file, e.field, e.problem) for e in errors]
