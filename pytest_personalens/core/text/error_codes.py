"""The code of an error, by which its page is found: ``personalens explain PL201``."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, NamedTuple

#: Values of the user in an error, which say nothing about its kind.
_QUOTED: Final = re.compile(r"(?<!\w)'[^']*'")
_CODED: Final = re.compile(r"\(PL\d{3}\)$")
#: The code of an error that no other code fits.
OTHER: Final = "PL000"


class ErrorCode(NamedTuple):
    """What `explain` prints of a code. `page` is a page below docs/."""

    code: str
    title: str
    do: str
    page: str


_OTHER: Final = ErrorCode(
    OTHER,
    "Another problem",
    "The text says what is wrong and where. If it does not help, report it: it wants a code of its own.",
    "explanation/bad-input.md",
)


def error_codes() -> dict[str, ErrorCode]:
    """Return what is known of each code, in the order of the codes."""
    rows = {code: ErrorCode(code, row["title"], row["do"], row["page"]) for code, row in _table().items()}
    return dict(sorted({OTHER: _OTHER, **rows}.items()))


def code_of(error: str) -> str:
    """Return the code of an error's text: the first whose pattern is found in it without quoted values."""
    text = _QUOTED.sub("#", error)
    return next((code for code, row in _table().items() if row["pattern"].search(text)), OTHER)


def with_code(error: str) -> str:
    """Return an error's text with its code at the end, in parentheses; one that has it stays as it is."""
    return error if _CODED.search(error) else f"{error} ({code_of(error)})"


@cache
def _table() -> dict[str, dict[str, Any]]:
    import tomllib  # needed only after an error
    from importlib.resources import files

    rows = tomllib.loads(files(__package__).joinpath("error_codes.toml").read_text(encoding="utf-8"))
    return {code: {**row, "pattern": re.compile("|".join(row["match"]))} for code, row in rows.items()}
