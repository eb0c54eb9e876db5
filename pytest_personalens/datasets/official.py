"""Reads the official PersonaLens data with its irregularities, by an index in the cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, NonNegativeInt, model_validator

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.destinations import read_cached, store_cached
from pytest_personalens.core.scenario import DOMAINS, Scenario, ScenarioRef, Situation, Task
from pytest_personalens.datasets.dataset import check_user_name, parse_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: The users of each sample that the smaller ones do not have.
_NUMBERS: Final = {
    "official-20": (
        66, 132, 139, 207, 230, 340, 386, 389, 415, 428, 597, 746, 774, 854, 900, 1111, 1197, 1231, 1322,
        1458,
    ),
    "official-30": (
        7, 251, 313, 376, 788, 822, 1142, 1150, 1492, 1495,
    ),
    "official-50": (
        53, 107, 167, 195, 418, 439, 517, 532, 630, 641, 660, 674, 701, 802, 1145, 1335, 1362, 1377, 1439,
        1493,
    ),
    "official-100": (
        21, 86, 157, 166, 168, 248, 312, 352, 363, 365, 394, 431, 470, 482, 619, 657, 659, 664, 686, 689,
        744, 745, 813, 838, 840, 842, 847, 857, 870, 878, 880, 913, 928, 942, 954, 997, 1069, 1114, 1118,
        1120, 1151, 1167, 1184, 1246, 1330, 1345, 1384, 1434, 1461, 1496,
    ),
}  # fmt: skip

#: The ids of the users by the name of the sample. The experiments of the paper use fifty users (section 4.1).
OFFICIAL_SAMPLES: Final = {
    name: tuple(f"user{number}" for number in sorted(numbers))
    for name, numbers in zip(_NUMBERS, accumulate(_NUMBERS.values()), strict=True)
}


#: Raise this number if a new version would misread an index of today, or would read other scenarios from the
#: same files.
FORMAT: Final = 1
#: From this number of users on, reading takes a second or more and shows its progress.
SHOWN_FROM: Final = 100


class IndexedUser(BaseModel):
    """One user of the index.

    `stamp` holds the size and the time of tasks.json and of tasks_md.json when they were read. `places` holds
    the positions of the user's scenarios in the list of the index.
    """

    stamp: tuple[int, int, int, int]
    places: list[NonNegativeInt]


class Index(BaseModel):
    """The scenarios of many users, who share nearly all of them (the official data has about a hundred)."""

    format: Literal[1] = FORMAT
    scenarios: list[tuple[str, str, tuple[str, ...]]] = []
    users: dict[str, IndexedUser] = {}

    @model_validator(mode="after")
    def _whole(self) -> Index:
        if any(max(entry.places, default=-1) >= len(self.scenarios) for entry in self.users.values()):
            raise ValueError("a scenario is missing")
        return self

    def refs(self, user: str) -> tuple[ScenarioRef, ...] | None:
        """Return the scenarios of a user in the order of the files, or None if the index lacks the user."""
        if (entry := self.users.get(user)) is None:
            return None
        return tuple([ScenarioRef(user, *self.scenarios[place]) for place in entry.places])


def open_index(root: Path, users: Sequence[str], read: Callable[[str], Sequence[ScenarioRef]]) -> Index:
    """Return an up-to-date index of `users` for the data under `root`.

    The function reads new and changed users with `read`. It builds the index anew if the stored one is
    missing, damaged or of another version. It does not store an index that cannot be written. No process
    waits for another. It leaves out users whose files `read` refuses.
    """
    index = _load(root)
    stamps = {user: stamp for user in users if (stamp := _stamp(root / "profile" / user)) is not None}
    current = {user: entry for user, entry in index.users.items() if stamps.get(user) == entry.stamp}
    changed = [user for user in stamps if user not in current]
    if not changed and len(current) == len(index.users):
        return index
    places = {scenario: place for place, scenario in enumerate(index.scenarios)}
    # All workers of xdist share the terminal of their controller.
    on_terminal = sys.stderr.isatty() and "PYTEST_XDIST_WORKER" not in os.environ
    shown = len(changed) >= SHOWN_FROM and on_terminal
    for number, user in enumerate(changed, 1):
        with suppress(DataError):  # the draw of the user reports this
            current[user] = IndexedUser(
                stamp=stamps[user], places=[places.setdefault(ref[1:4], len(places)) for ref in read(user)]
            )
        if shown and (number % SHOWN_FROM == 0 or number == len(changed)):
            end = "" if number < len(changed) else "\n"
            line = f"\rpersonalens: indexing the data, {number:,} of {len(changed):,} users"
            print(line, end=end, file=sys.stderr, flush=True)
    index = Index(scenarios=list(places), users=current)
    with suppress(ValueError):  # a name may be invalid Unicode
        store_cached("official", (root,), index.model_dump_json().encode("utf-8"))
    return index


def _load(root: Path) -> Index:
    try:
        return Index.model_validate_json(read_cached("official", (root,)) or b"")
    except ValueError:
        return Index()


def _stamp(folder: Path) -> tuple[int, int, int, int] | None:
    try:
        single, multi = (folder / "tasks.json").stat(), (folder / "tasks_md.json").stat()
    except OSError:
        return None
    return single.st_size, single.st_mtime_ns, multi.st_size, multi.st_mtime_ns


#: For up to this many users it is faster to read their files than the index. For more users, all are looked
#: up in the index.
INDEX_FROM: Final = 250

SITUATION: Final = {
    "location": "Location",
    "device": "Device",
    "time_of_day": "Time of Day",
    "day_of_week": "Day of the Week",
    "environment": "Environment",
}
TASK_ID = re.compile(r"(?:SD-(?P<domain>.+)|(?P<multi>MD))-task-(?P<number>\d+)")


class OfficialDataset:
    """The layout ``profile/user<i>/{profile,tasks,tasks_md}.json``.

    The files of a user are read when the user is needed. The key of a scenario is (user, task), because the
    official task ids are the same for several users. Task ids become ``movies-1`` and ``multi-8``.
    """

    name = "official"

    def __init__(self, root: Path, *, whole: bool = False) -> None:
        self.root, self.whole = root, whole
        self.version = _version(root)
        self._tasks = lru_cache(maxsize=64)(self._read_tasks)
        self._profile = lru_cache(maxsize=64)(self._read_profile)
        self._users_read: set[str] = set()
        self._index: Index | None = None

    def domains(self) -> tuple[str, ...]:
        """Return the twenty domains of the benchmark."""
        return DOMAINS

    def users(self) -> tuple[str, ...]:
        """Return the names of the folders in ``profile/``, in the order of their numbers."""
        folder = self.root / "profile"
        names = (
            check_user_name(folder, p.name)
            for p in folder.iterdir()
            if p.is_dir() and not p.name.startswith(".")
        )
        return tuple(sorted(names, key=_natural))

    def refs(self, user: str) -> tuple[ScenarioRef, ...]:
        """Return the user's scenarios in the order of the files, single-domain tasks first."""
        self._users_read.add(user)
        if self._index is None and len(self._users_read) > INDEX_FROM:
            self._index = open_index(self.root, self.users(), lambda name: tuple(self._read_tasks(name)))
        refs = self._index.refs(user) if self._index else None
        return tuple(self._tasks(user)) if refs is None else refs

    def load(self, ref: ScenarioRef) -> Scenario:
        """Return the scenario with the parts of the profile for the task's domains."""
        tasks = self._tasks(ref.user)
        if ref not in tasks:
            raise DataError(self._folder(ref.user), f"no such scenario: {ref.task!r}", code="PL106")
        file, raw = tasks[ref]
        profile_file, profile = self._folder(ref.user) / "profile.json", self._profile(ref.user)

        def task_text(label: str, table: dict[str, Any] = raw, prefix: str = "") -> str:
            return text_in(file, table.get(label), f"{raw['task_id']}: {prefix}{label}")

        def summary(domain: str) -> str:
            return text_in(profile_file, interactions.get(domain), f"interactions.{domain}")

        demographics = table_in(profile_file, profile, "demographics")
        affinities = table_in(profile_file, profile, "affinities")
        interactions = table_in(profile_file, profile, "interactions")
        preferences = {
            d: _preferences(profile_file, d, table_in(profile_file, affinities, d, "affinities."))
            for d in ref.domains
        }
        types = raw.get("Relevant Affinity Types")
        relevant = texts_in(file, types, f"{raw['task_id']}: Relevant Affinity Types")
        situations = table_in(file, raw, "situations", f"{raw['task_id']}: ")
        return Scenario(
            id=ref.id,
            user=ref.user,
            dataset=f"{self.name} {self.version}",
            kind=ref.kind,
            domains=ref.domains,
            demographics={
                name: text_in(profile_file, value, f"demographics.{name}")
                for name, value in demographics.items()
                if name != "user_id"
            },
            preferences=preferences,
            summaries={d: summary(d) for d in ref.domains},
            others={d: summary(d) for d in interactions if self.whole and d not in ref.domains},
            situation=Situation(
                **{field: task_text(label, situations, "situations.") for field, label in SITUATION.items()}
            ),
            task=Task(
                id=ref.task,
                description=task_text("Task Description"),
                intent=task_text("User Intent"),
                goal=task_text("Task Goal"),
                relevant=tuple(pair for name in relevant for pair in _resolve(name, preferences)),
            ),
        )

    def place(self, ref: ScenarioRef) -> tuple[str, str]:
        """Return the file of a scenario and the id that its task has there."""
        file, raw = self._tasks(ref.user)[ref]
        return str(file), str(raw["task_id"])

    def unknown_types(self, ref: ScenarioRef) -> list[str]:
        """Return the preference types to which a task refers and which none of its domains has."""
        preferences = {d: types for d, types in self._affinities(ref.user).items() if d in ref.domains}
        file, raw = self._tasks(ref.user)[ref]
        names = texts_in(
            file, raw.get("Relevant Affinity Types"), f"{raw['task_id']}: Relevant Affinity Types"
        )
        return [name for name in names if not _resolve(name, preferences)]

    def preferences(self, user: str) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return all that a profile holds, by domain and type, also of domains without interest."""
        every = self._affinities(user).items()
        return {(domain, name): values for domain, types in every for name, values in types.items()}

    def catalogue(self) -> dict[tuple[str, str], int | None]:
        """Return the number of values of each preference type of ``res/schema.json``, None of an open one.

        It is empty without that file.
        """
        file, types = self.root.parent / "res" / "schema.json", {}
        for place, entry in enumerate(read_json(file, list) if file.is_file() else ()):
            affinities = entry.get("affinities") if isinstance(entry, dict) else None
            if not isinstance(affinities, list) or not isinstance(entry.get("domain"), str):
                raise DataError(file, "expected an object with domain and affinities", field=f"[{place}]")
            for number, spec in enumerate(affinities):
                if not isinstance(spec, dict) or not isinstance(spec.get("name"), str):
                    here = f"[{place}].affinities[{number}]"
                    raise DataError(file, "expected an object with a name", field=here)
                values: Any = spec.get("possible_values")
                listed = isinstance(values, list) and spec.get("is_categorical") in (True, "True", "true")
                types[entry["domain"], spec["name"]] = len(values) if listed else None
        return types

    def _affinities(self, user: str) -> dict[str, dict[str, tuple[str, ...]]]:
        file, profile = self._folder(user) / "profile.json", self._profile(user)
        tables = table_in(file, profile, "affinities")
        return {d: _preferences(file, d, table_in(file, tables, d, "affinities.")) for d in tables}

    def _folder(self, user: str) -> Path:
        folder = self.root / "profile" / user
        # The user names users on the command line. A name with a separator would leave the folder.
        if Path(user).name != user or not folder.is_dir():
            raise DataError(self.root / "profile", f"no such user: {user!r}", code="PL106")
        return folder

    def _read_profile(self, user: str) -> dict[str, Any]:
        profile: dict[str, Any] = read_json(self._folder(user) / "profile.json")
        return profile

    def _read_tasks(self, user: str) -> dict[ScenarioRef, tuple[Path, dict[str, Any]]]:
        tasks: dict[ScenarioRef, tuple[Path, dict[str, Any]]] = {}
        for name in ("tasks.json", "tasks_md.json"):
            file = self._folder(user) / name
            for position, raw in read_json(file).items():
                if not isinstance(raw, dict):
                    raise DataError(file, "expected a table", field=position)
                ref = _ref(file, position, user, raw)
                if ref in tasks:
                    raise DataError(file, f"{raw['task_id']} stands there twice", field=position)
                tasks[ref] = (file, raw)
        return tasks


def _version(root: Path) -> str:
    # The published data has no version of its own. The list of users takes its place.
    digest = hashlib.sha256()
    for entry in sorted(p.name for p in (root / "profile").iterdir()):
        digest.update(os.fsencode(entry) + b"\n")
    return digest.hexdigest()[:8]


def _ref(file: Path, position: str, user: str, raw: dict[str, Any]) -> ScenarioRef:
    task_id = text_in(file, raw.get("task_id"), f"{position}: task_id")
    domains = texts_in(file, raw.get("Relevant Domains"), f"{position}: Relevant Domains")
    match = TASK_ID.fullmatch(task_id)
    if match is None:
        raise DataError(
            file,
            f"expected 'SD-<domain>-task-<n>' or 'MD-task-<n>', found {task_id!r}",
            field=f"{position}: task_id",
        )
    unknown = [d for d in domains if d not in DOMAINS]
    if unknown or not domains:
        problem = f"unknown domain {unknown[0]!r}" if unknown else "no domain"
        raise DataError(
            file,
            f"{problem}; known: {', '.join(DOMAINS)}",
            field=f"{position}: Relevant Domains",
            code="PL101",
        )
    return ScenarioRef(user, task_name(match), "multi" if match["multi"] else "single", tuple(domains))


def task_name(match: re.Match[str]) -> str:
    """Return our name of the task whose official id `TASK_ID` has matched."""
    stem = "multi" if match["multi"] else match["domain"].lower().replace(" ", "-")
    return f"{stem}-{match['number']}"


def read_json(file: Path, kind: type[list[Any] | dict[str, Any]] = dict) -> Any:
    """Return the object, or the array if `kind` is a list, of a JSON file; raise `DataError` else."""
    data = parse_file(file, "JSON", lambda path: json.loads(path.read_bytes()))
    if not isinstance(data, kind):
        expected = "object" if kind is dict else "array"
        raise DataError(file, f"expected a JSON {expected}, found {type(data).__name__}", code="PL205")
    return data


def table_in(file: Path, data: dict[str, Any], key: str, prefix: str = "") -> dict[str, Any]:
    """Return the table `key` of a file's data; raise `DataError` if it is missing or no table."""
    value = data.get(key)
    if not isinstance(value, dict):
        raise DataError(
            file, "the field is missing" if value is None else "expected a table", field=f"{prefix}{key}"
        )
    return value


