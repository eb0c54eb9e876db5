"""A cache that makes each result only once, also with several threads."""

from __future__ import annotations

import threading
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Arguments = ParamSpec("_Arguments")
Made = TypeVar("Made")


class once(Generic[_Arguments, Made]):  # noqa: N801  (a decorator)
    """A decorator that calls `make` once for each set of arguments and keeps the result.

    With `functools.cache`, thirty dialogues that begin at the same time would read thirty copies of the
    weights.
    """

    def __init__(self, make: Callable[_Arguments, Made]) -> None:
        self._kept, self._lock = cache(make), threading.RLock()
        self.cache_clear = self._kept.cache_clear
        update_wrapper(self, make)

    def __call__(self, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Made:
        """Return the result of `make` for these arguments."""
        with self._lock:
            return self._kept(*args, **kwargs)  # type: ignore[arg-type]  # hashable, or `make` could not be cached
