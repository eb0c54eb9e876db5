"""Reads the replies of ``wordings/``: each task done in six wordings, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Self

from pydantic import Field, model_validator

from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets.embedded.files import examine_file
from pytest_personalens.datasets.world.entries import Entry, FilledText

if TYPE_CHECKING:
    from pathlib import Path

Style = Literal["plain", "terse", "chatty", "list", "formal", "second-language"]
#: The styles in which a reader of replies may be built. The others are kept for testing alone.
SEEN: Final[tuple[Style, ...]] = ("plain", "chatty", "list")


class Wording(Entry):
    """One way to do a task and to say so.

    `parts` holds a text for each part of the goal. For each deed, `promised`, `handed` and `refused` say it
    as only promised, left to the user, or not possible. `extra` names something ``{forbidden}``.
    """

    style: Style
    parts: tuple[FilledText, ...] = Field(min_length=1)
    promised: tuple[str, ...]
    handed: tuple[str, ...]
    refused: tuple[str, ...]
    extra: FilledText

    @model_validator(mode="after")
    def _as_long(self) -> Self:
        for name in ("promised", "handed", "refused"):
            if len(getattr(self, name)) != len(self.parts):
                raise ValueError(f"expected {len(self.parts)} texts in {name!r}, one for each part")
        return self


class TaskWordings(Entry):
    """The wordings of one task.

    `tools` names the tool that the deed of a part calls, and is empty for a part that is told. `questions`
    are those of an assistant that knows nothing.
    """

    task: FilledText
    tools: tuple[str, ...]
    questions: tuple[FilledText, ...] = Field(min_length=1)
    wordings: tuple[Wording, ...] = Field(min_length=1)


class WordingFile(Entry):
    """One file of ``wordings/``."""

    tasks: tuple[TaskWordings, ...]


def read_wordings(folder: Path) -> dict[str, TaskWordings]:
    """Return the wordings of all files in a folder, by task.

    Raise `DataError` for a file that cannot be read, or if the folder has none.
    """
    found: dict[str, TaskWordings] = {}
    for file in sorted(folder.glob("*.toml")):
        wordings, errors = examine_file(file, WordingFile)
        if wordings is None:
            raise errors[0]
        found |= {task.task: task for task in wordings.tasks}
    if not found:
        raise DataError(folder, "no wordings in it; an oracle needs a file for each domain")
    return found
