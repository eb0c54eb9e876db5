"""Reads files with one JSON value a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.core.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


class JsonLine(NamedTuple):
    """A line that is not blank; `number` counts from 1."""

    file: Path
    number: int
    text: str
    last: bool

    @property
    def where(self) -> str:
        return f"line {self.number}"

    def value(self) -> Any:
        """Return the value; raise `DataError` where the line is no JSON."""
        try:
            return json.loads(self.text)
        except RecursionError:
            problem = "nested too deeply"
        except ValueError as error:
            cut = "; the last line is cut off: write it again, or remove it" if self.last else ""
            problem = f"{error}{cut}"
        raise DataError(self.file, f"not valid JSON: {problem}", field=self.where, code="PL205")


def read_json_lines(file: Path) -> list[JsonLine]:
    """Return the lines that are not blank; raise `DataError` for a file that cannot be read."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # the path itself may be invalid
        raise DataError(
            file, f"cannot be read: {getattr(error, 'strerror', None) or error}", code="PL201"
        ) from None
    # Not `splitlines`: a message may hold a line separator of Unicode, which ends no line of such a file.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [JsonLine(file, number, line, last=number == lines[-1][0]) for number, line in lines]
