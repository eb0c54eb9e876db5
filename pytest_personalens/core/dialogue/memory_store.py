"""The functions by which a test reaches into a team's memory store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class MemoryStore:
    """The functions, sync or async, by which a test reaches into the assistant's memory store.

    Each is called with the `Context` of a session, whose `user` is the key of the memory. Leave out what your
    store cannot do.

    - `settled(context)` is called after each session but the last, and returns when the store has taken in
      all that was said. If it returns False, it is called again, until `within` seconds have passed.
    - `read(context, question)` returns what the assistant finds for a message of the user: a text or texts.
    - `all(context)` returns all that the store holds of the user: a text for each entry.

    Source of the three: what memory stores offer; docs/how-to/assistant/memory-stores.md says which call of
    which store is which.
    """

    settled: Callable[[Any], Any] | None = None
    read: Callable[[Any, str], Any] | None = None
    all: Callable[[Any], Any] | None = None
    within: float = 300.0

    def problem(self) -> str:
        """Return what is wrong with the functions, in a few words; empty if nothing is."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "within"}
        if all(function is None for function in given.values()):
            return "has no function; give at least one of settled, read and all"
        for name, function in given.items():
            if function is not None and not callable(function):
                return f"has {type(function).__name__} as {name}; it must be a function, sync or async"
        is_number = isinstance(self.within, (int, float)) and not isinstance(self.within, bool)
        if not is_number or not 0 < self.within < float("inf"):
            return f"has within={self.within!r:.40}; it must be a number of seconds above 0"
        return ""
