"""Reads a whole dataset of any layout into one form, with the file and the field of all that is wrong."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.suite import Finding
from pytest_personalens.datasets.checked_dataset import CheckedDataset, open_dataset
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.official.official import OfficialDataset
from pytest_personalens.datasets.quality.rules import scenario_findings, task_findings, type_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_personalens.core.scenario import Scenario, ScenarioRef
    from pytest_personalens.datasets.base import Dataset

#: A preference type: its domain and its name. The same name may occur in several domains.
TypeName = tuple[str, str]


@dataclass(frozen=True)
class Person:
    """One user: demographics, and the preferences and summaries of the domains of interest."""

    id: str
    demographics: dict[str, str]
    preferences: dict[TypeName, tuple[str, ...]]
    summaries: dict[str, str]


@dataclass(frozen=True)
class TaskFacts:
    """One task: facts, closed ones, those that a part names; deeds, and those that rest on a closed fact."""

    domains: tuple[str, ...]
    relevant: tuple[TypeName, ...]
    facts: int
    closed: int
    named: int
    deeds: int
    deeds_on_facts: int


@dataclass
class Corpus:
    """A whole dataset.

    `tasks` is keyed by the task's name. `categorical` holds the types whose values come from a list, and
    `possible` the number of these values. `scenarios` counts those of each domain.
    """

    name: str
    domains: tuple[str, ...] = ()
    people: list[Person] = field(default_factory=list)
    tasks: dict[str, TaskFacts] = field(default_factory=dict)
    scenarios: Counter[str] = field(default_factory=Counter)
    total: int = 0
    categorical: set[TypeName] = field(default_factory=set)
    possible: dict[TypeName, int] = field(default_factory=dict)
    found: dict[tuple[str, str, str, str], Finding] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that is wrong."""
        return tuple(self.found.values())

    def add(self, rule: str, file: str, where: str, problem: str) -> None:
        """Record a finding; what users share is found once in a task's own file."""
        self.found.setdefault((rule, file, where, problem), Finding(rule, file, where, problem))

    def add_errors(self, errors: Iterable[DataError]) -> None:
        """Record what cannot be read."""
        for e in errors:
            self.add("unreadable", e.file, e.field, e.problem)

    @contextmanager
    def recording_errors(self) -> Iterator[None]:
        """Record a `DataError` raised inside as a finding, and raise nothing."""
        try:
            yield
        except DataError as error:
            self.add_errors([error])


def read_corpus(spec: str, *, offered: Callable[[str], Dataset | None] = lambda spec: None) -> Corpus:
    """Return the dataset that a spec names; raise `DataError` if there is none. Its errors are findings."""
    dataset = open_dataset(spec, offered=offered)
    corpus = Corpus(f"{dataset.name} {dataset.version}")
    if isinstance(dataset, EmbeddedDataset):
        _read_folder(dataset, corpus)
    elif isinstance(dataset, OfficialDataset):
        _read_official(dataset, corpus)
    else:
        _read_offered(dataset if isinstance(dataset, CheckedDataset) else CheckedDataset(dataset), corpus)
    return corpus


def _read_folder(data: EmbeddedDataset, corpus: Corpus) -> None:
    read = data.files
    corpus.add_errors(wrong := read.problems())
    spoilt = {error.file for error in wrong}
    if spoilt & set(map(str, read.shared_files())):
        return  # people and tasks depend on these files
    corpus.domains = data.domains()
    for name in corpus.domains:
        file = str(read.domain_file(name))
        for kind, spec in read.domain(name).preferences.items():
            if spec.values:
                corpus.possible[name, kind] = len(spec.values)
            for where, problem in type_findings(kind, spec):
                corpus.add("synonyms", file, where, problem)
    corpus.categorical = set(corpus.possible)
    for path, task in read.tasks():
        for where, problem in task_findings(task):
            corpus.add("loose-fact", str(path), where, problem)

    def place(ref: ScenarioRef) -> tuple[str, str]:
        return str(read.task_file(ref)), f"tasks.{ref.task.rpartition('-')[2]}"

    for user in data.users():
        if not spoilt & set(map(str, read.person_files(user))):
            person = Person(user, {}, {}, {})
            _read_user(corpus, person, ((ref, *place(ref)) for ref in data.refs(user)), data.load)
            # Without the sentence about what is on file, which a scenario adds.
            person.summaries.update({d: read.summary(user, d) for d in read.profile(user).domains})
    used = {key for task in corpus.tasks.values() for key in task.relevant}
    held = {key for person in corpus.people for key, values in person.preferences.items() if values}
    for name in corpus.domains if corpus.people else ():
        file = str(read.domain_file(name))
        for kind in read.domain(name).preferences:
            if (name, kind) not in used & held:
                why = "no task names it" if (name, kind) not in used else "nobody has a value of it"
                corpus.add("unusable", file, f"preferences.{kind}", f"{why}, so it tests nothing")


