"""Makes any text safe for terminals and for programs that read a log."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Texts that a runner reads as a command in a line of output: GitHub's "::" at its start, and "##[" anywhere
#: in it, as that of Azure Pipelines does, which also reads "##vso[".
_COMMAND: Final = re.compile(r"^(\s*):(?=:)|##(?=(?:vso)?\[)", re.MULTILINE | re.IGNORECASE)


def harmless(text: str) -> str:
    """Return `text` with escapes for what could control a terminal or a CI runner."""
    written = "".join(
        (
            c
            if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
            else c.encode("unicode_escape").decode()
        )
        for c in text
    )
    return _COMMAND.sub(lambda mark: r"#\x23" if mark[0] == "##" else rf"{mark[1]}\x3a", written)


def one_line(text: str) -> str:
    """Return `text` made harmless, as one line."""
    return harmless(text.replace("\n", r"\n"))
