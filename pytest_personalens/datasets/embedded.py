"""The embedded benchmark: the hand-written domains, tasks and profiles of ``data/``, read from TOML."""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.jsonfile import first_problem
from pytest_personalens.core.scenario import DOMAINS, Scenario, ScenarioRef, Situation, Task
from pytest_personalens.datasets.base import readable_name
from pytest_personalens.datasets.cached import read_toml
from pytest_personalens.datasets.entries import Day, Domain, MultiTasks, ProfileEntry, Routine, TaskEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

_DAYS: Final[tuple[Day, ...]] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_Model = TypeVar("_Model", bound=BaseModel)
_PACKAGE: Final = Path(__file__).resolve().parent.parent


class EmbeddedDataset:
    """The benchmark that travels in the package (free to use under CC-BY-4.0), or a folder of that layout at `root`."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or data_folder()
        head = _read(self.root / "dataset.toml")
        for field in ("name", "version"):
            if not isinstance(head.get(field), str) or not head[field].strip():
                raise DataError(self.root / "dataset.toml", f'expected a text, such as {field} = "..."', field=field)
        self.name, self.version = str(head["name"]), str(head["version"])
        self.domain = cache(self._read_domain)
        self.multi = cache(self._read_multi)
        self.profile = lru_cache(maxsize=256)(self._read_profile)

    def domains(self) -> tuple[str, ...]:
        """The benchmark's twenty."""
        return DOMAINS

    def users(self) -> tuple[str, ...]:
        """The names of the files in ``profiles/``, in alphabetical order."""
        folder = self.root / "profiles"
        return tuple(sorted(readable_name(folder, p.stem) for p in folder.glob("*.toml")))

    def refs(self, user: str) -> tuple[ScenarioRef, ...]:
        """A user's scenarios: the tasks whose domains are all among the person's interests."""
        interests = self.profile(user).domains
        single = [
            ScenarioRef(user, f"{_stem(name)}-{task.number}", "single", (name,))
            for name in DOMAINS
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
        )

    def _task(self, ref: ScenarioRef) -> tuple[TaskEntry, tuple[tuple[str, str], ...]]:
        number = int(ref.task.rpartition("-")[2])
        if ref.kind == "multi":
            multi = next(t for t in self.multi().tasks if t.number == number)
            return multi, tuple((d, name) for d, names in multi.relevant.items() for name in names)
        task = next(t for t in self.domain(ref.domains[0]).tasks if t.number == number)
        return task, tuple((ref.domains[0], name) for name in task.relevant)

    def _read_domain(self, name: str) -> Domain:
        file = self.root / "domains" / f"{_stem(name)}.toml"
        domain = _validate(file, Domain)
        if domain.name != name:
            raise DataError(file, f"expected {name!r} by the file's name, found {domain.name!r}", field="name")
        for type_name, spec in domain.preferences.items():
            if (spec.kind == "categorical") != bool(spec.values):
                expected = "a categorical type needs the list of its values" if not spec.values else "an open type has no list of values"
                raise DataError(file, expected, field=f"preferences.{type_name}.values")
        _check_numbers(file, domain.tasks)
        for task in domain.tasks:
            for wanted in task.relevant:
                if wanted not in domain.preferences:
                    raise DataError(file, f"no preference type {wanted!r} in this domain", field=f"tasks.{task.number}.relevant")
        return domain

    def _read_multi(self) -> MultiTasks:
        file = self.root / "multi.toml"
        multi = _validate(file, MultiTasks)
        _check_numbers(file, multi.tasks)
        for task in multi.tasks:
            field = f"tasks.{task.number}"
            if len(set(task.domains)) < len(task.domains):
                raise DataError(file, "a domain stands there twice", field=f"{field}.domains")
            for name in task.domains:
                if name not in DOMAINS:
                    raise DataError(file, f"unknown domain {name!r}; known: {', '.join(DOMAINS)}", field=f"{field}.domains")
            for name, types in task.relevant.items():
                if name not in task.domains:
                    raise DataError(file, f"{name!r} is not among the task's domains", field=f"{field}.relevant")
                for wanted in types:
                    if wanted not in self.domain(name).preferences:
                        raise DataError(file, f"no preference type {wanted!r} in {name}", field=f"{field}.relevant.{name}")
        return multi

    def _read_profile(self, user: str) -> ProfileEntry:
        file = self.root / "profiles" / f"{user}.toml"
        if Path(user).name != user or not file.is_file():
            raise DataError(self.root / "profiles", f"no such user: {user!r}")
        profile = _validate(file, ProfileEntry)
        for name, entry in profile.domains.items():
            if name not in DOMAINS:
                raise DataError(file, f"unknown domain {name!r}; known: {', '.join(DOMAINS)}", field=f"domains.{name}")
            summary = entry.get("summary", "")
            if not isinstance(summary, str) or not summary.strip():
                problem = "expected one text" if "summary" in entry else "the field is missing"
                raise DataError(file, problem, field=f"domains.{name}.summary")
            _check_preferences(file, self.domain(name), entry)
        return profile


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


def _stem(domain: str) -> str:
    return domain.lower().replace(" ", "-")


def _check_numbers(file: Path, tasks: Sequence[TaskEntry]) -> None:
    for expected, task in enumerate(tasks, 1):
        if task.number != expected:
            raise DataError(file, f"expected {expected}: tasks are numbered 1, 2, 3, ... in the file", field=f"tasks.{task.number}.number")


def _check_preferences(file: Path, domain: Domain, entry: dict[str, str | tuple[str, ...]]) -> None:
    for name, spec in domain.preferences.items():
        field = f"domains.{domain.name}.{name}"
        if name not in entry:
            raise DataError(file, "the field is missing", field=field)
        value = entry[name]
        if isinstance(value, str) == spec.multiple:
            raise DataError(file, "expected a list of texts" if spec.multiple else "expected one text", field=field)
        values = (value,) if isinstance(value, str) else value
        if not spec.multiple and not values[0].strip():
            raise DataError(file, "expected a text that is not empty", field=field)
        if len(set(values)) < len(values):
            raise DataError(file, "a value stands there twice", field=field)
        for wrong in (v for v in values if spec.kind == "categorical" and v not in spec.values):
            raise DataError(file, f"{wrong!r} is not one of: {', '.join(spec.values)}", field=field)
    for name in entry:
        if name != "summary" and name not in domain.preferences:
            raise DataError(file, f"no such preference type in {domain.name}", field=f"domains.{domain.name}.{name}")


def _validate(file: Path, model: type[_Model]) -> _Model:
    raw = _read(file)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        field, problem = first_problem(error, count_from=1)
        raise DataError(file, problem, field=field) from None


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
