"""Python's garbage collector, left out while many objects are made at once."""

from __future__ import annotations

import atexit
import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: After more new blocks of memory than these, objects are left frozen: to search them at the end takes
#: seconds, and the process ends anyway. An object has one block or a few.
_MANY: Final = 500_000


@contextmanager
def no_collection(*, kept: bool = False) -> Iterator[None]:
    """Leave the garbage collector out; what is `kept` until the end is never searched (`gc.freeze`)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if kept:
                gc.freeze()
            gc.enable()


def leave_out_at_exit() -> None:
    """Have the end of the process search no object for garbage: it takes a quarter of a second."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def unfreezing() -> Callable[[], None]:
    """Return a function that undoes all freezes, unless much memory has been allocated since now."""
    # To count the objects themselves takes a tenth of a second where there are a million.
    before = sys.getallocatedblocks()

    def unfreeze() -> None:
        if sys.getallocatedblocks() - before <= _MANY:
            gc.unfreeze()

    return unfreeze
