"""A cache in which no two threads make the same thing."""

from __future__ import annotations

import threading
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Arguments = ParamSpec("_Arguments")
Made = TypeVar("Made")


class once(Generic[_Arguments, Made]):  # noqa: N801  (a decorator)
    """`make`, each result of which is made once and kept.

    `functools.cache` would let thirty dialogues that begin together read thirty copies of the weights.
    """

    def __init__(self, make: Callable[_Arguments, Made]) -> None:
        self._kept, self._lock = cache(make), threading.RLock()
        self.cache_clear = self._kept.cache_clear
        update_wrapper(self, make)

    def __call__(self, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Made:
        """What `make` made of these arguments."""
        with self._lock:
            return self._kept(*args, **kwargs)  # type: ignore[arg-type]  # hashable, or `make` could not be cached
