"""Where options that hold a path point to, and whether what they name can be written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.jsonfile import schema_of

if TYPE_CHECKING:
    from pytest_personalens.settings import Settings


def input_path(config: pytest.Config, settings: Settings, name: str) -> Path:
    """Where a path option points: from the working directory on the command line, from the root folder in the configuration."""
    on_command_line = config.getoption(f"personalens_{name}") is not None
    try:
        given = Path(str(getattr(settings, name))).expanduser()
    except RuntimeError as error:  # the home of a user that there is not
        raise pytest.UsageError(f"{flag(name)}: {error}") from None
    return (config.invocation_params.dir if on_command_line else config.rootpath) / given


def output_path(config: pytest.Config, settings: Settings, name: str, *, ours: bool = False) -> Path | None:
    """Where a file is to be written, its folder made; None if it is not asked for.

    Raises `pytest.UsageError` for what cannot be written, or is a file of somebody else's and to be replaced by one of `ours`.
    """
    if getattr(settings, name) is None:
        return None
    path = input_path(config, settings, name)
    if path.is_dir():
        raise pytest.UsageError(f"{flag(name)}: {path} is a folder; give the path of a file")
    if path.exists() and not path.is_file():
        raise pytest.UsageError(f"{flag(name)}: {path} is no file; give the path of one")
    if ours and path.exists() and path.stat().st_size and not schema_of(path).startswith("personalens-"):
        raise pytest.UsageError(f"{flag(name)}: {path} was not written by this plugin; give another path, or remove it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{flag(name)}: cannot write to {path.parent}: {error.strerror}") from None
    return path


def flag(name: str) -> str:
    """``--personalens-save-baseline`` for ``save_baseline``."""
    return f"--personalens-{name.replace('_', '-')}"
