"""Counts the draws of a run's tests, and the items of the collection."""

from __future__ import annotations

from typing import NamedTuple


class Drawn(NamedTuple):
    """The draws of a run's tests.

    `requested` is the number of scenarios that the user asked for. `drawn` is the number that existed.
    `left_out` is the number of items that a selection left out. `ids` are those of scenarios that only the
    sample of a mark has. `skipped` are files with tests of this plugin that skipped themselves completely.
    `knows` is true if an assistant that was asked could see its context. `remaining` is the number of items
    that a selection left. `unfit` says of one test why its mark and the command line leave it no item.
    """

    requested: int = 0
    drawn: int = 0
    left_out: int = 0
    ids: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    knows: bool = False
    remaining: int = 0
    unfit: str = ""


class Tally:
    """Counts the items of one process while they are collected and selected."""

    def __init__(self) -> None:
        #: The number of items that the collected tests made of their samples, the number that a selection
        #: left, and the number that it left out.
        self.made = 0
        self.remaining = 0
        self.left_out = 0
        #: Node ids of files that use fixtures of this plugin and skipped themselves during the collection.
        self.skipped: list[str] = []
        #: Why the first test without an item has none.
        self.unfit = ""
        #: True once an assistant was asked that can see the user's context.
        self.knows = False

    def add_made(self, items: int) -> None:
        """Count items that a test made of its sample."""
        self.made += items

    def add_skipped(self, nodeid: str) -> None:
        """Note a file that skipped itself."""
        self.skipped.append(nodeid)

    def add_unfit(self, why: str) -> None:
        """Note a test whose mark and the command line leave it no item."""
        self.unfit = self.unfit or why

    def select(self, items: int, *, uncollected: int) -> None:
        """Note the result of a selection.

        `items` is the number of items that it left. `uncollected` is the number of files with at least one
        item that were not collected.
        """
        self.remaining = items
        self.left_out = self.made - items + uncollected

    def see_context(self, sees: bool) -> None:
        """Note if an assistant that is asked can see its context."""
        self.knows = self.knows or sees
