"""Reads files of JSON values: one a line, one whole, or a list; says of others how to make JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.json_lines import read_json_lines

if TYPE_CHECKING:
    from pathlib import Path

#: How files begin that hold no text, what they are, and what to do.
_BINARY: Final = (
    (b"PAR1", "a Parquet file", "duckdb -c \"COPY (FROM '{name}') TO '{stem}.jsonl'\""),
    (b"\x1f\x8b", "compressed by gzip", "gunzip {name}"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", "unzstd {name}"),
    (b"PK\x03\x04", "a zip archive", "unzip {name}"),
)  # fmt: skip


class Value(NamedTuple):
    """A JSON value of a file; `where` is its line or its place in a list, `number` the same from 1."""

    where: str
    number: int
    value: Any
    problem: DataError | None = None


def read_values(file: Path) -> list[Value]:
    """Return the values of a file of JSON, with the problems of its lines in their places.

    A file is read by lines, or whole if its first line alone is no JSON. Raise `DataError` for one that
    cannot be read; of a format that holds no text it says what to run.
    """
    _check_text(file)
    lines = read_json_lines(file)
    values = []
    for line in lines:
        try:
            values.append(Value(line.where, line.number, line.value()))
        except DataError as problem:
            if line is lines[0] and len(lines) > 1:
                whole = _whole(file)
                if whole is not None:
                    return whole
            values.append(Value(line.where, line.number, None, problem))
    if len(values) == 1 and _is_list_of_dialogues(values[0].value):
        return _listed(values[0].value)
    return values


def _whole(file: Path) -> list[Value] | None:
    try:
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return _listed(value) if _is_list_of_dialogues(value) else [Value("line 1", 1, value)]


def _is_list_of_dialogues(value: object) -> bool:
    """True for a list of objects, or of lists of messages, that are no messages themselves."""
    if not isinstance(value, list) or not value:
        return False
    first = value[0]
    return isinstance(first, list) or (isinstance(first, dict) and not {"role", "from"} & first.keys())


def _listed(values: list[Any]) -> list[Value]:
    return [Value(f"dialogue {n + 1}", n + 1, value) for n, value in enumerate(values)]


def _check_text(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            begin = opened.read(4)
    except (OSError, ValueError) as error:
        raise DataError(
            file, f"cannot be read: {getattr(error, 'strerror', None) or error}", code="PL201"
        ) from None
    for magic, what, command in _BINARY:
        if begin == magic or (len(magic) == 2 and begin[:2] == magic):
            if file.suffix == ".eval":
                what, command = "an inspect log (a zip archive)", "inspect log dump {name} > {stem}.json"
            run = command.format(name=file.name, stem=file.stem)
            raise DataError(file, f"not valid JSON: it is {what}; run: {run}", code="PL205")
