"""Refuses symbolic links where this package reads and writes files of its own."""

from __future__ import annotations

import errno
import os
from functools import lru_cache
from pathlib import Path


def read_own(path: Path, root: Path) -> bytes:
    """Return the content of a file that this package keeps below `root`; raise `OSError` for a link too."""
    refuse_links(path, root)
    return path.read_bytes()


def refuse_links(path: Path, root: Path) -> None:
    """Raise `OSError` if the path is a symbolic link, or goes through one below `root`.

    A pull request can bring a link; what is read or written there would be a file of somebody else.
    """
    whole = root / path
    if path.is_symlink() or (root in whole.parents and _goes_through_link(whole.parent, root)):
        raise OSError(errno.ELOOP, "a symbolic link, which is not followed", str(path))


def leads_out(path: Path, root: Path) -> bool:
    """True if a path below `root` leads out of it, by a symbolic link."""
    whole = root / path
    below = root in Path(os.path.normpath(whole)).parents  # what begins with ".." lies beside it
    inside = Path(os.path.realpath(root)) in Path(os.path.realpath(whole)).parents
    return below and not inside


@lru_cache(maxsize=256)
def _goes_through_link(folder: Path, root: Path) -> bool:
    while folder not in (root, folder.parent):
        if folder.is_symlink():
            return True
        folder = folder.parent
    return False
