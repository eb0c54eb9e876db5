"""An index of the official data in the cache folder, so that a draw does not read all users' files."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, NonNegativeInt, model_validator

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.cache import cache_folder, write_cached
from pytest_personalens.core.scenario import ScenarioRef

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    shown = len(changed) >= SHOWN_FROM and _on_terminal()
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
    with suppress(OSError, ValueError, RuntimeError):  # a name may be invalid Unicode
        write_cached(index_file(root), index.model_dump_json().encode("utf-8"))
    return index


def index_file(root: Path) -> Path:
    """Return the path of the index for the data; raise `RuntimeError` without a home folder."""
    digest = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    return cache_folder() / f"official-{digest}.json"


def _load(root: Path) -> Index:
    try:
        return Index.model_validate_json(index_file(root).read_bytes())
    except (OSError, ValueError, RuntimeError):
        return Index()


def _stamp(folder: Path) -> tuple[int, int, int, int] | None:
    try:
        single, multi = (folder / "tasks.json").stat(), (folder / "tasks_md.json").stat()
    except OSError:
        return None
    return single.st_size, single.st_mtime_ns, multi.st_size, multi.st_mtime_ns


def _on_terminal() -> bool:
    # All workers of xdist share the terminal of their controller.
    return sys.stderr.isatty() and "PYTEST_XDIST_WORKER" not in os.environ
