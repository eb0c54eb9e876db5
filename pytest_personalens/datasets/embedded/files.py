"""Reads the files of the embedded layout, with every problem that they have."""

from __future__ import annotations

import os
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import all_problems
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.datasets.base import check_user_name, parse_file, value_or_raise
from pytest_personalens.datasets.embedded.entries import (
    Domain,
    MultiTaskEntry,
    MultiTasks,
    ProfileEntry,
    TaskEntry,
)
from pytest_personalens.datasets.embedded.layout import (
    domain_problems,
    history_problems,
    multi_problems,
    name_problems,
    profile_problems,
    unknown,
)
from pytest_personalens.datasets.embedded.lazy_tasks import LazyTasks
from pytest_personalens.datasets.toml_cache import read_toml
from pytest_personalens.datasets.world.entries import HistoryEntry, LimitWords

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.datasets.embedded.layout import Problem

_Model = TypeVar("_Model", bound=BaseModel)
_PACKAGE: Final = Path(__file__).resolve().parents[2]


class EmbeddedFiles:
    """The files of a folder in the embedded layout, read when they are needed.

    Raise `DataError` for the first problem of a file. `problems` lists all of them. With `shipped`, the
    files are those of the package: they fit each other, which its tests check, and no run checks it again.
    """

    def __init__(self, root: Path, *, shipped: bool = False) -> None:
        self.root, self._shipped = root, shipped
        self.multi_file, self.limits_file = root / "multi.toml", root / "limits.toml"
        head = _read_table(root / "dataset.toml")
        for field in ("name", "version"):
            if not isinstance(head.get(field), str) or not head[field].strip():
                problem = f'expected a text, such as {field} = "..."'
                raise DataError(root / "dataset.toml", problem, field=field)
        self.name, self.version = str(head["name"]), str(head["version"])
        self.multi = cache(lambda: value_or_raise(*self._examine_multi(self._catalogue)))
        self.profile = lru_cache(maxsize=256)(self._read_profile)
        self.history = lru_cache(maxsize=4096)(self._read_history)
        self.histories = lru_cache(maxsize=256)(self._find_histories)
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
        if self._shipped:
            return EmbeddedFiles(self.root).problems()
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

    def spans(self) -> list[tuple[str, ...]]:
        """Return the domains of each task over several domains, in the order of the tasks."""
        tasks = self.multi().tasks
        return tasks.spans() if isinstance(tasks, LazyTasks) else [task.domains for task in tasks]

    def users(self) -> tuple[str, ...]:
        """Return the names of the files in ``profiles/``, in alphabetical order."""
        folder = self.root / "profiles"
        return tuple(sorted(check_user_name(folder, name) for name in _stems(folder)))

    @cached_property
    def limit_words(self) -> dict[str, tuple[str, ...]]:
        """The words that break each limit of ``limits.toml``. The file may be missing."""
        return value_or_raise(*self._limits())

    @cached_property
    def _catalogue(self) -> dict[str, Domain | None]:
        return value_or_raise(*self._examine_domains())

    def _read_profile(self, user: str) -> ProfileEntry:
        return value_or_raise(*self._examine_profile(user, self._catalogue))

    def _read_history(self, user: str, domain: str) -> HistoryEntry | None:
        # The package has a file for each domain of each person, and to list a folder takes as long as to
        # read a file of it.
        if not self._shipped and slug(domain) not in self.histories(user):
            return None
        return value_or_raise(*self._examine_history(user, slug(domain)))

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
            domain, wrong = examine_file(file, Domain, lazily=self._shipped)
            errors += wrong
            name = domain.name if domain is not None else _name_in(file)
            if name is None:
                continue
            errors += self._errors(file, name_problems(file.stem, name, slugs))
            if domain is not None:
                errors += self._errors(file, domain_problems(domain))
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
        multi, errors = examine_file(self.multi_file, MultiTasks, lazily=self._shipped)
        if multi is not None:
            errors += self._errors(self.multi_file, multi_problems(multi, domains))
        return multi, errors

    def _examine_history(self, user: str, domain: str) -> tuple[HistoryEntry | None, list[DataError]]:
        file = self.history_file(user, domain)
        history, errors = examine_file(file, HistoryEntry)
        if history is not None:
            errors += self._errors(file, history_problems(history))
        return history, errors

    def _examine_profile(
        self, user: str, domains: Mapping[str, Domain | None]
    ) -> tuple[ProfileEntry | None, list[DataError]]:
        file = Path(self.root, "profiles", f"{user}.toml")
        if os.path.basename(user) != user or not os.path.isfile(file):  # noqa: PTH113, PTH119
            raise DataError(self.root / "profiles", f"no such user: {user!r}", code="PL106")
        profile, errors = examine_file(file, ProfileEntry)
        if self._shipped:
            return profile, errors
        if profile is not None:
            with_history = {name for name in domains if slug(name) in self.histories(user)}
            limits = self._limits()[0] or {} if profile.limits else {}
            problems = profile_problems(profile, domains, histories=with_history, limits=limits)
            errors += self._errors(file, problems)
        strange = self.histories(user) - {slug(name) for name in (profile.domains if profile else domains)}
        problem = "this person has no such domain of interest"
        return profile, errors + [DataError(self.history_file(user, n), problem) for n in sorted(strange)]

    def _errors(self, file: Path, problems: Iterator[Problem]) -> list[DataError]:
        """Return the problems with what a file says, beside those with its form."""
        if self._shipped:
            return []
        return [DataError(file, message, field=field) for field, message in problems]


def examine_file(
    file: Path, model: type[_Model], *, lazily: bool = False
) -> tuple[_Model | None, list[DataError]]:
    """Return the value in a file, or None, and every problem with its fields.

    With `lazily`, the tasks in it are checked when they are needed.
    """
    try:
        table = _read_table(file)
        value = model.model_validate(table | {"tasks": ()} if lazily else table)
    except DataError as error:
        return None, [error]
    except ValidationError as error:
        problems = all_problems(error, count_from=1)
        return None, [DataError(file, problem, field=field) for field, problem in problems]
    if lazily:
        entry = MultiTaskEntry if model is MultiTasks else TaskEntry
        value = value.model_copy(update={"tasks": LazyTasks(file, entry, table.get("tasks", ()))})
    return value, []


def _name_in(file: Path) -> str | None:
    """Return the name in a file, even if other fields of it are wrong; None if it cannot be read."""
    try:
        name = _read_table(file).get("name")
    except DataError:
        return None
    return name if isinstance(name, str) else None


def _read_table(file: Path) -> dict[str, Any]:
    return parse_file(file, "TOML", read_toml)


def _stems(folder: Path) -> list[str]:
    """Return the names of the TOML files in a folder, without their ending; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [e.name.removesuffix(".toml") for e in entries if e.name.endswith(".toml")]
    except OSError:
        return []


def data_folder() -> Path:
    """Return the folder of the embedded data, in the installed package or in a checkout.

    Raise `DataError` if it is missing.
    """
    for folder in (_PACKAGE / "data", _PACKAGE.parent / "data"):
        if (folder / "dataset.toml").is_file():
            return folder
    raise DataError(_PACKAGE / "data", "the embedded data is missing; reinstall pytest-personalens")
