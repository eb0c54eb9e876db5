"""The state of a run, as a file in pytest's cache, from which another run can continue if it breaks off."""

from __future__ import annotations

import json
import math
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.options.options import OPTIONS, keys_of
from pytest_personalens.engine.assistant.source import first_changed, sources
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.records.records import journal_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_personalens.core.options.settings import Settings

#: The settings that must be the same in a run and in the run that resumes it.
_SAME: Final = frozenset(keys_of("sample", "dialogue", "score"))
_FILE: Final = "run"


class RunState(NamedTuple):
    """The id of a run, and in a few words how it relates to one that was broken off, if there was one."""

    id: str = ""
    history: str = ""


def begin_run(folder: Path | None, settings: Settings, *, root: Path, keeps: bool) -> RunState:
    """Begin a new run, or continue the one that was broken off; once, in the controlling process.

    `root` is the folder of the assistant's sources. `keeps` says if this run keeps replies for another. If
    the assistant has changed, its replies say nothing about it now, and a new run begins. Raise
    `pytest.UsageError` if the run to resume had other settings, or if there is no cache.
    """
    if folder is None:
        if settings.resume:
            raise input_error(
                "--personalens-resume: needs pytest's cache, which is off (-p no:cacheprovider)",
                code="PL206",
            )
        return RunState()
    left = _read(folder) if settings.resume else None
    now = {n: value for n, value in json.loads(json.dumps(settings._asdict())).items() if n in _SAME}
    made_of = sources(root) if keeps else {}
    history = ""
    if left is not None:
        for o in OPTIONS:
            if now.get(o.key) != (then := left["settings"].get(o.key)):
                raise input_error(
                    f"--personalens-resume: the interrupted run had {o.called} {then!r}, this one has"
                    f" {now.get(o.key)!r}; give the same, or leave out --personalens-resume to start anew",
                    code="PL206",
                )
        age, differs = _age(left["began"]), first_changed(left["sources"], made_of)
        if not differs:
            history = f"continues the interrupted run, begun {age} ago, and counts its replies and its calls"
            return RunState(str(left["run"]), history)
        other = f"does not continue the interrupted run, begun {age} ago ({differs} has changed since)"
        history = f"{other}: the assistant is asked anew"
    run = uuid.uuid4().hex
    try:
        write_atomically(
            folder / _FILE,
            json.dumps({"run": run, "settings": now, "sources": made_of, "began": time.time()}),
        )
    except OSError as error:
        raise input_error(
            f"personalens: pytest's cache cannot be written: {folder / _FILE}: {error.strerror}; remove it",
            code="PL105",
        ) from None
    return RunState(run, history)


def _age(began: float) -> str:
    minutes = max(0, round((time.time() - began) / 60))
    for size, unit in ((60 * 24, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes // size} {unit}s"
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def current_run(folder: Path | None) -> str:
    """Return the id of the current run, for a worker; empty if no run is kept."""
    left = _read(folder) if folder is not None else None
    return str(left["run"]) if left is not None else ""


def end_run(folder: Path | None, settled: Iterable[str]) -> None:
    """Note that the run has ended; the records of the `settled` node ids hold all their paid results."""
    if folder is not None:
        for file in (folder / _FILE, *(journal_file(folder, nodeid) for nodeid in settled)):
            with suppress(OSError):  # someone may have changed the file meanwhile
                file.unlink()


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        left = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        whole = isinstance(left["run"], str) and isinstance(left["settings"], dict)
        return left if whole and isinstance(left["sources"], dict) and math.isfinite(left["began"]) else None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
