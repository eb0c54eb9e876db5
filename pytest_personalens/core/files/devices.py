"""Checks files of the user before they are read."""

from __future__ import annotations

import errno
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def no_device(path: Path) -> Path:
    """Return the path; raise `OSError` for a device such as ``/dev/zero``, which may have no end."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "a device, and no file", str(path))
    return path
