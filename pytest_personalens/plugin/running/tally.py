"""Counts the draws of a run's tests, and the items of the collection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Drawn(NamedTuple):
    """The draws of a run's tests, as a worker sends them."""

    #: Scenarios that the user asked for, and those that existed.
    requested: int = 0
    drawn: int = 0
    #: Items that a selection left out.
    left_out: int = 0
    #: Ids of scenarios that only the sample of a mark has.
    ids: tuple[str, ...] = ()
    #: Files with tests of this plugin that skipped themselves completely.
    skipped: tuple[str, ...] = ()
    #: True if an assistant that was asked could see its context.
    knows: bool = False
    #: Items that a selection left.
    remaining: int = 0
    #: Why the mark of a test and the command line leave it no item.
    unfit: str = ""
    #: Scenarios that the domains of the configuration left out, where all there are were drawn.
    elsewhere: int = 0
    #: Items whose mark ``xdist_group`` keeps them with no other.
    ungrouped: int = 0
    #: The scenarios of personas in marks, as plain data.
    personas: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts the items of one process while they are collected and selected."""

    #: Items that the collected tests made of their samples.
    made: int = 0
    remaining: int = 0
    left_out: int = 0
    skipped: list[str] = field(default_factory=list)
    unfit: str = ""
    knows: bool = False
    ungrouped: int = 0
