"""The codes of errors, by which their pages are found: ``personalens explain PL201``."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class ErrorCode(NamedTuple):
    """What `explain` prints of a code. `page` is a page below docs/."""

    code: str
    title: str
    do: str
    page: str


@cache
def error_codes() -> dict[str, ErrorCode]:
    """Return what is known of each code, in the order of the codes."""
    import tomllib  # needed only for `explain`
    from importlib.resources import files

    rows = tomllib.loads(files(__package__).joinpath("error_codes.toml").read_text(encoding="utf-8"))
    return {code: ErrorCode(code, row["title"], row["do"], row["page"]) for code, row in sorted(rows.items())}


def with_code(error: str, code: str) -> str:
    """Return an error's text with its code at the end, in parentheses."""
    return f"{error} ({code})"
