"""Limits how many calls to one model may be in flight; the limit follows what the provider allows."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds after a cut in which further throttling has the same cause. It does not cut the limit again.
COOLDOWN: Final = 15.0
CUT: Final = 0.8
GROWTH: Final = 1.05
#: Exception to the cooldown: if the provider refused more than this share of the calls since the cut, the
#: limit is far too high. It is then halved at once.
FLOODED: Final = 0.5
#: The limit grows only when at least this share of it is in flight, because an unused limit shows nothing.
SATURATED: Final = 0.8


class Limiter:
    """A limit on the calls in flight, never less than one; thread-safe. `clock` returns seconds.

    The limit doubles from `start` until the provider throttles for the first time. After that it grows
    slowly. A start of 2 is careful with an unknown quota. A caller that knows how many dialogues run side by
    side may give a higher start; the limit falls fast if the provider refuses most of the calls. An error of
    the provider itself (5xx) pauses the growth and does not cut the limit.
    """

    def __init__(
        self, *, start: int = 2, most: int = 64, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._most, self._clock = float(min(start, most)), float(most), clock
        self._in_flight = self._clean = 0
        #: Calls that returned since the last cut, and how many of them were refused.
        self._back = self._refused = 0
        self._slow_start = True
        self._calm_after = 0.0
        self._change = threading.Condition()
        self.throttled = 0

    @property
    def limit(self) -> int:
        """Return how many calls may be in flight now, at least 1."""
        return max(1, int(self._limit))

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a free slot, and hold it while the call runs."""
        with self._change:
            while self._in_flight >= self.limit:
                self._change.wait()
            self._in_flight += 1
        try:
            yield
        finally:
            with self._change:
                self._in_flight -= 1
                self._change.notify_all()

    def record_success(self) -> None:
        """Record a call that succeeded. Call this before the slot is released."""
        with self._change:
            self._back += 1
            if self._clock() < self._calm_after or self._in_flight < SATURATED * self.limit:
                return
            self._clean += 1
            if self._clean < self.limit:
                return  # a round has as many good calls as there are slots
            self._clean = 0
            slow = max(self._limit * GROWTH, self._limit + 0.25)
            self._limit = min(self._most, self._limit * 2 if self._slow_start else slow)
            self._change.notify_all()

    def record_throttling(self) -> None:
        """Record a call that the provider refused because of the call rate."""
        with self._change:
            self.throttled += 1
            self._slow_start = False
            self._clean = 0
            self._back += 1
            self._refused += 1
            # The calls in flight at the cut are refused like the call that led to it. One round of refusals
            # therefore shows nothing.
            flooded = self._back >= 2 * self.limit and self._refused > FLOODED * self._back
            if self._clock() >= self._calm_after or flooded:
                self._limit = max(1.0, self._limit * (0.5 if flooded else CUT))
                self._calm_after = self._clock() + COOLDOWN
                self._back = self._refused = 0

    def record_failure(self) -> None:
        """Record a call that failed because of an error of the provider itself."""
        with self._change:
            self._clean = 0
