"""Files of the user's, before they are read."""

from __future__ import annotations

import errno
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def no_device(path: Path) -> Path:
    """The path, to be read.

    Raises `OSError` for a device, such as ``/dev/zero``: it may have no end, and would fill the memory.
    """
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "a device, and no file", str(path))
    return path