def text_in(file: Path, value: object, field: str) -> str:
    """Return the value; raise `DataError` if it is no text, or blank."""
    if not isinstance(value, str) or not value.strip():
        raise DataError(file, "the field is missing" if value is None else "expected a text", field=field)
    return value


def texts_in(file: Path, value: object, field: str) -> tuple[str, ...]:
    """Return the value as a tuple; raise `DataError` if it is no list of texts that are not blank."""
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise DataError(
            file, "the field is missing" if value is None else "expected a list of texts", field=field
        )
    if any(not v.strip() for v in value):
        raise DataError(file, "expected texts that are not empty", field=field)
    return tuple(value)


def _preferences(file: Path, domain: str, types: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    # A single value is a string, and several values are a list. An empty list means that the user stated
    # none.
    return {
        name: texts_in(file, [value] if isinstance(value, str) else value, f"affinities.{domain}.{name}")
        for name, value in types.items()
    }


def _resolve(name: str, preferences: dict[str, dict[str, tuple[str, ...]]]) -> list[tuple[str, str]]:
    """Return the pairs (domain, type) that a reference of a task means, none for an unknown type.

    Tasks write "Favorite" for "Favourite", and "Preferred Genres (Music)" for the type of one domain.
    """
    match = re.fullmatch(r"(?P<type>.*?)(?: \((?P<domain>[^()]+)\))?", name, re.DOTALL)
    assert match is not None  # the pattern matches every text
    wanted = match["type"].replace("Favourite", "Favorite")
    return [
        (domain, actual)
        for domain, types in preferences.items()
        for actual in types
        if actual.replace("Favourite", "Favorite") == wanted and match["domain"] in (None, domain)
    ]


def _natural(name: str) -> tuple[str, int, str]:
    match = re.fullmatch(r"(\D*)(\d+)", name)
    return (match[1], int(match[2]), name) if match else (name, 0, name)
