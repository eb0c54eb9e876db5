"""Makes any text safe where it is shown or used: on terminals, in logs, in file names and in a shell."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


#: Texts that a runner reads as a command in a line of output: GitHub's "::" at its start, and "##[" anywhere
#: in it, as that of Azure Pipelines does, which also reads "##vso[".
_COMMAND: Final = re.compile(r"^(\s*):(?=:)|##(?=(?:vso)?\[)", re.MULTILINE | re.IGNORECASE)


#: Categories of characters that are not seen, or that steer what is.
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def harmless(text: str) -> str:
    """Return `text` with escapes for what could control a terminal or a CI runner."""
    unseen = {c for c in {*text} - {"\n"} if unicodedata.category(c) in _UNSEEN}
    written = text.translate({ord(c): c.encode("unicode_escape").decode() for c in unseen})
    return _COMMAND.sub(lambda mark: r"#\x23" if mark[0] == "##" else rf"{mark[1]}\x3a", written)


def one_line(text: str) -> str:
    """Return `text` made harmless, as one line."""
    return harmless(text.replace("\n", r"\n"))


_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SLUG_LIMIT: Final = 80


@lru_cache(maxsize=4096)
def slug(text: str) -> str:
    """Return a name that is safe in file names and test ids.

    It holds only ``[a-z0-9-]`` and has at most 80 characters. If the conversion loses something (other
    letters, length), the slug ends with a short digest of `text`, so that two different names do not share a
    slug. Upper case and spaces do not count as lost.
    """
    plain = text.lower().replace(" ", "-").replace("_", "-")
    if _SLUG.fullmatch(plain) and len(plain) <= _SLUG_LIMIT:
        return plain
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    stem = "-".join(re.findall(r"[a-z0-9]+", ascii_text))[: _SLUG_LIMIT - 9].strip("-")
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{stem}-{mark}" if stem else mark


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
