"""Counts the draws of a run's tests, and the items of the collection."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

#: Seconds up to which a dialogue waited for nothing.
QUICK: Final = 0.02


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
    #: Seconds that dialogues waited which ran one after the other, and what lets them run side by side.
    waited: float = 0.0
    waited_for: str = ""
    #: Dialogues that ran at the same time, over all processes.
    side_by_side: int = 0
    #: Replies that a rate limit of the assistant's provider refused, and that were asked for again.
    refused: int = 0
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
    waited: float = 0.0
    waited_for: str = ""
    side_by_side: int = 1
    #: The computing time of the process so far, when it was last taken.
    computed: float = field(default_factory=time.process_time)

    def wait(self, seconds: float, lacking: str) -> None:
        """Add the time of a dialogue that is no computing; `lacking` names what lets it run beside others.

        A `QUICK` one waited for nothing. What was computed between two that count is taken from the second.
        """
        before, self.computed = self.computed, time.process_time()
        self.waited += max(0.0, seconds - (self.computed - before))
        self.waited_for = lacking
