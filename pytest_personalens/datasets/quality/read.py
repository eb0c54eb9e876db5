"""Reads a whole dataset: the embedded layout, the official data, or a user's own dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.text.slugs import slug
from pytest_personalens.datasets.checked_dataset import CheckedDataset
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.embedded.entries import PreferenceType
from pytest_personalens.datasets.official.official import OfficialDataset
from pytest_personalens.datasets.open import open_dataset
from pytest_personalens.datasets.quality.corpus import Assignment, Corpus, Person, TaskText
from pytest_personalens.datasets.quality.read_official import read_official
from pytest_personalens.datasets.world.consistency import contradictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_personalens.core.scenario import DomainWords, Scenario
    from pytest_personalens.datasets.base import Dataset
    from pytest_personalens.datasets.embedded.entries import TaskEntry


def read_corpus(spec: str, *, offered: Callable[[str], Dataset | None] = lambda spec: None) -> Corpus:
    """Return the dataset that a spec names; raise `DataError` if there is none. Its errors are problems."""
    dataset = open_dataset(spec, offered=offered)
    if isinstance(dataset, OfficialDataset):
        return read_official(dataset)
    if isinstance(dataset, EmbeddedDataset):
        return _read_embedded(dataset)
    return _read_offered(dataset if isinstance(dataset, CheckedDataset) else CheckedDataset(dataset))


def _read_embedded(data: EmbeddedDataset) -> Corpus:
    corpus = Corpus(f"{data.name} {data.version}")
    corpus.record_errors(wrong := data.problems())
    spoilt = {error.file for error in wrong}
    if spoilt & {str(data.multi_file), str(data.limits_file), *map(str, data.domain_files())}:
        return corpus  # people and tasks depend on these files
    corpus.domains = data.domains()
    for name in corpus.domains:
        domain, file = data.domain(name), str(data.root / "domains" / f"{slug(name)}.toml")
        corpus.types |= {(name, t): spec for t, spec in domain.preferences.items()}
        corpus.possible |= {
            (name, t): len(spec.values) for t, spec in domain.preferences.items() if spec.values
        }
        corpus.tasks += [
            _task(f"{slug(name)}-{t.number}", file, t, (name,), tuple((name, r) for r in t.relevant))
            for t in domain.tasks
        ]
    for task in data.multi().tasks:
        relevant = tuple((d, r) for d, names in task.relevant.items() for r in names)
        corpus.tasks.append(_task(f"multi-{task.number}", str(data.multi_file), task, task.domains, relevant))
    for user in data.users():
        file = str(data.root / "profiles" / f"{user}.toml")
        histories = {str(data.history_file(user, name)) for name in data.histories(user)}
        if not spoilt & {file, *histories}:
            _read_person(data, user, file, corpus)
    return corpus


def _task(
    name: str, file: str, task: TaskEntry, domains: tuple[str, ...], relevant: tuple[tuple[str, str], ...]
) -> TaskText:
    deeds = [part for part in task.parts if part.done and not part.never]
    return TaskText(
        name,
        file,
        f"tasks.{task.number}",
        domains,
        relevant,
        (task.description, task.intent, task.goal),
        task.devices,
        facts=len(task.fact_names()),
        deeds=len(deeds),
        deeds_on_facts=sum(bool(part.facts) for part in deeds),
    )


def _read_person(data: EmbeddedDataset, user: str, file: str, corpus: Corpus) -> None:
    profile = data.profile(user)
    corpus.people.append(
        Person(
            user, file, profile.demographics.model_dump(),
            {(d, t): (v,) if isinstance(v, str) else v for d, e in profile.domains.items() for t,
            v in e.items() if t != "summary"},
            {d: data.summary(user, d) for d in profile.domains},
            {d: int(d in profile.domains) for d in corpus.domains},
            devices=profile.routine.devices, limits=profile.limits,
            dealing_devices=tuple(_dealing_devices(data, user, profile.domains)),
        )
    )  # fmt: skip
    for ref in data.refs(user):
        with corpus.recording_errors():
            scenario = data.load(ref)
            at_home = scenario.situation.location == profile.routine.home
            corpus.assignments.append(_assignment(scenario, file, "routine", at_home=at_home))


def _dealing_devices(
    data: EmbeddedDataset, user: str, domains: Iterable[str]
) -> Iterator[tuple[str, int, str]]:
    for domain in domains:
        history = data.history(user, domain)
        file = str(data.history_file(user, slug(domain)))
        for number, dealing in enumerate(history.dealings if history is not None else (), 1):
            yield file, number, dealing.device


def _assignment(scenario: Scenario, file: str, field: str, *, at_home: bool | None = None) -> Assignment:
    task = scenario.task
    return Assignment(
        scenario.user, task.id, file, field, scenario.domains, task.relevant, (task.description, task.intent,
        task.goal),
        scenario.situation.model_dump(), at_home, tuple(contradictions(scenario)),
    )  # fmt: skip


def _read_offered(data: CheckedDataset) -> Corpus:
    """Return a user's own dataset, read from the scenarios that it gives."""
    corpus = Corpus(f"{data.name} {data.version}", shared=False)
    names, wrong = data.check_domains()
    corpus.domains = tuple(names)
    corpus.record_errors(wrong)
    users: Sequence[str] = ()
    with corpus.recording_errors():
        users = data.users()
    tasks: dict[tuple[object, ...], TaskText] = {}
    for user in users:
        refs, wrong = data.check_refs(user)
        corpus.record_errors(wrong)
        scenarios = []
        for ref in refs:
            scenario, wrong = data.check_scenario(ref)
            corpus.record_errors(wrong)
            if scenario is None:
                continue
            scenarios.append(scenario)
            where = f"load({ref.user!r}, {ref.task!r})"
            a = _assignment(scenario, data.where, where)
            corpus.types |= _types(scenario.words)
            corpus.assignments.append(a)
            tasks.setdefault(
                (ref.task, a.domains, a.relevant, a.texts),
                TaskText(a.task, a.file, where, a.domains, a.relevant, a.texts),
            )
        if scenarios:
            corpus.people.append(_person(user, scenarios, data.where))
    corpus.tasks += tasks.values()
    return corpus


def _person(user: str, scenarios: Sequence[Scenario], where: str) -> Person:
    """Return the person that the scenarios of a user describe together."""
    domains = dict.fromkeys(d for s in scenarios for d in s.domains)
    return Person(
        user, where, scenarios[0].demographics,
        {(d, t): held for s in scenarios for d, types in s.preferences.items() for t, held in types.items()},
        # A summary that is missing in one scenario counts as missing.
        {d: min((s.summaries.get(d, "") for s in scenarios if d in s.domains),
        key=lambda text: bool(text.strip())) for d in domains},
        dict.fromkeys(domains, 1),
        (f"user {user}: preferences.{{0}}.{{1}}", f"user {user}: summaries.{{0}}"),
    )  # fmt: skip


def _types(words: dict[str, DomainWords]) -> dict[tuple[str, str], PreferenceType]:
    return {
        (domain, name): PreferenceType(
            kind="categorical" if t.values else "open",
            multiple=t.multiple,
            values=t.values,
            ask=t.ask or (name,),
        )
        for domain, domain_words in words.items()
        for name, t in domain_words.types.items()
    }
