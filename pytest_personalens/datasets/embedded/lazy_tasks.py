"""The tasks of a file of the package, each checked when it is first needed.

A run needs one task in four of the files that it reads, and checking a task takes longer than reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from pydantic import ValidationError

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.datasets.embedded.entries import TaskEntry

if TYPE_CHECKING:
    from pathlib import Path


class LazyTasks(Sequence[TaskEntry]):
    """The tasks of one file. Raise `DataError` for a task with a problem when it is first needed."""

    def __init__(self, file: Path, model: type[TaskEntry], tables: Sequence[dict[str, Any]]) -> None:
        self._file, self._model, self._tables = file, model, tables
        self._tasks: dict[int, TaskEntry] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @overload
    def __getitem__(self, index: int) -> TaskEntry: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[TaskEntry]: ...

    def __getitem__(self, index: int | slice) -> TaskEntry | Sequence[TaskEntry]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        if index not in self._tasks:
            try:
                self._tasks[index] = self._model.model_validate(self._tables[index])
            except ValidationError as error:
                field, problem = first_problem(error, count_from=1)
                raise DataError(self._file, problem, field=f"tasks.{index + 1}.{field}") from None
        return self._tasks[index]

    def spans(self) -> list[tuple[str, ...]]:
        """Return the domains of each task, without reading the rest of it."""
        return [tuple(table.get("domains", ())) for table in self._tables]
