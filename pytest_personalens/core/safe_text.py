"""Text that drives neither a terminal nor the machine that reads a log, whoever wrote it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: What GitHub's runner takes for a command in a line of output: "::" at its start, and the older "##["
#: anywhere in it.
_COMMAND: Final = re.compile(r"^(\s*):(?=:)|##(?=\[)", re.MULTILINE)


def harmless(text: str) -> str:
    """`text` with control and formatting characters written out, and the marks of a command to a CI runner
    with them.

    What a model says must drive neither a terminal nor the machine that reads the log.
    """
    written = "".join(
        (
            c
            if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co")
            else c.encode("unicode_escape").decode()
        )
        for c in text
    )
    return _COMMAND.sub(lambda mark: r"#\x23" if mark[0] == "##" else rf"{mark[1]}\x3a", written)


def one_line(text: str) -> str:
    """`text` made harmless, as one line."""
    return harmless(text.replace("\n", r"\n"))
