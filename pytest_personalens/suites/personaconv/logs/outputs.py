"""Stored outputs that play the assistant: ``outputs:FILE.jsonl``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import AssistantFault, DataError
from pytest_personalens.core.files.devices import no_device

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PREFIX: Final = "outputs:"
_EXPECTED: Final = (
    'expected a line of JSON for each item, such as {"id": "impact-1f0c9a7e-u-nilu", "output": "12"}'
)


class StoredOutputs:
    """The outputs of a file, by the id of their item.

    Raise `DataError` for a file that cannot be read, and for a row that is wrong or there twice.
    """

    paid = False

    def __init__(self, file: Path) -> None:
        self._outputs = dict[str, Any]()
        try:
            lines = no_device(file).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            raise DataError(file, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._add(file, number, line)
        if not self._outputs:
            raise DataError(file, f"holds no output; {_EXPECTED}")

    @property
    def items(self) -> frozenset[str]:
        """Return the ids of the items with an output."""
        return frozenset(self._outputs)

    def of_item(self, item: str) -> Callable[[object], object]:
        """Return an assistant that says the output of an item."""

        def reply(messages: object) -> object:
            if item not in self._outputs:
                raise AssistantFault("no output")
            output = self._outputs[item]
            return str(output) if isinstance(output, int | float) else output

        return reply

    def _add(self, file: Path, number: int, line: str) -> None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("id"), str) or "output" not in row:
            raise DataError(file, _EXPECTED, field=f"line {number}")
        if row["id"] in self._outputs:
            raise DataError(
                file, f"the item {row['id']!r} is there twice; leave one out", field=f"line {number}"
            )
        self._outputs[row["id"]] = row["output"]
