"""Python's garbage collector, left out while many objects are made at once."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: More frozen objects than these are left frozen: to search them at the end takes seconds, and the process
#: ends anyway.
_MANY: Final = 200_000


@contextmanager
def no_collection(*, kept: bool = False) -> Iterator[None]:
    """Leave the garbage collector out.

    It would search all new objects again and again, which takes longer than making them. Objects that are
    `kept` until the process ends are never searched afterwards (`gc.freeze`).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if kept:
                gc.freeze()
            gc.enable()


def unfreezing() -> Callable[[], None]:
    """Return a function that undoes all freezes, unless many objects have been made since now."""
    before = len(gc.get_objects())

    def unfreeze() -> None:
        if gc.get_freeze_count() - before <= _MANY:
            gc.unfreeze()

    return unfreeze
