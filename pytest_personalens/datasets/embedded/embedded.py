"""The embedded benchmark: scenarios from the domains, tasks, profiles and histories of ``data/``."""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Limit
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.scenario import Kind, Scenario, ScenarioRef, Task
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.datasets.embedded.files import EmbeddedFiles, data_folder
from pytest_personalens.datasets.embedded.situations import situation
from pytest_personalens.datasets.world.dates import clock
from pytest_personalens.datasets.world.histories import (
    arrangement_sessions,
    records_sentence,
    sessions,
    summary,
)
from pytest_personalens.datasets.world.placeholders import fill_placeholders, placeholder_values
from pytest_personalens.datasets.world.resolve import Resolver
from pytest_personalens.datasets.world.surroundings import Surroundings, UnresolvedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.core.facts import Clock, Fact, Session, Thing
    from pytest_personalens.datasets.embedded.entries import ProfileEntry, TaskEntry


class EmbeddedDataset(EmbeddedFiles):
    """The benchmark in the package, or a folder of the same layout at `root`.

    The benchmark is free to use under CC-BY-4.0. Each file of ``domains/`` is a domain. Scenarios contain
    the words that ask for its preference types, their values and synonyms. With `whole`, each scenario
    holds the history of all domains of the person.
    """

    def __init__(self, root: Path | None = None, *, whole: bool = False) -> None:
        shipped = root is None or root.resolve() == data_folder().resolve()
        super().__init__(root or data_folder(), shipped=shipped)
        self.whole = whole
        self.limits = lru_cache(maxsize=256)(self._limits_of)
        self.summary = lru_cache(maxsize=4096)(self._summary_of)
        self._past = lru_cache(maxsize=4096)(self._past_of)
        self._possible = cache(self._possible_of)
        self._words = cache(lambda name: self.domain(name).as_said())

    def refs(self, user: str) -> tuple[ScenarioRef, ...]:
        """Return the user's scenarios: the tasks whose domains are all among the user's interests."""
        interests = self.profile(user).domains.keys()
        return tuple(
            [  # which is faster than a generator, and a draw makes thousands
                ScenarioRef(user, task, kind, domains)
                for task, kind, domains, needed in self._tasks
                if interests >= needed
            ]
        )

    @cached_property
    def _tasks(self) -> list[tuple[str, Kind, tuple[str, ...], frozenset[str]]]:
        """Name, kind and domains of each task; the domains as a tuple and as a set."""
        single: list[tuple[str, Kind, tuple[str, ...]]] = [
            (f"{slug(name)}-{number}", "single", (name,))
            for name in self.domains()
            for number in range(1, len(self.domain(name).tasks) + 1)
        ]
        multi: list[tuple[str, Kind, tuple[str, ...]]] = [
            (f"multi-{number}", "multi", domains) for number, domains in enumerate(self.spans(), 1)
        ]
        return [(*task, frozenset(task[2])) for task in (*single, *multi)]

    def load(self, ref: ScenarioRef) -> Scenario:
        """Return the whole scenario; its situation follows from the routine of the person and the task."""
        profile = self.profile(ref.user)
        task, relevant = self._task(ref)
        key = f"{ref.user}\x1f{ref.task}"
        where = situation(profile.routine, task, key=key)
        birthday = str(profile.life.get("birthday", "")) if task.near else ""
        now = clock(where, zone=profile.routine.zone, key=key, birthday=birthday)
        preferences = {d: profile.preferences(d) for d in ref.domains}
        summaries = {d: self.summary(ref.user, d) for d in ref.domains}
        facts, things = self._facts(ref, task, profile, now, preferences, summaries)
        places = placeholder_values(facts)
        others = [d for d in profile.domains if d not in ref.domains] if self.whole else []
        # All of it comes from files that are checked already.
        return unchecked(
            Scenario,
            id=ref.id,
            user=ref.user,
            name=profile.name,
            dataset=f"{self.name} {self.version}",
            kind=ref.kind,
            domains=ref.domains,
            demographics=vars(profile.demographics).copy(),
            preferences=preferences,
            summaries={d: f"{summaries[d]} {records_sentence(d, things)}".rstrip() for d in ref.domains},
            situation=where,
            task=unchecked(
                Task,
                id=ref.task,
                description=task.description,
                intent=fill_placeholders(task.intent, places, now.date),
                goal=fill_placeholders(task.goal, places, now.date),
                relevant=relevant,
                parts=tuple(
                    part.part(*(fill_placeholders(text, places, now.date) for text in (part.text, part.ask)))
                    for part in task.parts
                ),
                facts=facts,
                things=things,
            ),
            words={d: self._words(d) for d in ref.domains},
            now=now,
            limits=tuple(
                limit for domains, limit in self.limits(ref.user) if not domains.isdisjoint(ref.domains)
            ),
            sessions=self._sessions(ref.user, (*ref.domains, *others), things, now),
            others={d: self.summary(ref.user, d) for d in others},
            elsewhere={d: profile.preferences(d) for d in others},
        )

    def past(self, user: str) -> tuple[Session, ...]:
        """Return the conversations of a user in all domains, in order of date, whatever the task is."""
        found = (session for domain in self.profile(user).domains for session in self._past(user, domain))
        return tuple(sorted(found, key=lambda session: session.date))

    def _limits_of(self, user: str) -> tuple[tuple[frozenset[str], Limit], ...]:
        """Return the hard limits of a user, each with the domains that it is for."""
        return tuple(
            (
                frozenset(x.domains),
                unchecked(
                    Limit, kind=x.kind, name=x.name, text=x.text, words=x.words or self.limit_words[x.name]
                ),
            )
            for x in self.profile(user).limits
        )

    def _summary_of(self, user: str, domain: str) -> str:
        """Return what an assistant remembers of the user in a domain."""
        if (history := self.history(user, domain)) is not None:
            return summary(history)
        return " ".join(str(self.profile(user).domains[domain]["summary"]).split())

    def _past_of(self, user: str, domain: str) -> tuple[Session, ...]:
        history = self.history(user, domain)
        return sessions(domain, history) if history is not None else ()

    def _possible_of(self, domain: str) -> dict[str, tuple[str, ...]]:
        """Return the values of each preference type that a person may have."""
        return {name: t.values or t.others for name, t in self.domain(domain).preferences.items()}

    def _sessions(
        self, user: str, domains: Sequence[str], things: Sequence[Thing], now: Clock
    ) -> tuple[Session, ...]:
        found = (
            session
            for domain in domains
            for session in (*self._past(user, domain), *arrangement_sessions(domain, things, now))
        )
        return tuple(sorted(found, key=lambda session: session.date))

    def _facts(
        self,
        ref: ScenarioRef,
        task: TaskEntry,
        profile: ProfileEntry,
        now: Clock,
        preferences: Mapping[str, Mapping[str, tuple[str, ...]]],
        summaries: Mapping[str, str],
    ) -> tuple[tuple[Fact, ...], tuple[Thing, ...]]:
        if not task.facts:
            return (), ()
        around = Surroundings(
            now=now,
            key=f"{ref.user}\x1f{ref.task}",
            name=profile.name,
            life=profile.life,
            domains=ref.domains,
            preferences=preferences,
            possible={d: self._possible(d) for d in ref.domains},
            known=" ".join(summaries.values()).casefold(),
        )
        resolver = Resolver(task.facts, around)
        try:
            return resolver.facts(), resolver.things()
        except UnresolvedError as error:
            file = self.multi_file if ref.kind == "multi" else self.domain_file(ref.domains[0])
            number = ref.task.rpartition("-")[2]
            raise DataError(
                file, f"{error.problem} (user {ref.user})", field=f"tasks.{number}.facts.{error.field}"
            ) from None

    def _task(self, ref: ScenarioRef) -> tuple[TaskEntry, tuple[tuple[str, str], ...]]:
        number = int(ref.task.rpartition("-")[2])
        # Tasks are numbered 1, 2, 3, ... in their file, which is checked.
        if ref.kind == "multi":
            multi = self.multi().tasks[number - 1]
            return multi, tuple((d, name) for d, names in multi.relevant.items() for name in names)
        task = self.domain(ref.domains[0]).tasks[number - 1]
        return task, tuple((ref.domains[0], name) for name in task.relevant)
