"""The embedded data as the package holds them: JSON lines, which ``make data`` checks when it writes them."""

from __future__ import annotations

import mmap
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Fact, Thing
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.scenario import DomainWords, PreferenceWords
from pytest_personalens.datasets.embedded.dataset_entries import (
    Demographics,
    Domain,
    MultiTaskEntry,
    PartEntry,
    ProfileEntry,
    Routine,
    TaskEntry,
)
from pytest_personalens.datasets.embedded.dataset_files import unknown
from pytest_personalens.datasets.world.fact_entries import LimitEntry, past_session
from pytest_personalens.datasets.world.resolve import says
from pytest_personalens.datasets.world.written import values_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.facts import Clock, Session
    from pytest_personalens.core.scenario import Kind, ScenarioRef

_DATA: Final = Path(__file__).resolve().parents[2] / "data"
#: What each line begins with, before its name.
_START: Final = b'{"id":"'


def packaged_file(name: str) -> Path:
    """Return the path of a file or folder of the package's data; raise `DataError` if it is missing."""
    path = _DATA / name
    if not path.exists():
        raise DataError(path, "the embedded data is missing; reinstall pytest-personalens")
    return path


def packaged_head() -> dict[str, Any]:
    """Return the name, version and tasks of the embedded benchmark, and the version of the questions."""
    found: dict[str, Any] = from_json(packaged_file("head.json").read_bytes())
    return found


