"""A whole dataset in one shape, ours or the official one, with the file and the field of everything in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

from pytest_personalens.core.devices import no_device
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import DOMAINS, slug
from pytest_personalens.datasets.embedded import EmbeddedDataset
from pytest_personalens.datasets.official import SITUATION, TASK_ID, OfficialDataset, read_json, table_in
from pytest_personalens.datasets.open import open_dataset

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

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
    """One task as its author wrote it. `relevant` holds (domain, type); the domain is empty where the file names the type alone."""

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
    """A dataset, read whole. `types` holds the kind of each preference type that our own catalogue knows.

    `possible` holds how many values the dataset's own catalogue lists for a type.
    """

    name: str
    people: list[Person] = field(default_factory=list)
    tasks: list[TaskText] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    types: dict[TypeName, PreferenceType] = field(default_factory=dict)
    possible: dict[TypeName, int] = field(default_factory=dict)

    def categorical(self, key: TypeName) -> bool:
        """Whether the values of this type come from a list."""
        return key in self.types and self.types[key].kind == "categorical"

    @cached_property
    def catalogue(self) -> dict[str, frozenset[str]]:
        """Domain -> the names of its preference types, from the catalogue and from the profiles."""
        names: dict[str, set[str]] = {d: set() for d in DOMAINS}
        for domain, name in [*self.types, *(key for p in self.people for key in p.preferences)]:
            names.setdefault(domain, set()).add(name)
        return {d: frozenset(n) for d, n in names.items()}


def read_corpus(spec: str) -> Corpus:
    """Read ``embedded``, a folder in the embedded layout, or official data. Raises `DataError` naming file and field."""
    dataset = open_dataset(spec)
    if isinstance(dataset, OfficialDataset):
        return _read_official(dataset)
    assert isinstance(dataset, EmbeddedDataset)
    return _read_embedded(dataset)


def _read_embedded(data: EmbeddedDataset) -> Corpus:
    corpus = Corpus(f"{data.name} {data.version}")
    for name in DOMAINS:
        domain = data.domain(name)
        corpus.types |= {(name, t): spec for t, spec in domain.preferences.items()}
        corpus.possible |= {(name, t): len(spec.values) for t, spec in domain.preferences.items() if spec.values}
        corpus.tasks += [
            TaskText(
                f"{slug(name)}-{t.number}", str(data.root / "domains" / f"{slug(name)}.toml"), f"tasks.{t.number}",
                (name,), tuple((name, r) for r in t.relevant), (t.description, t.intent, t.goal), t.devices,
            )
            for t in domain.tasks
        ]  # fmt: skip
    corpus.tasks += [
        TaskText(
            f"multi-{t.number}", str(data.root / "multi.toml"), f"tasks.{t.number}", t.domains,
            tuple((d, r) for d, names in t.relevant.items() for r in names), (t.description, t.intent, t.goal), t.devices,
        )
        for t in data.multi().tasks
    ]  # fmt: skip
    for user in data.users():
        profile, file = data.profile(user), str(data.root / "profiles" / f"{user}.toml")
        corpus.people.append(
            Person(
                user, file, profile.demographics.model_dump(),
                {(d, t): (v,) if isinstance(v, str) else v for d, e in profile.domains.items() for t, v in e.items() if t != "summary"},
                {d: " ".join(str(e["summary"]).split()) for d, e in profile.domains.items()},
                {d: int(d in profile.domains) for d in DOMAINS},
            )
        )  # fmt: skip
        for ref in data.refs(user):
            scenario = data.load(ref)
            task, situation = scenario.task, scenario.situation
            corpus.assignments.append(
                Assignment(
                    user, ref.task, file, "routine", ref.domains, task.relevant, (task.description, task.intent, task.goal),
                    situation.model_dump(), situation.location == profile.routine.home,
                )
            )  # fmt: skip
    return corpus


def _read_official(data: OfficialDataset) -> Corpus:
    """Leaner than `OfficialDataset`: what stands in the files is taken as it is, so that the rules can speak of it."""
    corpus = Corpus(f"{data.name} {data.version}")
    parts = {theirs: field for field, theirs in SITUATION.items()}
    embedded = EmbeddedDataset()
    known = {(d, t): spec for d in DOMAINS for t, spec in embedded.domain(d).preferences.items()}
    corpus.tasks += list(_official_tasks(data.root))
    corpus.possible = _possible(data.root.parent / "res" / "schema.json")
    for user in data.users():
        file = data.root / "profile" / user / "profile.json"
        raw = read_json(file)
        affinities, interactions = table_in(file, raw, "affinities"), table_in(file, raw, "interactions")
        preferences = {(d, t): _values(file, d, t, v) for d in affinities for t, v in table_in(file, affinities, d, "affinities.").items()}
        for d, t in preferences:
            spec = known.get((d, t.replace("Favourite", "Favorite")))
            if spec is not None:
                corpus.types.setdefault((d, t), spec.model_copy(update={"values": ()}))
        corpus.people.append(
            Person(
                user, str(file), {k: str(v) for k, v in table_in(file, raw, "demographics").items() if k != "user_id"}, preferences,
                {d: str(t) for d, t in interactions.items()}, table_in(file, raw, "interests"),
                ("affinities.{0}.{1}", "interactions.{0}"),
            )
        )  # fmt: skip
        for name in ("tasks.json", "tasks_md.json"):
            tasks_file = file.with_name(name)
            for position, task in read_json(tasks_file).items():
                text = _task_text(tasks_file, f"{position}", task, task.get("Relevant Domains", ()))
                situations = {parts.get(k, k): str(v) for k, v in task.get("situations", {}).items()}
                corpus.assignments.append(
                    Assignment(user, text.id, text.file, text.field, text.domains, text.relevant, text.texts, situations)
                )
    return corpus


def _possible(file: Path) -> dict[TypeName, int]:
    """How many `possible_values` the official catalogue lists for each type; nothing where the file is not there or has another form."""
    if not file.is_file():
        return {}
    found: dict[TypeName, int] = {}
    for domain, types in read_json(file).items():
        for name, spec in types.items() if isinstance(types, dict) else ():
            values = spec.get("possible_values") if isinstance(spec, dict) else None
            if isinstance(values, list) and values:
                found[domain, name] = len(values)
    return found


def _official_tasks(root: Path) -> Iterator[TaskText]:
    for file in sorted((root / "task").glob("*/task.jsonl")):
        for number, line in enumerate(no_device(file).read_text(encoding="utf-8").splitlines(), 1):
            try:
                task = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(file, f"not valid JSON: {error}", field=f"line {number}") from None
            domains = task.get("Relevant Domains") or [file.parent.name]
            stem = "MD" if file.parent.name == "Multi-Domain" else f"SD-{file.parent.name}"
            task["task_id"] = f"{stem}-task-{task.get('Task Number', number)}"
            yield _task_text(file, f"line {number}", task, domains)


def _task_text(file: Path, field: str, task: dict[str, Any], domains: object) -> TaskText:
    names = tuple(str(d) for d in domains) if isinstance(domains, list) else ()
    match = TASK_ID.fullmatch(str(task.get("task_id")))
    texts = tuple(task.get(part) for part in ("Task Description", "User Intent", "Task Goal"))
    types = task.get("Relevant Affinity Types")
    if match is None or not all(isinstance(text, str) for text in texts) or not isinstance(types, list):
        raise DataError(file, "not a task of the official layout (task_id, description, intent, goal, relevant types)", field=field)
    # A name alone is clear within one domain and may mean several types within many.
    relevant = tuple((names[0] if len(names) == 1 else "", str(t)) for t in types)
    task_id = f"{slug(match['domain']) if match['domain'] else 'multi'}-{match['number']}"
    return TaskText(task_id, str(file), field, names, relevant, (str(texts[0]), str(texts[1]), str(texts[2])))


def _values(file: Path, domain: str, name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise DataError(file, "expected a text or a list of texts", field=f"affinities.{domain}.{name}")
