"""The embedded benchmark: domains, tasks and profiles of ``data/``, read from TOML.

People wrote these files by hand.
"""

from __future__ import annotations

import os
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import Scenario, ScenarioRef, Task
from pytest_personalens.core.slugs import slug
from pytest_personalens.datasets.base import readable_name, sound
from pytest_personalens.datasets.entries import Domain, MultiTasks, ProfileEntry, TaskEntry
from pytest_personalens.datasets.entry_files import examined_file, name_in, read_table
from pytest_personalens.datasets.layout import (
    domain_problems,
    multi_problems,
    name_problems,
    profile_problems,
    unknown,
)
from pytest_personalens.datasets.situations import situation

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE: Final = Path(__file__).resolve().parent.parent


class EmbeddedDataset:
    """The benchmark in the package, or a folder of the same layout at `root`.

    The benchmark is free to use under CC-BY-4.0. Each file of ``domains/`` is a domain. Scenarios of a folder
    contain the words that ask for its domains and types. Scenarios of the package do not need them, because
    the embedded agents know these words.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or data_folder()
        head = read_table(self.root / "dataset.toml")
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
        """Return the path of the file with the tasks over several domains."""
        return self.root / "multi.toml"

    def domain_files(self) -> list[Path]:
        """Return the files of ``domains/``, in the order of the domains."""
        return sorted((self.root / "domains").glob("*.toml"), key=lambda file: file.stem)

    def problems(self) -> list[DataError]:
        """Return every problem with the files.

        The other methods raise one such problem at a time.
        """
        domains, errors = self._examined_domains()
        errors += self._examined_multi(domains)[1]
        for user in self.users():
            errors += self._examined_profile(user, domains)[1]
        if not self.users():
            errors.append(
                DataError(
                    self.root / "profiles",
                    "nobody in it; write a file for each person, such as profiles/ada.toml",
                )
            )
        return errors

    def domains(self) -> tuple[str, ...]:
        """Return the domain names of the files in ``domains/``, in the order of the files.

        These are the twenty of the benchmark, or those of a folder.
        """
        return tuple(self._catalogue)

    def domain(self, name: str) -> Domain:
        """Return the domain with this name.

        Raise `DataError` if there is none, or if a file of a domain has a problem.
        """
        domain = self._catalogue.get(name)
        if domain is None:
            raise DataError(self.root / "domains", unknown(name, self.domains()))
        return domain

    @cached_property
    def _catalogue(self) -> dict[str, Domain | None]:
        domains, errors = self._examined_domains()
        return sound(domains, errors)

    def users(self) -> tuple[str, ...]:
        """Return the names of the files in ``profiles/``, in alphabetical order."""
        folder = self.root / "profiles"
        return tuple(sorted(readable_name(folder, p.stem) for p in folder.glob("*.toml")))

    def refs(self, user: str) -> tuple[ScenarioRef, ...]:
        """Return the user's scenarios: the tasks whose domains are all among the user's interests."""
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
        """Return the whole scenario.

        Its situation is derived from the routine of the person and from the task.
        """
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
        return sound(*self._examined_multi(self._catalogue))

    def _read_profile(self, user: str) -> ProfileEntry:
        return sound(*self._examined_profile(user, self._catalogue))

    def _examined_domains(self) -> tuple[dict[str, Domain | None], list[DataError]]:
        """Return the domains by name, and every problem with their files.

        A domain is None if only its name could be read.
        """
        domains: dict[str, Domain | None] = {}
        errors: list[DataError] = []
        slugs: dict[str, str] = {}
        for file in self.domain_files():
            domain, wrong = examined_file(file, Domain)
            errors += wrong
            name = domain.name if domain is not None else name_in(file)
            if name is None:
                continue
            problems = [
                *name_problems(file.stem, name, slugs),
                *(domain_problems(domain) if domain is not None else ()),
            ]
            errors += [DataError(file, message, field=field) for field, message in problems]
            slugs.setdefault(slug(name), name)
            domains.setdefault(name, domain)
        if not domains and not errors:
            errors.append(
                DataError(
                    self.root / "domains",
                    "no domain in it; write a file for each, such as domains/billing.toml",
                )
            )
        return domains, errors

    def _examined_multi(
        self, domains: Mapping[str, Domain | None]
    ) -> tuple[MultiTasks | None, list[DataError]]:
        file = self.multi_file
        if not os.path.lexists(file):
            return MultiTasks(tasks=()), []  # a folder may have no such tasks
        multi, errors = examined_file(file, MultiTasks)
        problems = multi_problems(multi, domains) if multi is not None else ()
        return multi, errors + [DataError(file, message, field=field) for field, message in problems]

    def _examined_profile(
        self, user: str, domains: Mapping[str, Domain | None]
    ) -> tuple[ProfileEntry | None, list[DataError]]:
        file = self.root / "profiles" / f"{user}.toml"
        if Path(user).name != user or not file.is_file():
            raise DataError(self.root / "profiles", f"no such user: {user!r}")
        profile, errors = examined_file(file, ProfileEntry)
        problems = profile_problems(profile, domains) if profile is not None else ()
        return profile, errors + [DataError(file, message, field=field) for field, message in problems]


def data_folder() -> Path:
    """Return the folder of the embedded data.

    It is inside the installed package, or at the top of a source checkout. Raise `DataError` if it is
    missing.
    """
    for folder in (_PACKAGE / "data", _PACKAGE.parent / "data"):
        if (folder / "dataset.toml").is_file():
            return folder
    raise DataError(_PACKAGE / "data", "the embedded data is missing; reinstall pytest-personalens")
