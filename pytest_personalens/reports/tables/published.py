"""The figures of the paper's tables, as printed in the paper."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

#: The beginning of the names of the paper's rows.
PAPER: Final = "paper: "


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


def published(table: int) -> dict[str, dict[str, str]]:
    """Return the rows of one of the paper's tables. `table` is 1, 3, 4, 5, 10, 12 or 13. The result maps name
    -> column -> the figure as printed in the paper.
    """
    table_rows = _tables()[f"table_{table}"]
    places = table_rows.get("places", 2)
    return {
        name: {
            column: _printed(value, places)
            for column, value in zip(table_rows["columns"], values, strict=True)
        }
        for name, *values in table_rows["rows"]
    }


def slips(table: int) -> list[str]:
    """Return where the paper contradicts itself about a table, in sentences."""
    return list(_tables()[f"table_{table}"]["notes"])


def _printed(value: float, places: int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.{places}f}"
