"""Reads the files of the embedded layout, with every problem that they have."""

from __future__ import annotations

import os
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.datasets.base import readable_name, sound
from pytest_personalens.datasets.embedded.entries import Domain, MultiTasks, ProfileEntry
from pytest_personalens.datasets.embedded.entry_files import examined_file, name_in, read_table
from pytest_personalens.datasets.embedded.layout import (
    domain_problems,
    history_problems,
    multi_problems,
    name_problems,
    profile_problems,
    unknown,
)
from pytest_personalens.datasets.embedded.lazy_tasks import LazyTasks, examined_lazily
from pytest_personalens.datasets.world.entries import HistoryEntry, LimitWords

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.datasets.embedded.layout import Problem

_Holder = TypeVar("_Holder", Domain, MultiTasks)
_PACKAGE: Final = Path(__file__).resolve().parents[2]


class EmbeddedFiles:
    """The files of a folder in the embedded layout, read when they are needed.

    Raise `DataError` for the first problem of a file. `problems` lists all of them. With `shipped`, the
    files are those of the package: they fit each other, which its tests check, and no run checks it again.
    """

    def __init__(self, root: Path, *, shipped: bool = False) -> None:
        self.root = root
        self._shipped = shipped
        head = read_table(self.root / "dataset.toml")
        for field in ("name", "version"):
            if not isinstance(head.get(field), str) or not head[field].strip():
                raise DataError(
                    self.root / "dataset.toml", f'expected a text, such as {field} = "..."', field=field
                )
        self.name, self.version = str(head["name"]), str(head["version"])
        self.multi = cache(self._read_multi)
        self._limits = cache(self._examined_limits)
        self.profile = lru_cache(maxsize=256)(self._read_profile)
        self.history = lru_cache(maxsize=4096)(self._read_history)
        self.histories = lru_cache(maxsize=256)(self._find_histories)

    @property
    def multi_file(self) -> Path:
        """Return the path of the file with the tasks over several domains."""
        return self.root / "multi.toml"

    @property
    def limits_file(self) -> Path:
        """Return the path of the file with the words that break limits."""
        return self.root / "limits.toml"

    def history_file(self, user: str, name: str) -> Path:
        """Return the path of the file that tells of a domain, by the slug of its name."""
        return Path(self.root, "histories", user, f"{name}.toml")

    def domain_files(self) -> list[Path]:
        """Return the files of ``domains/``, in the order of the domains."""
        return sorted((self.root / "domains").glob("*.toml"), key=lambda file: file.stem)

    def problems(self) -> list[DataError]:
        """Return every problem with the files.

        The other methods raise one such problem at a time.
        """
        if self._shipped:
            return EmbeddedFiles(self.root).problems()
        domains, errors = self._examined_domains()
        errors += self._examined_multi(domains)[1]
        errors += self._limits()[1]
        for user in self.users():
            errors += self._examined_profile(user, domains)[1]
            for domain in self.histories(user):
                errors += self._examined_history(user, domain)[1]
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

    def spans(self) -> list[tuple[str, ...]]:
        """Return the domains of each task over several domains, in the order of the tasks."""
        tasks = self.multi().tasks
        return tasks.spans() if isinstance(tasks, LazyTasks) else [task.domains for task in tasks]

    @cached_property
    def limit_words(self) -> dict[str, tuple[str, ...]]:
        """Return the words that break each limit of ``limits.toml``. The file may be missing."""
        return sound(*self._limits())

    def domain_file(self, name: str) -> Path:
        """Return the path of the file of a domain."""
        return self.root / "domains" / f"{slug(name)}.toml"

    def _examined_limits(self) -> tuple[dict[str, tuple[str, ...]] | None, list[DataError]]:
        file = self.limits_file
        if not os.path.lexists(file):
            return {}, []
        limits, errors = examined_file(file, LimitWords)
        return (limits.words if limits is not None else None), errors

    @cached_property
    def _catalogue(self) -> dict[str, Domain | None]:
        domains, errors = self._examined_domains()
        return sound(domains, errors)

    def users(self) -> tuple[str, ...]:
        """Return the names of the files in ``profiles/``, in alphabetical order."""
        folder = self.root / "profiles"
        return tuple(sorted(readable_name(folder, name) for name in _stems(folder)))

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
            domain, wrong = self._examine(file, Domain)
            errors += wrong
            name = domain.name if domain is not None else name_in(file)
            if name is None:
                continue
            errors += self._errors(file, name_problems(file.stem, name, slugs))
            if domain is not None:
                errors += self._errors(file, domain_problems(domain))
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
        multi, errors = self._examine(file, MultiTasks)
        if multi is not None:
            errors += self._errors(file, multi_problems(multi, domains))
        return multi, errors

    def _examine(self, file: Path, model: type[_Holder]) -> tuple[_Holder | None, list[DataError]]:
        return examined_lazily(file, model) if self._shipped else examined_file(file, model)

    def _errors(self, file: Path, problems: Iterator[Problem]) -> list[DataError]:
        """Return the problems with what a file says, beside those with its form."""
        if self._shipped:
            return []
        return [DataError(file, message, field=field) for field, message in problems]

    def _find_histories(self, user: str) -> frozenset[str]:
        """Return the slugs of the domains of which a file of ``histories/`` tells."""
        return frozenset(_stems(Path(self.root, "histories", user)))

    def _read_history(self, user: str, domain: str) -> HistoryEntry | None:
        # The package has a file for each domain of each person, and to list a folder takes as long as to
        # read a file of it.
        if not self._shipped and slug(domain) not in self.histories(user):
            return None
        return sound(*self._examined_history(user, slug(domain)))

    def _examined_history(self, user: str, domain: str) -> tuple[HistoryEntry | None, list[DataError]]:
        file = self.history_file(user, domain)
        history, errors = examined_file(file, HistoryEntry)
        if history is not None:
            errors += self._errors(file, history_problems(history))
        return history, errors

    def _examined_profile(
        self, user: str, domains: Mapping[str, Domain | None]
    ) -> tuple[ProfileEntry | None, list[DataError]]:
        file = Path(self.root, "profiles", f"{user}.toml")
        if os.path.basename(user) != user or not os.path.isfile(file):  # noqa: PTH113, PTH119
            raise DataError(self.root / "profiles", f"no such user: {user!r}")
        profile, errors = examined_file(file, ProfileEntry)
        if self._shipped:
            return profile, errors
        told = {name for name in domains if slug(name) in self.histories(user)}
        limits = self._limits()[0] or {} if profile is not None and profile.limits else {}
        if profile is not None:
            errors += self._errors(file, profile_problems(profile, domains, histories=told, limits=limits))
        strange = self.histories(user) - {slug(name) for name in (profile.domains if profile else domains)}
        errors += [
            DataError(self.history_file(user, name), "this person has no such domain of interest")
            for name in sorted(strange)
        ]
        return profile, errors


def _stems(folder: Path) -> list[str]:
    """Return the names of the TOML files in a folder, without their ending; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [e.name.removesuffix(".toml") for e in entries if e.name.endswith(".toml")]
    except OSError:
        return []


def data_folder() -> Path:
    """Return the folder of the embedded data.

    It is inside the installed package, or at the top of a source checkout. Raise `DataError` if it is
    missing.
    """
    for folder in (_PACKAGE / "data", _PACKAGE.parent / "data"):
        if (folder / "dataset.toml").is_file():
            return folder
    raise DataError(_PACKAGE / "data", "the embedded data is missing; reinstall pytest-personalens")
