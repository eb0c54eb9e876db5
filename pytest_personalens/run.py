"""The run under way, as a file in pytest's cache: what a run that was broken off leaves behind, for another to go on from."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.jsonfile import write_atomically
from pytest_personalens.records import journal_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_personalens.settings import Settings

#: What may differ between a run and the one that resumes it: how it is run, and what is made of its results.
_FREE: Final = frozenset(
    {"json", "html", "markdown", "github", "resume", "concurrency", "executor", "live", "estimate", "exit_infra"}
    | {"fail_on", "min_tcr", "min_p", "min_valid", "gate", "baseline", "level", "margin", "save_baseline"}
    | {"max_calls", "max_usd", "turn_timeout", "adopt_judge", "check_judge", "anchors"}
)
_FILE: Final = "run"


def open_run(folder: Path | None, settings: Settings) -> tuple[str, bool]:
    """The id of this run, and whether it goes on with one that was broken off; called once, in the controlling process.

    Raises `pytest.UsageError` where that run was another one, or where there is no cache to keep it in.
    """
    if folder is None:
        if settings.resume:
            raise pytest.UsageError("--personalens-resume: needs pytest's cache, which is off (-p no:cacheprovider)")
        return "", False
    left = _read(folder)
    asked = {name: value for name, value in json.loads(json.dumps(settings._asdict())).items() if name not in _FREE}
    if settings.resume and left is not None:
        before = left["settings"]
        other = [name for name in sorted({*asked, *before}) if asked.get(name) != before.get(name)]
        if other:
            name, flag = other[0], f"--personalens-{other[0].replace('_', '-')}"
            raise pytest.UsageError(
                f"--personalens-resume: the run that was broken off had {flag} {before.get(name)!r}, this one has {asked.get(name)!r}; "
                "give the same, or leave out --personalens-resume to start anew"
            )
        return str(left["run"]), True
    run = uuid.uuid4().hex
    write_atomically(folder / _FILE, json.dumps({"run": run, "settings": asked}))
    return run, False


def current_run(folder: Path | None) -> str:
    """The id of the run under way, for a worker; empty where none is kept."""
    left = _read(folder) if folder is not None else None
    return str(left["run"]) if left is not None else ""


def end_run(folder: Path | None, settled: Iterable[str]) -> None:
    """Note that the run came to its end. `settled` are the node ids of items whose records hold all that was bought for them."""
    if folder is not None:
        (folder / _FILE).unlink(missing_ok=True)
        for nodeid in settled:
            journal_file(folder, nodeid).unlink(missing_ok=True)


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        left = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        return left if isinstance(left["run"], str) and isinstance(left["settings"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
