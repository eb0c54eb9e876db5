"""Reads a whole dataset of any layout into one form, with the file and the field of all that is wrong."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.suite import Finding
from pytest_personalens.datasets.checked_dataset import CheckedDataset, open_dataset
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.official import OfficialDataset
from pytest_personalens.datasets.world.resolve import contradictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_personalens.core.scenario import Scenario, ScenarioRef
    from pytest_personalens.datasets.dataset import Dataset

#: A preference type: its domain and its name. The same name may occur in several domains.
TypeName = tuple[str, str]
#: The rules, and what each demands.
RULES: Final = {
    "unreadable": "the plugin can use every file and every answer of a dataset",
    "reference": "a relevant preference type exists in a domain of its task, and each domain has a summary",
    "leak": "no opening says a value of a preference that its task is about",
    "facts": "clock, facts and sessions of a scenario agree, and a reply can show each closed fact",
}
#: Words without which a value says nothing: no reply can be searched for them.
_EMPTY: Final = frozenset(
    ("a", "an", "any", "anything", "it", "of", "one", "or", "some", "something", "that", "the", "this")
)
#: Kinds whose values are numbers, so that they can be told in any written form.
_NUMBERS: Final = frozenset({"count", "date", "time", "duration", "money"})


@dataclass(frozen=True)
class Person:
    """One user: demographics, and the preferences and summaries of the domains of interest."""

    id: str
    demographics: dict[str, str] = field(default_factory=dict)
    preferences: dict[TypeName, tuple[str, ...]] = field(default_factory=dict)
    summaries: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskFacts:
    """One task: its domains, the number of its facts, of its deeds, and of those that rest on a fact."""

    domains: tuple[str, ...]
    facts: int
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
    #: All that is wrong; what users share is found once in a task's own file.
    found: dict[Finding, None] = field(default_factory=dict)

    def add_errors(self, errors: Iterable[DataError]) -> None:
        """Record what cannot be read."""
        self.found |= dict.fromkeys(Finding("unreadable", e.file, e.field, e.problem) for e in errors)

    @contextmanager
    def recording_errors(self) -> Iterator[None]:
        """Record a `DataError` raised inside as a finding, and raise nothing."""
        try:
            yield
        except DataError as error:
            self.add_errors([error])

    def add_user(
        self,
        person: Person,
        places: Iterable[tuple[ScenarioRef, str, str]],
        load: Callable[[ScenarioRef], Scenario | None],
    ) -> None:
        """Add a user's scenarios, each with its file and field, and the person as they describe them."""
        for ref, file, where in places:
            with self.recording_errors():
                if (scenario := load(ref)) is None:
                    continue
                person.demographics.update(scenario.demographics)
                for domain, types in scenario.preferences.items():
                    person.preferences.update({(domain, name): held for name, held in types.items()})
                person.summaries.update(scenario.summaries)
                self._count(scenario)
                for rule, inside, problem in _problems(scenario):
                    at = f"{where}{'.' if inside else ''}{inside}"
                    self.found[Finding(rule, file, at, problem)] = None
        if person.preferences or person.demographics:
            self.people.append(person)

    def _count(self, scenario: Scenario) -> None:
        task = scenario.task
        self.total += 1
        self.scenarios.update(scenario.domains)
        for domain, words in scenario.words.items():
            self.categorical |= {(domain, name) for name, said in words.types.items() if said.values}
        if task.id not in self.tasks:
            closed = {fact.name for fact in task.facts if fact.right}
            deeds = [part for part in task.parts if part.kind == "done" and not part.never]
            resting = sum(not closed.isdisjoint(part.facts) for part in deeds)
            self.tasks[task.id] = TaskFacts(scenario.domains, len(task.facts), len(deeds), resting)


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
        kinds = read.domain(name).preferences.items()
        corpus.possible |= {(name, kind): len(spec.values) for kind, spec in kinds if spec.values}
    corpus.categorical = set(corpus.possible)
    for user in data.users():
        if not spoilt & set(map(str, read.person_files(user))):
            person = Person(user)
            places = (
                (ref, str(read.task_file(ref)), f"tasks.{ref.task.rpartition('-')[2]}")
                for ref in data.refs(user)
            )
            corpus.add_user(person, places, data.load)
            # Without the sentence about what is on file, which a scenario adds.
            person.summaries.update({d: read.summary(user, d) for d in read.profile(user).domains})


def _read_official(data: OfficialDataset, corpus: Corpus) -> None:
    corpus.domains = data.domains()
    with corpus.recording_errors():
        corpus.possible = {key: count for key, count in data.catalogue().items() if count is not None}
        corpus.categorical = set(corpus.possible)
    for user in data.users():
        with corpus.recording_errors():
            # As in the paper: the values of all domains of a profile, with or without interest.
            person = Person(user, preferences=data.preferences(user))
            refs = data.refs(user)
            corpus.add_user(person, ((ref, *data.place(ref)) for ref in refs), data.load)
            for ref in refs:
                for name in data.unknown_types(ref):
                    problem = f"no preference type {name!r} in {' or '.join(ref.domains)}"
                    corpus.found[Finding("reference", *data.place(ref), problem)] = None
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
    def load(ref: ScenarioRef) -> Scenario | None:
        scenario, wrong = data.check_scenario(ref)
        corpus.add_errors(wrong)
        found: Scenario | None = scenario
        return found

    names, wrong = data.check_domains()
    corpus.domains = tuple(names)
    corpus.add_errors(wrong)
    with corpus.recording_errors():
        for user in data.users():
            refs, wrong = data.check_refs(user)
            corpus.add_errors(wrong)
            places = ((ref, data.where, f"load({ref.user!r}, {ref.task!r})") for ref in refs)
            corpus.add_user(Person(user), places, load)


def _problems(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield (rule, field, problem) for what the scenario of one person shows."""
    for domain in scenario.domains:
        if not scenario.summaries.get(domain, "").strip():
            yield "reference", f"summaries.{domain}", "the summary is missing"
    for problem in contradictions(scenario):
        yield "facts", "", problem
    task = scenario.task
    for fact in task.facts:
        for value in fact.right if fact.kind not in _NUMBERS else ():
            if _EMPTY.issuperset(re.findall(r"\w+", value.lower())):
                yield "facts", f"facts.{fact.name}", f"no reply can show {value!r}; write it in words"
    said = " | ".join(value for fact in task.facts if fact.known == "said" for value in fact.right)
    for domain, name in task.relevant:
        for value in scenario.preferences.get(domain, {}).get(name, ()):
            opens_with = re.search(rf"\b{re.escape(value)}\b", task.intent)
            if opens_with and value not in said:
                yield "leak", "intent", f"it says {value!r}, a value of the relevant {name!r}"
