"""The embedded benchmark: the hand-written domains, tasks and profiles of ``data/``, read from TOML."""

from __future__ import annotations

import hashlib
import os
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.jsonfile import all_problems
from pytest_personalens.core.scenario import Scenario, ScenarioRef, Situation, Task, slug
from pytest_personalens.datasets.base import readable_name
from pytest_personalens.datasets.cached import read_toml
from pytest_personalens.datasets.entries import Day, Domain, MultiTasks, ProfileEntry, Routine, TaskEntry
from pytest_personalens.datasets.layout import (
    domain_problems,
    multi_problems,
    name_problems,
    profile_problems,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DAYS: Final[tuple[Day, ...]] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_Model = TypeVar("_Model", bound=BaseModel)
_Read = TypeVar("_Read")
_PACKAGE: Final = Path(__file__).resolve().parent.parent


class EmbeddedDataset:
    """The benchmark that travels in the package (free to use under CC-BY-4.0), or a folder of that layout at
    `root`.

    Each file of ``domains/`` is a domain. Scenarios of a folder carry the words by which its domains and
    types are asked for; those of the package need not: the embedded agents know them.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or data_folder()
        head = _read(self.root / "dataset.toml")
        for field in ("name", "version"):
            if not isinstance(head.get(field), str) or not head[field].strip():
                raise DataError(
                    self.root / "dataset.toml", f'expected a text, such as {field} = "..."', field=field
                )
        self.name, self.version = str(head["name"]), str(head["version"])
        self._says_words = root is not None and root.resolve() != data_folder().resolve()
        self.multi = cache(self._read_multi)
        self.profile = lru_cache(maxsize=256)(self._read_profile)

    @property
    def multi_file(self) -> Path:
        """Where the tasks over several domains stand."""
        return self.root / "multi.toml"

    def domain_files(self) -> list[Path]:
        """The files of ``domains/``, in the order of the domains."""
        return sorted((self.root / "domains").glob("*.toml"), key=lambda file: file.stem)

    def problems(self) -> list[DataError]:
        """All that is wrong with the files: what the other methods raise one at a time."""
        domains, found = self._examined_domains()
        found += self._examined_multi(domains)[1]
        for user in self.users():
            found += self._examined_profile(user, domains)[1]
        if not self.users():
            found.append(
                DataError(
                    self.root / "profiles",
                    "nobody in it; write a file for each person, such as profiles/ada.toml",
                )
            )
        return found

    def domains(self) -> tuple[str, ...]:
        """The names in the files of ``domains/``, in the order of the files: the benchmark's twenty, or a
        folder's own.
        """
        return tuple(self._catalogue)

    def domain(self, name: str) -> Domain:
        """The domain of that name.

        Raises `DataError` if there is none, or something is wrong with a domain's file.
        """
        domain = self._catalogue.get(name)
        if domain is None:
            raise DataError(self.root / "domains", unknown(name, self.domains()))
        return domain

    @cached_property
    def _catalogue(self) -> dict[str, Domain | None]:
        domains, found = self._examined_domains()
        return _sound(domains, found)

    def users(self) -> tuple[str, ...]:
        """The names of the files in ``profiles/``, in alphabetical order."""
        folder = self.root / "profiles"
        return tuple(sorted(readable_name(folder, p.stem) for p in folder.glob("*.toml")))

    def refs(self, user: str) -> tuple[ScenarioRef, ...]:
        """A user's scenarios: the tasks whose domains are all among the person's interests."""
        interests = self.profile(user).domains
        single = [
            ScenarioRef(user, f"{slug(name)}-{task.number}", "single", (name,))
            for name in self.domains()
            if name in interests
            for task in self.domain(name).tasks
        ]
        multi = [
            ScenarioRef(user, f"multi-{task.number}", "multi", task.domains)
            for task in self.multi().tasks
            if all(d in interests for d in task.domains)
        ]
        return (*single, *multi)

    def load(self, ref: ScenarioRef) -> Scenario:
        """The whole scenario, its situation derived from the person's routine and the task."""
        profile = self.profile(ref.user)
        task, relevant = self._task(ref)
        return Scenario(
            id=ref.id,
            user=ref.user,
            name=profile.name,
            dataset=f"{self.name} {self.version}",
            kind=ref.kind,
            domains=ref.domains,
            demographics=profile.demographics.model_dump(),
            preferences={
                domain: {
                    name: (value,) if isinstance(value, str) else value
                    for name, value in profile.domains[domain].items()
                    if name != "summary"
                }
                for domain in ref.domains
            },
            summaries={d: " ".join(str(profile.domains[d]["summary"]).split()) for d in ref.domains},
            situation=situation(profile.routine, task, key=f"{ref.user}\x1f{ref.task}"),
            task=Task(
                id=ref.task,
                description=task.description,
                intent=task.intent,
                goal=task.goal,
                relevant=relevant,
                parts=tuple(part.part() for part in task.parts),
            ),
            words={d: self.domain(d).as_said() for d in ref.domains} if self._says_words else {},
        )

    def _task(self, ref: ScenarioRef) -> tuple[TaskEntry, tuple[tuple[str, str], ...]]:
        number = int(ref.task.rpartition("-")[2])
        if ref.kind == "multi":
            multi = next(t for t in self.multi().tasks if t.number == number)
            return multi, tuple((d, name) for d, names in multi.relevant.items() for name in names)
        task = next(t for t in self.domain(ref.domains[0]).tasks if t.number == number)
        return task, tuple((ref.domains[0], name) for name in task.relevant)

    def _read_multi(self) -> MultiTasks:
        return _sound(*self._examined_multi(self._catalogue))

    def _read_profile(self, user: str) -> ProfileEntry:
        return _sound(*self._examined_profile(user, self._catalogue))

    def _examined_domains(self) -> tuple[dict[str, Domain | None], list[DataError]]:
        """Name -> domain, or None where the name only could be read; and all that is wrong with the files."""
        domains: dict[str, Domain | None] = {}
        found: list[DataError] = []
        slugs: dict[str, str] = {}
        for file in self.domain_files():
            domain, wrong = _examined(file, Domain)
            found += wrong
            name = domain.name if domain is not None else _name_in(file)
            if name is None:
                continue
            problems = [
                *name_problems(file.stem, name, slugs),
                *(domain_problems(domain) if domain is not None else ()),
            ]
            found += [DataError(file, told, field=field) for field, told in problems]
            slugs.setdefault(slug(name), name)
            domains.setdefault(name, domain)
        if not domains and not found:
            found.append(
                DataError(
                    self.root / "domains",
                    "no domain in it; write a file for each, such as domains/billing.toml",
                )
            )
        return domains, found

    def _examined_multi(
        self, domains: Mapping[str, Domain | None]
    ) -> tuple[MultiTasks | None, list[DataError]]:
        file = self.multi_file
        if not os.path.lexists(file):
            return MultiTasks(tasks=()), []  # a folder need not have such tasks
        multi, found = _examined(file, MultiTasks)
        problems = multi_problems(multi, domains) if multi is not None else ()
        return multi, found + [DataError(file, told, field=field) for field, told in problems]

    def _examined_profile(
        self, user: str, domains: Mapping[str, Domain | None]
    ) -> tuple[ProfileEntry | None, list[DataError]]:
        file = self.root / "profiles" / f"{user}.toml"
        if Path(user).name != user or not file.is_file():
            raise DataError(self.root / "profiles", f"no such user: {user!r}")
        profile, found = _examined(file, ProfileEntry)
        problems = profile_problems(profile, domains) if profile is not None else ()
        return profile, found + [DataError(file, told, field=field) for field, told in problems]


def situation(routine: Routine, task: TaskEntry, *, key: str) -> Situation:
    """A plausible situation, the same on every machine: a choice by the digest of `key`.

    The task says where, on what and when it makes sense; the person's days say which of these exist. Working
    hours of a working day are spent at work, so a task for home falls on a free day or another hour then.
    """
    places = {"home": routine.home, "work": routine.work, "transit": routine.transit, "out": routine.out}
    options = [
        (place, device, time, day)
        for place in task.where
        if places[place]
        for device in task.devices
        if device in routine.devices
        and (device != "Laptop" or place in ("home", "work"))
        and (device != "Smart speaker" or place == "home")
        for time in task.times
        for day in _DAYS
        if (place == "work") == (bool(routine.work) and day not in routine.free and time in routine.busy)
    ]
    # Nothing fits for a few odd pairs (a task for the office, a person without one): at home, then.
    options = options or [("home", routine.devices[0], time, day) for time in task.times for day in _DAYS]
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
    place, device, time, day = options[number % len(options)]
    return Situation(
        location=places[place],
        device=device,
        time_of_day=time,
        day_of_week=day,
        environment="Noisy" if place in routine.noisy else "Quiet",
    )


def data_folder() -> Path:
    """Where the embedded data lies: inside the installed package, or at the top of a source checkout."""
    for folder in (_PACKAGE / "data", _PACKAGE.parent / "data"):
        if (folder / "dataset.toml").is_file():
            return folder
    raise DataError(_PACKAGE / "data", "the embedded data is missing; reinstall pytest-personalens")


def _sound(read: _Read | None, found: Sequence[DataError]) -> _Read:
    """What was read. Raises the first thing that is wrong with it."""
    if found or read is None:
        raise found[0]
    return read


def _examined(file: Path, model: type[_Model]) -> tuple[_Model | None, list[DataError]]:
    """The value in a file, None where there is none, and all that is wrong with its fields."""
    try:
        return model.model_validate(_read(file)), []
    except DataError as error:
        return None, [error]
    except ValidationError as error:
        return None, [
            DataError(file, problem, field=field) for field, problem in all_problems(error, count_from=1)
        ]


def _name_in(file: Path) -> str | None:
    """What a file says its name is, though something else in it is wrong."""
    try:
        name = _read(file).get("name")
    except DataError:
        return None
    return name if isinstance(name, str) else None


def _read(file: Path) -> dict[str, Any]:
    try:
        return read_toml(file)
    except FileNotFoundError:
        raise DataError(file, "the file is missing") from None
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}") from None
    except RecursionError:
        raise DataError(file, "not valid TOML: nested too deeply") from None
    except ValueError as error:
        raise DataError(file, f"not valid TOML: {error}") from None
