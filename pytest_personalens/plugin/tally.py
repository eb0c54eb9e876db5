"""What the tests of a run draw from, and what became of it in the collection."""

from __future__ import annotations

from typing import NamedTuple


class Drawn(NamedTuple):
    """What the tests of a run draw from: scenarios asked for, those there were, items left out of them by a
    selection.

    `ids` are those of the scenarios that only a mark's own sample has, `skipped` files of ours that skipped
    themselves whole; `knows` is true if an assistant that was asked could see what it may know; `remaining`
    counts the items that a selection left.
    """

    requested: int = 0
    drawn: int = 0
    left_out: int = 0
    ids: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    knows: bool = False
    remaining: int = 0


class Tally:
    """Counts the items of one process while they are collected and selected."""

    def __init__(self) -> None:
        #: How many items the tests that were collected make of their samples, and how many of them a
        #: selection left, and left out.
        self.made = 0
        self.remaining = 0
        self.left_out = 0
        #: Node ids of files that ask for our fixtures and skipped themselves while they were collected.
        self.skipped: list[str] = []
        #: True once an assistant was asked that can see what it may know of the user.
        self.knows = False

    def add_made(self, items: int) -> None:
        """Count items that were made of a sample."""
        self.made += items

    def add_skipped(self, nodeid: str) -> None:
        """Note a file that skipped itself."""
        self.skipped.append(nodeid)

    def select(self, items: int, *, uncollected: int) -> None:
        """Note how many items a selection left, and how many files with at least one were not even
        collected.
        """
        self.remaining = items
        self.left_out = self.made - items + uncollected

    def see_context(self, sees: bool) -> None:
        """Note whether an assistant that is asked can see what it may know."""
        self.knows = self.knows or sees
