"""The one writer of files that are read again: whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

_DRAFT: Final = re.compile(r"(?P<stem>\..+)\.[0-9a-z_]+\.tmp")
#: Seconds after which nobody is writing a draft any more.
_OLD: Final = 3600
#: Folder -> beginning of a draft's name -> old drafts, of the folders that this process wrote to.
_DRAFTS: Final[dict[Path, dict[str, list[Path]]]] = {}


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write the whole file, so that a reader or a crash sees the old one or the new one, never half of it.

    The folder must exist. A link keeps pointing where it does. Of two processes at the same file the last one
    wins. Raises `OSError` for what is there and no file: a device, which root would replace for the whole
    machine.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "a folder" if path.is_dir() else "a device, and no file", str(path))
    # Not named after this process alone: two containers on one volume may both have the number 1.
    stem = f".{path.name[:80]}"
    draft = path.with_name(f"{stem}.{uuid.uuid4().hex[:12]}.tmp")
    _remove_old_drafts(path.parent, stem)
    try:
        # Nothing that was bought is lost for a character that cannot be written.
        draft.write_bytes(
            content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")
        )
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _remove_old_drafts(folder: Path, stem: str) -> None:
    """Remove drafts of a file that processes left behind when they were killed.

    A folder is looked through once, not at every write.
    """
    if folder not in _DRAFTS:
        _DRAFTS[folder] = {}
        with suppress(OSError):
            for entry in os.scandir(folder):
                if (draft := _DRAFT.fullmatch(entry.name)) and entry.stat(
                    follow_symlinks=False
                ).st_mtime < time.time() - _OLD:
                    _DRAFTS[folder].setdefault(draft["stem"], []).append(Path(entry.path))
    for draft_of_it in _DRAFTS[folder].pop(stem, ()):
        with suppress(OSError):
            draft_of_it.unlink()
