"""The figures of the paper's tables, as they are printed there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

#: What the rows of the paper begin with, in a table of ours.
PAPER: Final = "paper: "


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


def published(table: int) -> dict[str, dict[str, str]]:
    """The rows of one of the paper's tables (3, 4, 5, 10, 12 or 13): name -> column -> the figure as it is
    printed there.
    """
    found = _tables()[f"table_{table}"]
    places = found.get("places", 2)
    return {
        name: {
            column: _printed(value, places) for column, value in zip(found["columns"], values, strict=True)
        }
        for name, *values in found["rows"]
    }


def slips(table: int) -> list[str]:
    """Where the paper is not at one with itself about a table of its own, a sentence each."""
    return list(_tables()[f"table_{table}"]["notes"])


def _printed(value: float, places: int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.{places}f}"
