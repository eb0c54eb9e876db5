"""What the command check-dataset tells about a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Finding:
    """One problem: its rule, its file, its field and a message."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    rule: str
    file: str
    field: str
    message: str


@dataclass(frozen=True, kw_only=True)
class DataCheck:
    """The measures and the problems of a dataset of any suite, ready to be printed.

    A row is a measure, its value and its goal. `summary` are lines below the rows, `details` further ones on
    demand, and `every` one for each part that is not used. `rules` is the number of rules that were checked.
    `report` is everything as an object for JSON.
    """

    dataset: str
    rows: Sequence[tuple[str, str, str]]
    summary: Sequence[str] = ()
    details: Sequence[str] = ()
    every: Sequence[str] = ()
    findings: Sequence[Finding]
    rules: int
    report: Mapping[str, Any]
