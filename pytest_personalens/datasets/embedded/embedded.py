"""The embedded benchmark: scenarios from the domains, tasks, profiles and histories of ``data/``."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, get_args

from pytest_personalens.core.facts import Limit
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.scenario import Kind, Scenario, ScenarioRef, Situation, Task
from pytest_personalens.datasets.dataset import pick
from pytest_personalens.datasets.embedded.dataset_entries import Day, MultiTaskEntry
from pytest_personalens.datasets.embedded.dataset_files import EmbeddedFiles
from pytest_personalens.datasets.embedded.packaged import PackagedFiles
from pytest_personalens.datasets.world.dates import clock
from pytest_personalens.datasets.world.fact_entries import arrangement_sessions, records_sentence
from pytest_personalens.datasets.world.resolve import fill_placeholders, placeholder_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.facts import Clock, Session, Thing
    from pytest_personalens.datasets.embedded.dataset_entries import Routine, TaskEntry


_DAYS: Final = get_args(Day)


def situation(routine: Routine, task: TaskEntry, *, key: str) -> Situation:
    """Return a plausible situation, chosen by the digest of `key`.

    The choice is the same on every machine. The task says at which places, on which devices and when it makes
    sense. The routine says which of these the person has. The person spends working hours of working days at
    work. So a task for home falls on a free day or at another hour.
    """
    places = {"home": routine.home, "work": routine.work, "transit": routine.transit, "out": routine.out}
    days = {
        (at_work, time): [
            day
            for day in _DAYS
            if at_work == (bool(routine.work) and day not in routine.free and time in routine.busy)
        ]
        for at_work in (True, False)
        for time in task.times
    }
    options = [
        (place, device, time, day)
        for place in task.where
        if places[place]
        for device in task.devices
        if device in routine.devices
        and (device != "Laptop" or place in ("home", "work"))
        and (device != "Smart speaker" or place == "home")
        for time in task.times
        for day in days[place == "work", time]
    ]
    # A few pairs have no fitting situation (a task for the office and a person without one). They get one at
    # home.
    options = options or [("home", routine.devices[0], time, day) for time in task.times for day in _DAYS]
    place, device, time, day = pick(options, key)
    return unchecked(
        Situation,
        location=places[place],
        device=device,
        time_of_day=time,
        day_of_week=day,
        environment="Noisy" if place in routine.noisy else "Quiet",
    )


class EmbeddedDataset:
    """The benchmark in the package, or a folder of TOML files in the same layout at `root`.

    The benchmark is free to use under CC-BY-4.0. Scenarios contain the words that ask for the preference
    types of their domains, their values and synonyms. With `whole`, each scenario holds the history of all
    domains of the person. `files` reads the domains, tasks, people and histories.
    """

    def __init__(self, root: Path | None = None, *, whole: bool = False) -> None:
        self.files = PackagedFiles() if root is None else EmbeddedFiles(root)
        self.name, self.version, self.whole = self.files.name, self.files.version, whole
        self._limits = lru_cache(maxsize=256)(self._limits_of)

    def domains(self) -> tuple[str, ...]:
        """Return the names of the domains, in the order of their files."""
        return self.files.domains()

    def users(self) -> tuple[str, ...]:
        """Return the names of the people, in alphabetical order."""
        return self.files.users()

    def refs(self, user: str) -> tuple[ScenarioRef, ...]:
        """Return the user's scenarios: the tasks whose domains are all among the user's interests."""
        interests = self.files.profile(user).domains.keys()
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
        return [(*task, frozenset(task[2])) for task in self.files.task_names()]

    def load(self, ref: ScenarioRef) -> Scenario:
        """Return the whole scenario; its situation follows from the routine of the person and the task."""
        profile = self.files.profile(ref.user)
        task = self.files.task(ref)
        key = f"{ref.user}\x1f{ref.task}"
        where = situation(profile.routine, task, key=key)
        birthday = str(profile.life.get("birthday", "")) if task.near else ""
        now = clock(where, zone=profile.routine.zone, key=key, birthday=birthday)
        preferences = {d: profile.preferences(d) for d in ref.domains}
        summaries = {d: self.files.summary(ref.user, d) for d in ref.domains}
        facts, things = self.files.facts(ref, now)
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
                relevant=_relevant(task, ref),
                parts=tuple(
                    part.part(*(fill_placeholders(text, places, now.date) for text in (part.text, part.ask)))
                    for part in task.parts
                ),
                facts=facts,
                things=things,
            ),
            words={d: self.files.words(d) for d in ref.domains},
            now=now,
            limits=tuple(
                limit for domains, limit in self._limits(ref.user) if not domains.isdisjoint(ref.domains)
            ),
            sessions=self._sessions(ref.user, (*ref.domains, *others), things, now),
            others={d: self.files.summary(ref.user, d) for d in others},
            elsewhere={d: profile.preferences(d) for d in others},
        )

    def past(self, user: str) -> tuple[Session, ...]:
        """Return the conversations of a user in all domains, in order of date, whatever the task is."""
        found = (
            session
            for domain in self.files.profile(user).domains
            for session in self.files.sessions(user, domain)
        )
        return tuple(sorted(found, key=lambda session: session.date))

    def _limits_of(self, user: str) -> tuple[tuple[frozenset[str], Limit], ...]:
        """Return the hard limits of a user, each with the domains that it is for."""
        return tuple(
            (
                frozenset(x.domains),
                unchecked(Limit, kind=x.kind, name=x.name, text=x.text, words=self.files.limit_words(x)),
            )
            for x in self.files.profile(user).limits
        )

    def _sessions(
        self, user: str, domains: Sequence[str], things: Sequence[Thing], now: Clock
    ) -> tuple[Session, ...]:
        found = (
            session
            for domain in domains
            for session in (*self.files.sessions(user, domain), *arrangement_sessions(domain, things, now))
        )
        return tuple(sorted(found, key=lambda session: session.date))


def _relevant(task: TaskEntry, ref: ScenarioRef) -> tuple[tuple[str, str], ...]:
    """Return the relevant preference types of a task, each as (domain, type)."""
    if isinstance(task, MultiTaskEntry):
        return tuple((domain, name) for domain, names in task.relevant.items() for name in names)
    return tuple((ref.domains[0], name) for name in task.relevant)
