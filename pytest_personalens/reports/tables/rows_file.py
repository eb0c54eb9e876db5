"""Reads rows of another table from a CSV file."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.devices import no_device

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Columns of the file, with the scale of each. The task completion rate is in percent, as in the paper.
COLUMNS: Final = {
    f"{kind}_{score}": scale
    for kind in ("sd", "md")
    for score, scale in {"tcr": (0, 100), "p": (1, 4), "nat": (1, 5), "coh": (1, 5)}.items()
}


class OtherRow(NamedTuple):
    """A row of another table: its name, and a figure for each of `COLUMNS`. A figure is None if the cell was
    empty.
    """

    name: str
    figures: Mapping[str, float | None]


def read_rows(path: Path) -> tuple[OtherRow, ...]:
    """Return the rows of a CSV file with a column ``name`` and the `COLUMNS`. A cell may be empty. Raise
    `DataError` with a text of one line for an invalid file.
    """
    try:
        with no_device(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in ("name", *COLUMNS) if name not in (reader.fieldnames or ())]
            if missing:
                raise DataError(
                    path, f"has no column {missing[0]!r}; its first line must be name,{','.join(COLUMNS)}"
                )
            rows = tuple(_row(path, reader.line_num, cells) for cells in reader)
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(path, f"not a CSV file in UTF-8 ({error})") from None
    if not rows:
        raise DataError(path, "holds no row")
    return rows


def _row(path: Path, line: int, cells: Mapping[str, str | None]) -> OtherRow:
    figures: dict[str, float | None] = {}
    for column, (low, high) in COLUMNS.items():
        text = (cells[column] or "").strip()
        try:
            value = float(text) if text else None
        except ValueError:
            raise DataError(
                path, f"expected a number, not {text[:40]!r}", field=f"line {line}, {column}"
            ) from None
        if value is not None and not low <= value <= high:
            raise DataError(
                path, f"expected {low} to {high}, not {text[:40]}", field=f"line {line}, {column}"
            )
        if value is not None and high == 100 and 0 < value <= 1:
            raise DataError(
                path,
                f"expected percent, as the paper has it, not {text[:40]}",
                field=f"line {line}, {column}",
            )
        figures[column] = value
    return OtherRow((cells["name"] or "").strip() or f"line {line}", figures)