def _read_official(data: OfficialDataset, corpus: Corpus) -> None:
    corpus.domains = data.domains()
    with corpus.recording_errors():
        listed = data.catalogue()
        corpus.possible = {key: count for key, count in listed.items() if count is not None}
        corpus.categorical = set(corpus.possible)
    for user in data.users():
        with corpus.recording_errors():
            # As in the paper: the values of all domains of a profile, with or without interest.
            person = Person(user, {}, data.preferences(user), {})
            refs = data.refs(user)
            _read_user(corpus, person, ((ref, *data.place(ref)) for ref in refs), data.load)
            for ref in refs:
                for name in data.unknown_types(ref):
                    problem = f"no preference type {name!r} in {' or '.join(ref.domains)}"
                    corpus.add("reference", *data.place(ref), problem)
    if not corpus.categorical:  # without a catalogue: those that are so in the benchmark of this package
        ours = EmbeddedDataset()
        kinds = {
            (d, t): spec.kind for d in ours.domains() for t, spec in ours.files.domain(d).preferences.items()
        }
        every = {key for person in corpus.people for key in person.preferences}
        corpus.categorical = {
            (d, t) for d, t in every if kinds.get((d, t.replace("Favourite", "Favorite"))) == "categorical"
        }


def _read_offered(data: CheckedDataset, corpus: Corpus) -> None:
    names, wrong = data.check_domains()
    corpus.domains = tuple(names)
    corpus.add_errors(wrong)
    with corpus.recording_errors():
        for user in data.users():
            refs, wrong = data.check_refs(user)
            corpus.add_errors(wrong)

            def load(ref: ScenarioRef) -> Scenario | None:
                scenario, wrong = data.check_scenario(ref)
                corpus.add_errors(wrong)
                found: Scenario | None = scenario
                return found

            places = ((ref, data.where, f"load({ref.user!r}, {ref.task!r})") for ref in refs)
            _read_user(corpus, Person(user, {}, {}, {}), places, load)


def _read_user(
    corpus: Corpus,
    person: Person,
    places: Iterable[tuple[ScenarioRef, str, str]],
    load: Callable[[ScenarioRef], Scenario | None],
) -> None:
    """Add the scenarios of a user, each with its file and its field, and the person as they describe them."""
    for ref, file, where in places:
        with corpus.recording_errors():
            if (scenario := load(ref)) is None:
                continue
            person.demographics.update(scenario.demographics)
            for domain, types in scenario.preferences.items():
                person.preferences.update({(domain, name): held for name, held in types.items()})
            person.summaries.update(scenario.summaries)
            _count(corpus, scenario)
            for rule, field_of, problem in scenario_findings(scenario):
                corpus.add(rule, file, f"{where}{'.' if field_of else ''}{field_of}", problem)
    if person.preferences or person.demographics:
        corpus.people.append(person)


def _count(corpus: Corpus, scenario: Scenario) -> None:
    task = scenario.task
    corpus.total += 1
    corpus.scenarios.update(scenario.domains)
    for domain, words in scenario.words.items():
        corpus.categorical |= {(domain, name) for name, said in words.types.items() if said.values}
    if task.id not in corpus.tasks:
        closed = {fact.name for fact in task.facts if fact.right}
        named = closed & {name for part in task.parts for name in part.facts}
        deeds = [part for part in task.parts if part.kind == "done" and not part.never]
        resting = sum(not closed.isdisjoint(part.facts) for part in deeds)
        corpus.tasks[task.id] = TaskFacts(
            scenario.domains, task.relevant, len(task.facts), len(closed), len(named), len(deeds), resting
        )
