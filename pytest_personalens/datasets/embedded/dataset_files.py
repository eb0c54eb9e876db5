"""Reads the files of the embedded layout, with every problem that they have."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import all_problems
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import Kind
from pytest_personalens.datasets.dataset import check_user_name, read_head, read_toml, value_or_raise
from pytest_personalens.datasets.embedded.dataset_entries import Domain, MultiTasks, ProfileEntry
from pytest_personalens.datasets.world.dates import FIRST_DAY
from pytest_personalens.datasets.world.fact_entries import HistoryEntry, LimitWords, sessions, summary
from pytest_personalens.datasets.world.resolve import (
    Resolver,
    Surroundings,
    UnresolvedError,
    placeholder_problems,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.facts import Clock, Fact, Session, Thing
    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.datasets.embedded.dataset_entries import TaskEntry
    from pytest_personalens.datasets.world.fact_entries import LimitEntry

#: A field and the problem with it.
Problem = tuple[str, str]
#: The mark of what is to be replaced in a file that somebody writes by hand.
TODO: Final = "TODO"
#: The names of the kinds of tasks. Gates and selections use them in the same place as the names of domains.
TASK_KINDS: Final[tuple[str, ...]] = get_args(Kind)


def name_problems(
    stem: str, name: str, earlier: Mapping[str, str], kinds: Sequence[str] = TASK_KINDS
) -> Iterator[Problem]:
    """Yield the problems with the name of a domain in the file `stem`.

    `earlier` maps slugs to the domains before it. `kinds` are names that no domain may have.
    """
    own_slug = slug(name)
    if not name.strip():
        yield "name", "expected a text that is not empty"
    elif own_slug in kinds:
        yield "name", f"{name!r} is a kind of task; give the domain another name"
    elif own_slug in earlier:
        same = f"{name!r} and {earlier[own_slug]!r} share the slug {own_slug!r}"
        yield "name", f"{same}; give one of them another name"
    elif own_slug != stem:
        yield "name", f"the domain {name!r} belongs in the file {own_slug}.toml"


def domain_problems(domain: Domain) -> Iterator[Problem]:
    """Yield the problems with the preference types and the tasks of a domain."""
    for name, spec in domain.preferences.items():
        if (spec.kind == "categorical") != bool(spec.values):
            needs, has = (
                "a categorical type needs the list of its values",
                "an open type has no list of values",
            )
            yield f"preferences.{name}.values", has if spec.values else needs
        yield from ((f"preferences.{name}.values", f"{v!r} stands there twice") for v in _twice(spec.values))
        strangers = [value for value in spec.synonyms if spec.values and value not in spec.values]
        yield from (
            (f"preferences.{name}.synonyms", f"no value {value!r} in 'values'") for value in strangers
        )
        if name == "summary":
            yield f"preferences.{name}", "'summary' is a field of profiles; give the type another name"
    yield from _numbers(domain.tasks)
    for task in domain.tasks:
        yield from task_problems(task)
        field = f"tasks.{task.number}.relevant"
        yield from ((field, f"{name!r} stands there twice") for name in _twice(task.relevant))
        strange = [name for name in task.relevant if name not in domain.preferences]
        yield from ((field, f"no preference type {name!r} in this domain") for name in strange)


def multi_problems(multi: MultiTasks, domains: Mapping[str, Domain | None]) -> Iterator[Problem]:
    """Yield the problems with tasks over several domains; an unreadable domain is None in `domains`."""
    yield from _numbers(multi.tasks)
    for task in multi.tasks:
        yield from task_problems(task)
        field = f"tasks.{task.number}"
        if len(set(task.domains)) < len(task.domains):
            yield f"{field}.domains", "a domain stands there twice"
        strange = [name for name in task.domains if name not in domains]
        yield from ((f"{field}.domains", unknown(name, domains)) for name in strange)
        for name, types in task.relevant.items():
            if name not in task.domains:
                yield f"{field}.relevant", f"{name!r} is not among the task's domains"
            here, domain = f"{field}.relevant.{name}", domains.get(name)
            yield from ((here, f"{twice!r} stands there twice") for twice in _twice(types))
            lacking = [t for t in types if domain is not None and t not in domain.preferences]
            yield from ((here, f"no preference type {t!r} in {name}") for t in lacking)


def task_problems(task: TaskEntry) -> Iterator[Problem]:
    """Yield the problems with the places of facts in the texts of a task."""
    names = task.fact_names()
    parts = [(f"parts.{number}", part.text) for number, part in enumerate(task.parts, 1)]
    for field, text in (("intent", task.intent), ("goal", task.goal), *parts):
        problems = placeholder_problems(text, names)
        yield from ((f"tasks.{task.number}.{field}", problem) for problem in problems)
    for number, part in enumerate(task.parts, 1):
        for name in (name for name in part.facts if name not in names):
            problem = f"no fact {name!r}; known: {', '.join(names) or 'none'}"
            yield f"tasks.{task.number}.parts.{number}.facts", problem


def profile_problems(
    profile: ProfileEntry,
    domains: Mapping[str, Domain | None],
    *,
    histories: Collection[str] = (),
    limits: Collection[str] = (),
) -> Iterator[Problem]:
    """Yield the problems with the interests, preferences and limits of a person.

    `histories` are the domains with a file of ``histories/``, `limits` the names in ``limits.toml``.
    """
    if not profile.domains:
        yield "domains", "no domain of interest"
    for name, entry in profile.domains.items():
        if name not in domains:
            yield f"domains.{name}", unknown(name, domains)
            continue
        summary = entry.get("summary", "")
        if name in histories and "summary" in entry:
            yield f"domains.{name}.summary", "a file of histories/ tells of it too; leave out one of them"
        elif name not in histories and (not isinstance(summary, str) or not summary.strip()):
            problem = "expected one text" if "summary" in entry else "the field is missing"
            yield f"domains.{name}.summary", problem
        if (domain := domains[name]) is not None:
            yield from _preferences(domain, entry)
    for number, limit in enumerate(profile.limits, 1):
        if not limit.words and limit.name not in limits:
            problem = (
                f"a limit without words, and limits.toml does not know {limit.name!r}; list what breaks it"
            )
            yield f"limits.{number}.words", problem
        for name in (name for name in limit.domains if name not in profile.domains):
            yield f"limits.{number}.domains", f"{name!r} is no domain of interest of this person"


def history_problems(history: HistoryEntry) -> Iterator[Problem]:
    """Yield the problems with the dates of a person's dealings."""
    for number, dealing in enumerate(history.dealings, 1):
        if dealing.date >= FIRST_DAY.isoformat():
            problem = f"{dealing.date} lies after the first day of the scenarios, {FIRST_DAY.isoformat()}"
            yield f"dealings.{number}.date", problem


