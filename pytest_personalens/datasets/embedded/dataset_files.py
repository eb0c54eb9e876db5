"""Reads the files of the embedded layout, with every problem that they have."""

from __future__ import annotations

import os
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import all_problems
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.base import check_user_name, read_head, read_toml, value_or_raise
from pytest_personalens.datasets.embedded.dataset_entries import Domain, MultiTasks, ProfileEntry
from pytest_personalens.datasets.embedded.layout import (
    domain_problems,
    history_problems,
    multi_problems,
    name_problems,
    profile_problems,
    unknown,
)
from pytest_personalens.datasets.world.fact_entries import HistoryEntry, LimitWords
from pytest_personalens.datasets.world.histories import sessions, summary
from pytest_personalens.datasets.world.resolve import Resolver, Surroundings, UnresolvedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.facts import Clock, Fact, Session, Thing
    from pytest_personalens.core.scenario import Kind, ScenarioRef
    from pytest_personalens.datasets.embedded.dataset_entries import TaskEntry
    from pytest_personalens.datasets.embedded.layout import Problem
    from pytest_personalens.datasets.world.fact_entries import LimitEntry

_Model = TypeVar("_Model", bound=BaseModel)


class EmbeddedFiles:
    """The files of a folder in the embedded layout, read when they are needed.

    Raise `DataError` for the first problem of a file. `problems` lists all of them.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.multi_file, self.limits_file = root / "multi.toml", root / "limits.toml"
        self.name, self.version = read_head(root / "dataset.toml")
        self.multi = cache(lambda: value_or_raise(*self._examine_multi(self._catalogue)))
        self.profile = lru_cache(maxsize=256)(self._read_profile)
        self.history = lru_cache(maxsize=4096)(self._read_history)
        self.histories = lru_cache(maxsize=256)(self._find_histories)
        self.summary = lru_cache(maxsize=4096)(self._compose_summary)
        self.sessions = lru_cache(maxsize=4096)(self._compose_sessions)
        self.words = cache(lambda name: self.domain(name).as_said())
        self._limits = cache(self._examine_limits)

    def history_file(self, user: str, name: str) -> Path:
        """Return the path of the file that tells of a domain, by the slug of its name."""
        return Path(self.root, "histories", user, f"{name}.toml")

    def domain_file(self, name: str) -> Path:
        """Return the path of the file of a domain."""
        return self.root / "domains" / f"{slug(name)}.toml"

    def domain_files(self) -> list[Path]:
        """Return the files of ``domains/``, in the order of the domains."""
        return sorted((self.root / "domains").glob("*.toml"), key=lambda file: file.stem)

    def problems(self) -> list[DataError]:
        """Return every problem with the files; the other methods raise one at a time."""
        domains, errors = self._examine_domains()
        errors += self._examine_multi(domains)[1] + self._limits()[1]
        for user in self.users():
            errors += self._examine_profile(user, domains)[1]
            for domain in self.histories(user):
                errors += self._examine_history(user, domain)[1]
        if not self.users():
            problem = "nobody in it; write a file for each person, such as profiles/ada.toml"
            errors.append(DataError(self.root / "profiles", problem))
        return errors

    def domains(self) -> tuple[str, ...]:
        """Return the domain names of the files in ``domains/``, in the order of the files."""
        return tuple(self._catalogue)

    def domain(self, name: str) -> Domain:
        """Return a domain; raise `DataError` if there is none, or if a file of a domain has a problem."""
        domain = self._catalogue.get(name)
        if domain is None:
            raise DataError(self.root / "domains", unknown(name, self.domains()))
        return domain

    def task_names(self) -> list[tuple[str, Kind, tuple[str, ...]]]:
        """Return name, kind and domains of each task."""
        single: list[tuple[str, Kind, tuple[str, ...]]] = [
            (f"{slug(name)}-{task.number}", "single", (name,))
            for name in self.domains()
            for task in self.domain(name).tasks
        ]
        return [*single, *((f"multi-{task.number}", "multi", task.domains) for task in self.multi().tasks)]

    def task(self, ref: ScenarioRef) -> TaskEntry:
        """Return the task of a scenario."""
        # Tasks are numbered 1, 2, 3, ... in their file, which is checked.
        number = int(ref.task.rpartition("-")[2])
        tasks = self.multi().tasks if ref.kind == "multi" else self.domain(ref.domains[0]).tasks
        return tasks[number - 1]

    def tasks(self) -> Iterator[tuple[Path, TaskEntry]]:
        """Yield every task with its file."""
        for name in self.domains():
            yield from ((self.domain_file(name), task) for task in self.domain(name).tasks)
        yield from ((self.multi_file, task) for task in self.multi().tasks)

    def task_file(self, ref: ScenarioRef) -> Path:
        """Return the file of the task of a scenario."""
        return self.multi_file if ref.kind == "multi" else self.domain_file(ref.domains[0])

    def person_files(self, user: str) -> list[Path]:
        """Return the files about one person."""
        histories = [self.history_file(user, name) for name in self.histories(user)]
        return [self.root / "profiles" / f"{user}.toml", *histories]

    def shared_files(self) -> list[Path]:
        """Return the files on which all people and tasks depend."""
        return [self.multi_file, self.limits_file, *self.domain_files()]

    def users(self) -> tuple[str, ...]:
        """Return the names of the files in ``profiles/``, in alphabetical order."""
        folder = self.root / "profiles"
        return tuple(sorted(check_user_name(folder, name) for name in _stems(folder)))

    def limit_words(self, limit: LimitEntry) -> tuple[str, ...]:
        """Return the words that break a limit, its own or those of ``limits.toml``."""
        return limit.words or value_or_raise(*self._limits())[limit.name]

    @cached_property
    def _catalogue(self) -> dict[str, Domain | None]:
        return value_or_raise(*self._examine_domains())

    def _read_profile(self, user: str) -> ProfileEntry:
        return value_or_raise(*self._examine_profile(user, self._catalogue))

    def _read_history(self, user: str, domain: str) -> HistoryEntry | None:
        if slug(domain) not in self.histories(user):
            return None
        return value_or_raise(*self._examine_history(user, slug(domain)))

    def _compose_summary(self, user: str, domain: str) -> str:
        """Return what an assistant remembers of the user in a domain."""
        if (history := self.history(user, domain)) is not None:
            return summary(history)
        return " ".join(str(self.profile(user).domains[domain]["summary"]).split())

    def _compose_sessions(self, user: str, domain: str) -> tuple[Session, ...]:
        """Return the past conversations of a user about a domain."""
        history = self.history(user, domain)
        return sessions(domain, history) if history is not None else ()

    def facts(self, ref: ScenarioRef, now: Clock) -> tuple[tuple[Fact, ...], tuple[Thing, ...]]:
        """Return what the facts of a scenario are at that moment, and the things that exist."""
        task, profile = self.task(ref), self.profile(ref.user)
        if not task.facts:
            return (), ()
        summaries = [self.summary(ref.user, domain) for domain in ref.domains]
        around = Surroundings(
            now=now,
            key=f"{ref.user}\x1f{ref.task}",
            name=profile.name,
            life=profile.life,
            domains=ref.domains,
            preferences={domain: profile.preferences(domain) for domain in ref.domains},
            possible={domain: self.domain(domain).possible() for domain in ref.domains},
            known=" ".join(summaries).casefold(),
        )
        resolver = Resolver(task.facts, around)
        try:
            return resolver.facts(), resolver.things()
        except UnresolvedError as error:
            field = f"tasks.{task.number}.facts.{error.field}"
            problem = f"{error.problem} (user {ref.user})"
            raise DataError(self.task_file(ref), problem, field=field) from None

    def _find_histories(self, user: str) -> frozenset[str]:
        """Return the slugs of the domains of which a file of ``histories/`` tells."""
        return frozenset(_stems(Path(self.root, "histories", user)))

    def _examine_limits(self) -> tuple[dict[str, tuple[str, ...]] | None, list[DataError]]:
        if not os.path.lexists(self.limits_file):
            return {}, []
        limits, errors = examine_file(self.limits_file, LimitWords)
        return (limits.words if limits is not None else None), errors

    def _examine_domains(self) -> tuple[dict[str, Domain | None], list[DataError]]:
        """Return the domains by name (None if only its name could be read), and every problem."""
        domains: dict[str, Domain | None] = {}
        errors: list[DataError] = []
        slugs: dict[str, str] = {}
        for file in self.domain_files():
            domain, wrong = examine_file(file, Domain)
            errors += wrong
            name = domain.name if domain is not None else _name_in(file)
            if name is None:
                continue
            errors += _errors(file, name_problems(file.stem, name, slugs))
            if domain is not None:
                errors += _errors(file, domain_problems(domain))
            slugs.setdefault(slug(name), name)
            domains.setdefault(name, domain)
        if not domains and not errors:
            problem = "no domain in it; write a file for each, such as domains/billing.toml"
            errors.append(DataError(self.root / "domains", problem))
        return domains, errors

    def _examine_multi(
        self, domains: Mapping[str, Domain | None]
    ) -> tuple[MultiTasks | None, list[DataError]]:
        if not os.path.lexists(self.multi_file):
            return MultiTasks(tasks=()), []  # a folder may have no such tasks
        multi, errors = examine_file(self.multi_file, MultiTasks)
        if multi is not None:
            errors += _errors(self.multi_file, multi_problems(multi, domains))
        return multi, errors

    def _examine_history(self, user: str, domain: str) -> tuple[HistoryEntry | None, list[DataError]]:
        file = self.history_file(user, domain)
        history, errors = examine_file(file, HistoryEntry)
        if history is not None:
            errors += _errors(file, history_problems(history))
        return history, errors

    def _examine_profile(
        self, user: str, domains: Mapping[str, Domain | None]
    ) -> tuple[ProfileEntry | None, list[DataError]]:
        file = Path(self.root, "profiles", f"{user}.toml")
        if os.path.basename(user) != user or not os.path.isfile(file):  # noqa: PTH113, PTH119
            raise DataError(self.root / "profiles", f"no such user: {user!r}", code="PL106")
        profile, errors = examine_file(file, ProfileEntry)
        if profile is not None:
            with_history = {name for name in domains if slug(name) in self.histories(user)}
            limits = self._limits()[0] or {} if profile.limits else {}
            problems = profile_problems(profile, domains, histories=with_history, limits=limits)
            errors += _errors(file, problems)
        strange = self.histories(user) - {slug(name) for name in (profile.domains if profile else domains)}
        problem = "this person has no such domain of interest"
        return profile, errors + [DataError(self.history_file(user, n), problem) for n in sorted(strange)]


def examine_file(file: Path, model: type[_Model]) -> tuple[_Model | None, list[DataError]]:
    """Return the value in a file, or None, and every problem with its fields."""
    try:
        return model.model_validate(read_toml(file)), []
    except DataError as error:
        return None, [error]
    except ValidationError as error:
        problems = all_problems(error, count_from=1)
        return None, [DataError(file, problem, field=field) for field, problem in problems]


def _errors(file: Path, problems: Iterator[Problem]) -> list[DataError]:
    """Return the problems with what a file says, beside those with its form."""
    return [DataError(file, message, field=field) for field, message in problems]


def _name_in(file: Path) -> str | None:
    """Return the name in a file, even if other fields of it are wrong; None if it cannot be read."""
    try:
        name = read_toml(file).get("name")
    except DataError:
        return None
    return name if isinstance(name, str) else None


def _stems(folder: Path) -> list[str]:
    """Return the names of the TOML files in a folder, without their ending; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [e.name.removesuffix(".toml") for e in entries if e.name.endswith(".toml")]
    except OSError:
        return []
