"""Writes words as a line that a user can paste into a shell."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_WINDOWS: Final = os.name == "nt"
#: A word that cmd.exe and PowerShell both take as it is.
_PLAIN: Final = re.compile(r"[\w+./:\\-][\w+./:\\=-]*")


def shell_line(words: Iterable[str]) -> str:
    """Return the words as one line, each quoted for the shell of this system.

    cmd.exe does not know single quotes, so on Windows a word gets double quotes. They also keep ``>`` and
    ``[`` from having a meaning.
    """
    if not _WINDOWS:
        return shlex.join(words)
    return " ".join(word if _PLAIN.fullmatch(word) else _in_double_quotes(word) for word in words)


def _in_double_quotes(word: str) -> str:
    # A program on Windows takes a backslash for an escape only before a double quote.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'
