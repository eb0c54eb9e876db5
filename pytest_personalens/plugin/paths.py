"""Where options that hold a path point to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_personalens.core.settings import Settings


def path_of(config: pytest.Config, settings: Settings, name: str) -> Path:
    """Where a path option points: from the working directory on the command line, from the root folder in the configuration."""
    on_command_line = config.getoption(f"personalens_{name}") is not None
    try:
        given = Path(str(getattr(settings, name))).expanduser()
    except RuntimeError as error:  # the home of a user that there is not
        raise pytest.UsageError(f"{flag(name)}: {error}") from None
    return (config.invocation_params.dir if on_command_line else config.rootpath) / given


def flag(name: str) -> str:
    """``--personalens-save-baseline`` for ``save_baseline``."""
    return f"--personalens-{name.replace('_', '-')}"
