"""Where a run keeps what it pays for, and the state from which another run goes on if it is interrupted."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.destinations import cache_folder
from pytest_personalens.core.files.links import read_own, refuse_links, write_atomically
from pytest_personalens.core.options.option_table import OPTIONS, keys_of
from pytest_personalens.core.runtime import git
from pytest_personalens.core.safe_text import age_text
from pytest_personalens.engine.record import APART, FOLDER, own_folders
from pytest_personalens.models.call_log import CallLog
from pytest_personalens.plugin.input_errors import input_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.options.settings import Settings

#: The settings that must be the same in a run and in the run that resumes it.
_SAME: Final = frozenset(keys_of("sample", "dialogue", "score"))
_FILE: Final = "run.json"
#: The key under which a worker gets the id of the run.
RUN_ID: Final = "personalens_run_id"


class RunState(NamedTuple):
    """The id of a run, the log of what it buys, and how it relates to one that was interrupted, if any."""

    id: str = ""
    log: CallLog | None = None
    history: str = ""


def calls_folder(root: Path) -> Path:
    """Return the folder of the user's cache for the calls of the tests in `root`.

    A cache that lies in `root`, as CI services want it, is found again wherever both are moved to. Raise
    `RuntimeError` without a home folder.
    """
    cache = cache_folder().absolute()
    place = os.path.relpath(root, cache) if root in cache.parents else str(root)
    return cache / "calls" / hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def open_log(root: Path, *, beside_records: bool) -> CallLog:
    """Open the log in the user's cache; if it cannot be written, `beside_records` in the root folder.

    Raise `SpecError` if neither can be written: nothing that is bought could be kept.
    """
    problems = []
    try:
        return CallLog(calls_folder(root))
    except (OSError, RuntimeError) as error:
        problems.append(f"{getattr(error, 'filename', None) or 'the cache'}: {_why(error)}")
    if beside_records:
        folder = root / FOLDER / ".calls"
        try:
            refuse_links(folder / "lock", root)
            log = CallLog(folder)
            write_atomically(folder / ".gitignore", "*\n")
            return log
        except OSError as error:
            problems.append(f"{error.filename}: {_why(error)}")
    raise SpecError(
        f"what is bought could not be kept ({'; '.join(problems)}); make it writable, or name another cache"
        " folder in PERSONALENS_CACHE_DIR",
        code="PL105",
    )


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def begin_run(config: pytest.Config, settings: Settings) -> RunState:
    """Begin a new run, or continue the one that was interrupted; a worker takes part in its controller's.

    If the assistant has changed, its replies say nothing about it now, and a new run begins. Raise
    `SpecError` if nothing could be kept, and `pytest.UsageError` if the run to resume had other settings.
    """
    root = config.rootpath
    log = open_log(root, beside_records=settings.writes_records or settings.resume)
    if (of_controller := getattr(config, "workerinput", None)) is not None:
        log.run = str(of_controller[RUN_ID])
        return RunState(log.run, log)
    left = _read(log.folder) if settings.resume else None
    now = {n: value for n, value in json.loads(json.dumps(settings._asdict())).items() if n in _SAME}
    made_of, history = sources(root), ""
    if left is not None:
        for o in OPTIONS:
            if now.get(o.key) != (then := left["settings"].get(o.key)):
                raise input_error(
                    f"--personalens-resume: the interrupted run had {o.called} {then!r}, this one has"
                    f" {now.get(o.key)!r}; give the same, or leave out --personalens-resume to start anew"
                )
        age, differs = age_text(time.time() - left["began"]), first_changed(left["sources"], made_of)
        if not differs:
            history = f"continues the interrupted run, begun {age} ago, and counts its replies and its calls"
            log.run = str(left["run"])
            return RunState(log.run, log, history)
        other = f"does not continue the interrupted run, begun {age} ago ({differs} has changed since)"
        history = f"{other}: the assistant is asked anew"
    log.run = uuid.uuid4().hex
    file = log.folder / _FILE
    try:
        write_atomically(
            file, json.dumps({"run": log.run, "settings": now, "sources": made_of, "began": time.time()})
        )
    except OSError as error:
        raise SpecError(f"{file}: cannot be written: {error.strerror}; remove it", code="PL105") from None
    return RunState(log.run, log, history)


def end_run(state: RunState) -> None:
    """Note that the run has ended, so that none goes on from it."""
    if state.log is not None:
        with suppress(OSError):  # somebody may have changed the file meanwhile
            (state.log.folder / _FILE).unlink()


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        left = json.loads(read_own(folder / _FILE, folder))
        whole = isinstance(left["run"], str) and isinstance(left["settings"], dict)
        return left if whole and isinstance(left["sources"], dict) and math.isfinite(left["began"]) else None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


#: Endings of files that may shape an assistant's replies, where no version control tells them from the output
#: of a run.
_SUFFIXES: Final = frozenset(
    (
        ".py", ".pyx", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".txt", ".md", ".prompt", ".j2", ".jinja",
        ".jinja2", ".tmpl", ".env",
    )
)  # fmt: skip
#: Variables with a CI service's name of a run, which all its jobs share, also when some of them run again.
_RUNS: Final = (
    "PERSONALENS_RUN_ID", "GITHUB_RUN_ID", "CI_PIPELINE_ID", "CIRCLE_WORKFLOW_ID", "BUILDKITE_BUILD_ID",
    "BUILD_BUILDID", "BUILD_TAG",
)  # fmt: skip


def sources(root: Path) -> dict[str, str]:
    """Return the digests of the sources, by name.

    With git, these are the commit and every file that differs from it; without, all source files below
    `root`.
    """
    commit, top = git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "--show-toplevel")
    status = git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    if commit is None or status is None or top is None:
        files = (Path(folder, name) for folder, names in own_folders(root) for name in names)
        return {os.path.relpath(f, root): _digest(f) for f in sorted(files) if f.suffix in _SUFFIXES}
    digests = {"the commit": commit.strip()}
    for entry in filter(None, status.split("\0")):
        state, name = entry[:2], entry[3:]
        if not APART & set(Path(name).parts) and (state != "??" or Path(name).suffix in _SUFFIXES):
            digests[name] = _digest(Path(top.rstrip("\n")) / name)
    return digests


def origin(root: Path) -> dict[str, str]:
    """Return what all parts of one run share on any machine: the commit, and the run of the CI service."""
    commit = git(root, "rev-parse", "HEAD")
    facts = {"the commit": commit.strip()} if commit is not None else {}
    runs = {f"the run ({name})": os.environ[name] for name in _RUNS if os.environ.get(name)}
    return facts | dict(list(runs.items())[:1])


def first_changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the first source that differs, or an empty text."""
    return next((what for what in sorted({*before, *now}) if before.get(what) != now.get(what)), "")


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    except OSError:
        return "not there"