class Lines:
    """The lines of a small data file by name, each parsed when it is asked for."""

    def __init__(self, name: str) -> None:
        self.path = packaged_file(name)
        start = len(_START)
        self._lines = {
            line[start : line.index(b'"', start)].decode(): line
            for line in self.path.read_bytes().split(b"\n")
            if line.startswith(_START)
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def read(self, name: str) -> dict[str, Any]:
        """Return the values of a line; raise `DataError` for damaged data."""
        return _parse(self.path, self._lines[name])


class Blocks:
    """The lines of a large data file, of which those of each person stand together."""

    def __init__(self, name: str) -> None:
        self.path = packaged_file(name)
        with self.path.open("rb") as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def read(self, block: Sequence[int], name: str) -> dict[str, Any]:
        """Return the values of a line between the first and last byte of a person's block."""
        start = self._content.find(b'%s%s"' % (_START, name.encode()), *block)
        return _parse(self.path, self._content[start : self._content.find(b"\n", start)])


def _parse(path: Path, line: bytes) -> dict[str, Any]:
    try:
        values: dict[str, Any] = from_json(line)
    except ValueError as error:
        problem = f"the embedded data is damaged ({error}); reinstall pytest-personalens"
        raise DataError(path, problem, field=line[:40].decode("utf-8", "replace")) from None
    return values


class PackagedFiles:
    """The domains, tasks, people, histories and facts of the package, each read when it is needed.

    It has the methods of `EmbeddedFiles` that a run needs, and checks nothing: what it reads was checked
    before it was written.
    """

    def __init__(self) -> None:
        head = packaged_head()
        self.name, self.version = str(head["name"]), str(head["version"])
        self._task_names = [(name, kind, tuple(domains)) for name, kind, domains in head["tasks"]]
        self.profile = lru_cache(maxsize=256)(self._read_profile)
        self.sessions = lru_cache(maxsize=4096)(self._read_sessions)
        self.words = cache(self._read_words)
        self._person = lru_cache(maxsize=256)(lambda user: self._profiles.read(user))
        self._history = lru_cache(maxsize=64)(self._read_history)
        self._task = cache(lambda name: self._tasks.read(name))

    @cached_property
    def _domains(self) -> Lines:
        return Lines("domains.jsonl")

    @cached_property
    def _tasks(self) -> Lines:
        return Lines("tasks.jsonl")

    @cached_property
    def _profiles(self) -> Lines:
        return Lines("profiles.jsonl")

    @cached_property
    def _histories(self) -> Blocks:
        return Blocks("histories.jsonl")

    @cached_property
    def _facts(self) -> Blocks:
        return Blocks("facts.jsonl")

    def domains(self) -> tuple[str, ...]:
        return tuple(self._domains)

    def users(self) -> tuple[str, ...]:
        return tuple(self._profiles)

    def task_names(self) -> list[tuple[str, Kind, tuple[str, ...]]]:
        return self._task_names

    def task(self, ref: ScenarioRef) -> TaskEntry:
        return self._read_task(ref.task)

    def tasks(self) -> Iterator[tuple[Path, TaskEntry]]:
        for name in self._tasks:
            yield self._tasks.path, self._read_task(name)

    def domain(self, name: str) -> Domain:
        if name not in self._domains:
            raise DataError(self._domains.path, unknown(name, self.domains()))
        row = self._domains.read(name)
        del row["id"]
        return Domain.model_validate({**row, "name": name})

    def problems(self) -> list[DataError]:
        return []

    def domain_file(self, name: str) -> Path:
        return self._domains.path

    def task_file(self, ref: ScenarioRef) -> Path:
        return self._tasks.path

    def shared_files(self) -> list[Path]:
        return [self._domains.path, self._tasks.path]

    def person_files(self, user: str) -> list[Path]:
        return [self._profiles.path, self._histories.path, self._facts.path]

    def limit_words(self, limit: LimitEntry) -> tuple[str, ...]:
        return limit.words

    def summary(self, user: str, domain: str) -> str:
        return str(self._history(user, domain)["summary"])

    def facts(self, ref: ScenarioRef, now: Clock) -> tuple[tuple[Fact, ...], tuple[Thing, ...]]:
        row = self._facts.read(self._person(ref.user)["facts"], ref.task)
        facts = []
        shared = self._task(ref.task)["facts"]
        for (name, what, kind, known, every, rule), (right, wrong, *own) in zip(
            shared, row["facts"], strict=True
        ):
            facts.append(
                unchecked(
                    Fact,
                    name=name,
                    what=what,
                    kind=kind,
                    known=known or own.pop(),
                    right=tuple(right),
                    wrong=tuple(wrong) if wrong is not None else values_beside(kind, right),
                    every=every,
                    rule=rule,
                    example=own[0] if own else right[0],
                    says=says(kind, right, every=every),
                )
            )
        return tuple(facts), tuple([unchecked(Thing, **thing) for thing in row.get("things", ())])

    def _read_history(self, user: str, domain: str) -> dict[str, Any]:
        return self._histories.read(self._person(user)["histories"], domain)

    def _read_sessions(self, user: str, domain: str) -> tuple[Session, ...]:
        return tuple([past_session(domain, *dealing) for dealing in self._history(user, domain)["sessions"]])

    def _read_words(self, name: str) -> DomainWords:
        row = self._domains.read(name)
        types = {
            kind: unchecked(
                PreferenceWords,
                ask=tuple(spec["ask"]),
                values=tuple(spec.get("values", ())),
                multiple=spec["multiple"],
                synonyms=_with_tuples(spec.get("synonyms", {})),
            )
            for kind, spec in row["preferences"].items()
        }
        return unchecked(DomainWords, words=tuple(row.get("words", ())), types=types)

    def _read_profile(self, user: str) -> ProfileEntry:
        if user not in self._profiles:
            raise DataError(self._profiles.path, f"no such user: {user!r}")
        row = self._person(user)
        return unchecked(
            ProfileEntry,
            name=row["name"],
            demographics=unchecked(Demographics, **row["demographics"]),
            routine=unchecked(Routine, **row["routine"]),
            life=row["life"],
            limits=tuple([unchecked(LimitEntry, **_with_tuples(limit), told=()) for limit in row["limits"]]),
            domains=row["domains"],
        )

    def _read_task(self, name: str) -> TaskEntry:
        row = self._task(name)
        shared = {field: row[field] for field in ("number", "description", "intent", "goal")}
        lists = {field: tuple(row[field]) for field in ("where", "devices", "times")}
        parts = tuple([unchecked(PartEntry, **_with_tuples(part)) for part in row["parts"]])
        rest: dict[str, Any] = {**shared, **lists, "parts": parts, "near": row.get("near", ""), "facts": {}}
        if row["kind"] == "multi":
            relevant: Any = _with_tuples(row["relevant"])
            return unchecked(MultiTaskEntry, domains=tuple(row["domains"]), relevant=relevant, **rest)
        return unchecked(TaskEntry, relevant=tuple(row["relevant"]), **rest)


def _with_tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if type(value) is list else value for name, value in row.items()}