def unknown(name: str, names: Iterable[str]) -> str:
    """Return the message for a domain that is none of `names`."""
    return f"unknown domain {name!r}; known: {', '.join(names)}"


def _numbers(tasks: Sequence[TaskEntry]) -> Iterator[Problem]:
    for expected, task in enumerate(tasks, 1):
        if task.number != expected:
            problem = f"expected {expected}: tasks are numbered 1, 2, 3, ... in the file"
            yield f"tasks.{task.number}.number", problem


def _preferences(domain: Domain, entry: Mapping[str, str | tuple[str, ...]]) -> Iterator[Problem]:
    for name, spec in domain.preferences.items():
        field = f"domains.{domain.name}.{name}"
        if name not in entry:
            yield field, "the field is missing"
            continue
        value = entry[name]
        if isinstance(value, str) == spec.multiple:
            yield field, "expected a list of texts" if spec.multiple else "expected one text"
            continue
        values = (value,) if isinstance(value, str) else value
        if any(not v.strip() for v in values):
            yield field, "expected a text that is not empty"
        elif _twice(values):
            yield field, "a value stands there twice"
        elif spec.kind == "categorical":
            strange = [v for v in values if v not in spec.values]
            yield from ((field, f"{v!r} is not one of: {', '.join(spec.values)}") for v in strange)
    for name in entry:
        if name != "summary" and name not in domain.preferences:
            yield f"domains.{domain.name}.{name}", f"no such preference type in {domain.name}"


def _twice(values: Collection[str]) -> list[str]:
    if len(set(values)) == len(values):
        return []
    return [value for value, times in Counter(values).items() if times > 1]


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
        self.profile = lru_cache(maxsize=256)(
            lambda user: value_or_raise(*self._examine_profile(user, self._catalogue))
        )
        self.history = lru_cache(maxsize=4096)(self._read_history)
        # The slugs of the domains of which a file of histories/ tells.
        self.histories = lru_cache(maxsize=256)(lambda user: frozenset(_stems(root / "histories" / user)))
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
